"""Games at the seat of one role, as conversations: the news of each turn without the list of options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parlour.envs import speech
from parlour.policies import make_policy
from parlour.wrappers.base import inner_game
from parlour.wrappers.conversation import ConversationSeat, table


@dataclass(frozen=True)
class JudgedReply:
    """What became of a reply."""

    words: str
    speech: bool
    """Whether it was the turn to speak, where any words are legal; else it was a choice."""
    legal: bool
    """Whether the table could use it."""
    canonical: bool
    """Whether it was one of the options, word for word."""


class RoleTable:
    """One table, at which one seat is talked to: that of a role in the deal.

    Words that cannot be used are not asked for again: the move that the rules prescribe takes their place.

    Args:
        game: As `parlour.envs.registry.lookup` takes it.
        options: Of the game.
        role: As the game's Views name it.
    """

    def __init__(self, game: str, options: Mapping[str, Any], role: str) -> None:
        self._env = table(game, on_bad="default", tries=1, **options)
        self._game = inner_game(self._env, "RoleTable", full=True)
        self._role = role
        self._seats: dict[str, ConversationSeat] = {}
        self._teacher = make_policy("heuristic", self._game.spec.id, self._game.game.config)
        self._seat: ConversationSeat | None = None

    def deal(self, seed: int) -> str:
        """Deal a new game: the first message to the role's seat."""
        self._env.reset(seed=seed)
        views: dict[str, Any] = {agent: self._game.view(seat) for agent, seat in self._game.seat_of.items()}
        agent = next(agent for agent, view in views.items() if view.role == self._role)
        if agent not in self._seats:
            self._seats[agent] = ConversationSeat(self._env, agent, "heuristic", list_options=False)
        self._teacher.reset(self._game.seat_of[agent], seed)
        self._seat = self._seats[agent]
        return self._seat.reset(seed)

    @property
    def seat(self) -> ConversationSeat:
        """The role's seat in the game that was dealt."""
        assert self._seat is not None
        return self._seat

    def say(self, words: str) -> tuple[JudgedReply, str]:
        """Answer: what became of it, and the next message."""
        seat, game = self.seat, self._game
        legal = game.view(game.seat_of[seat.agent]).legal
        speaks = any(move.kind == speech.SILENT for move in legal)
        canonical = words.strip() in seat.options
        before = seat.faults["replaced"]
        news = seat.say(words)
        return JudgedReply(words, speaks, seat.faults["replaced"] == before, canonical), news

    def teacher_words(self) -> str:
        """What the heuristic says in the seat's place."""
        game = self._game
        agent = game.agent_selection
        seat = game.seat_of[agent]
        action = self._teacher.act({}, game.infos[agent])
        move = game.catalogue_of(seat)[int(action)]
        return self.seat.options[game.view(seat).legal.index(move)]
