"""The question that costs no move: how likely is each other player to be of the hidden side? Put privately, beside play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from parlour.envs.language.english import name
from parlour.envs.language.headings import sections_of
from parlour.policies.llm.ask import Answer, Ask, Fraction
from parlour.policies.llm.reading import with_keys


class StatedBelief(Answer):
    """What a player believes of the others."""

    thoughts: str
    """The evidence for and against each player, in a few sentences."""
    chances: dict[str, Fraction]
    """How likely each of the others is to be of the side, by name."""


class StateBelief(Ask[StatedBelief], kind="belief.state", fixed=("who",), record=("events",), max_tokens=1200):
    """How likely each other player is to be of the side. The heuristic gives all of them the same chance."""

    who: str
    """Who the seat is and what it knows besides."""
    events: list[str]
    """What the seat saw, line by line."""
    side: str
    """The side that is looked for."""
    members: int
    """How many of the others are of it."""
    players: list[str]
    """The others."""

    def heuristic(self, rng: np.random.Generator) -> StatedBelief:
        share = self.members / len(self.players)
        return StatedBelief(thoughts="", chances=dict.fromkeys(self.players, share))

    def schema_of_answer(self) -> dict[str, Any]:
        """Each of the others is a field of its own, so that a reply which keeps to the schema names all of them."""
        return with_keys(super().schema_of_answer(), "chances", self.players)

    def check(self, answer: StatedBelief) -> None:
        if set(answer.chances) != set(self.players):
            given = ", ".join(answer.chances) or "nobody"
            raise ValueError(f"chances of {given}; accepted: one for each of {', '.join(self.players)}")


def belief_question(text: str, info: Mapping[str, Any], seat: int) -> StateBelief:
    """The question, from what a seat reads.

    Args:
        text: The seat's observation, with its three sections.
        info: `seats`, `side` and `members` (`Policy.state_belief`), and `rules` where the game has them.
        seat: The seat.
    """
    sections = sections_of(text)
    assert sections is not None  # an environment writes all its headings
    rules = info.get("rules", "")
    return StateBelief(
        who=sections.who.removesuffix(f"{rules}\n" if rules else "").removesuffix("\n"),
        events=sections.record.split("\n")[:-1],
        side=info["side"],
        members=info["members"],
        players=[name(other) for other in range(info["seats"]) if other != seat],
    )
