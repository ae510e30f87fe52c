"""Seats that somebody outside plays: one machine behind MCP, OpenEnv, Inspect, verifiers and TRL.

`OutsideTable` says how a table is set up, `OutsideSeats` plays one game at it: deals, tells each seat its news, takes its words,
and ends, whether or not whoever plays stays to the end. A seat gets the messages of `parlour.wrappers.Conversation`: nothing
about the other seats. `parlour.training.harnesses.sessions` keeps many such games by an id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from parlour.envs.language.text import agents_of
from parlour.envs.registry import build, lookup
from parlour.envs.settings import OneOf, Settings
from parlour.wrappers.conversation import Conversation, table
from parlour.wrappers.opponents import Opponents, seated
from parlour.wrappers.text_actions import ON_BAD
from pydantic import Field, SkipValidation


class OutsideTable(Settings):
    """How a table is set up.

    Raises:
        ParlourError: A setting is not accepted.
    """

    game: str
    """Name of the game."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Options of the game."""
    opponents: Annotated[Opponents, SkipValidation] = "heuristic"
    """Who plays the seats that nobody outside takes: `parlour.wrappers.opponents.Opponents`."""
    on_bad: Annotated[str, OneOf(ON_BAD)] = "ask_again"
    """What follows words that cannot be used, and after how many `tries`: see `parlour.wrappers.TextActions`."""
    tries: int = Field(default=3, ge=1)
    """How often a seat is asked."""
    list_options: bool = True
    """Whether messages list the options."""

    @property
    def seats(self) -> list[str]:
        """The agents at the table. Raises `ParlourError` for a game or options that are not accepted."""
        return agents_of(build(lookup(self.game).spec, self.options))

    def check_opponents(self) -> None:
        """Raise `ParlourError` for opponents that cannot sit at the table."""
        seated(self.opponents, OutsideSeats(self).game_env)


class OutsideSeats(Conversation):
    """The seats of one table that are played from outside, a game after another; policies play the others.

    Args:
        settings: How the table is set up.
        agents: The seats, by agent's name; None: all.
        transcript: A file for the game; none is written without one.
        header: More fields for the transcript's header.
        private: Only the owner of the process may read the transcript.

    Raises:
        ParlourError: A setting is not accepted.
    """

    def __init__(
        self,
        settings: OutsideTable,
        agents: Sequence[str] | None = None,
        transcript: Path | None = None,
        header: Mapping[str, Any] | None = None,
        *,
        private: bool = False,
    ) -> None:
        words = {"on_bad": settings.on_bad, "tries": settings.tries}
        record = {"transcript": transcript, "header": header, "private": private}
        env = table(settings.game, **words, **record, **settings.options)  # type: ignore[arg-type]
        super().__init__(env, agents, settings.opponents, list_options=settings.list_options)
        self.settings, self.seed = settings, 0
        """`seed`: of the game that was dealt."""
        self.said: list[tuple[str, str]] = []
        """Who said what, in order."""
        self.left: set[str] = set()
        """Seats that were given up before the end."""
        self.dealt = False
        """Whether a game was dealt, and came to a first turn."""

    def deal(self, seed: int) -> None:
        """Deal a game, and let the others play up to the first turn of a seat from outside, or to the end."""
        self.seed, self.said, self.left, self.dealt = seed, [], set(), False
        self.reset(seed)
        self.dealt = True

    def say(self, words: str) -> None:
        """Answer for the seat to speak. Raises as `Conversation.say`."""
        if self.agent is not None:
            self.said.append((self.agent, words))
        super().say(words)

    def leave(self, agent: str) -> None:
        """A seat says nothing any more: at its turns comes what the table does about words that cannot be used."""
        self.left |= set() if self.done else {agent}
        super().leave(agent)

    def leave_all(self) -> None:
        """Play the game to its end by the table's rules for silence."""
        for agent in self.agents:
            if not self.done:
                self.leave(agent)

    def close(self) -> None:
        """Close the transcript."""
        self.env.close()
