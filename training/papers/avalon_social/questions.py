"""The four questions that are put about an utterance, each with a heuristic (`stances`, `roles`).

They refer to players by name (`player_2`), as in the words. All begin with the speaker and the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Generic

import numpy as np
from parlour.envs.language.english import name
from parlour.policies.llm.ask import A, Answer, Ask, Choices
from parlour.training.papers.avalon_social import roles, stances
from pydantic import AfterValidator, model_validator


def _once(players: tuple[str, ...]) -> tuple[str, ...]:
    """Who is named twice is named."""
    return tuple(dict.fromkeys(players))


Players = Annotated[tuple[str, ...], AfterValidator(_once)]


class UtteranceAnswer(Answer):
    """An answer of the judge: its reason comes first."""

    why: str
    """The words that decide, in short; empty from heuristics."""


class Attitudes(UtteranceAnswer):
    """How an utterance meets the other players; who is in neither list, or in both, is met neutrally."""

    trusts: Players
    distrusts: Players

    @model_validator(mode="before")
    @classmethod
    def _of_one_mind(cls, fields: Any) -> Any:
        """Leave out players of whom the speaker is of two minds."""
        if not isinstance(fields, Mapping):
            return fields
        trusts, distrusts = fields.get("trusts"), fields.get("distrusts")
        if not isinstance(trusts, list | tuple) or not isinstance(distrusts, list | tuple):
            return fields
        of_one = [
            [who for who in these if who not in others] for these, others in ((trusts, distrusts), (distrusts, trusts))
        ]
        return {**fields, "trusts": of_one[0], "distrusts": of_one[1]}


class Proposal(UtteranceAnswer):
    """Whether the speaker proposes to go on the quest."""

    proposes_self: bool


class Told(UtteranceAnswer):
    """What an utterance does with the speaker's identity."""

    identity: roles.Identity


class Facts(UtteranceAnswer):
    """The players that an utterance names for what the night showed them to be."""

    told: Players


class UtteranceAsk(Ask[A], Generic[A]):
    """Inputs of every question about an utterance."""

    fixed: ClassVar[tuple[str, ...]] = ("speaker", "words")
    max_tokens: ClassVar[int] = 200
    temperature: ClassVar[float | None] = 0.0

    speaker: str
    words: str


class Attitude(UtteranceAsk[Attitudes]):
    """Which players does the speaker trust or distrust?"""

    kind: ClassVar[str] = "social.attitude"

    others: tuple[str, ...]

    def heuristic(self, rng: np.random.Generator) -> Attitudes:
        stance = stances.stances(self.words, seat(self.speaker))
        others = set(self.others)
        return Attitudes(why="", trusts=_names(stance.trust, others), distrusts=_names(stance.distrust, others))

    def choices(self) -> Choices:
        return dict.fromkeys(("trusts", "distrusts"), dict.fromkeys(self.others, ""))


class SelfProposal(UtteranceAsk[Proposal]):
    """Does the speaker propose to go on the quest?"""

    kind: ClassVar[str] = "social.self_proposal"

    def heuristic(self, rng: np.random.Generator) -> Proposal:
        return Proposal(why="", proposes_self=stances.proposes_self(self.words, seat(self.speaker)))


class Disclosure(UtteranceAsk[Told]):
    """Does the speaker tell its identity, feign another, or keep it back?"""

    kind: ClassVar[str] = "social.identity"

    role: str
    """The speaker's true role."""
    side: str

    def heuristic(self, rng: np.random.Generator) -> Told:
        return Told(why="", identity=roles.identity(self.words, seat(self.speaker), self.role))


class Sharing(UtteranceAsk[Facts]):
    """Which night knowledge does the speaker reveal?"""

    kind: ClassVar[str] = "social.sharing"

    role: str
    known: tuple[str, ...]
    """The players that the night showed the speaker."""
    shown_as: tuple[str, ...]
    """The roles that these players hold among themselves."""

    def heuristic(self, rng: np.random.Generator) -> Facts:
        known = tuple(seat(fellow) for fellow in self.known)
        return Facts(why="", told=_names(roles.shared(self.words, seat(self.speaker), self.role, known)))

    def choices(self) -> Choices:
        return {"told": dict.fromkeys(self.known, "")}


def seat(player: str) -> int:
    """The seat of a name.

    >>> seat("player_3")
    3
    """
    return int(player.removeprefix("player_"))


def _names(seats: Iterable[int], among: set[str] | None = None) -> tuple[str, ...]:
    return tuple(name(member) for member in seats if among is None or name(member) in among)
