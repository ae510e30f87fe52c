"""The questions that agents put in games, with the heuristics' answers: what a tiny model learns from and is tested with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from parlour.policies import make_policy
from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.model import Answered, OfflineModel, RequestContext
from parlour.training.play.rollout import play, table


class Heard(NamedTuple):
    """A question of a game, on whose behalf it was put, and the heuristic's answer as JSON."""

    question: Ask[Any]
    context: RequestContext
    reply: str


class HearingModel(OfflineModel):
    """Answers by the heuristics, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Heard] = []

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        answered = super().answer(question, context)
        self.heard.append(Heard(question, context, answered.value.model_dump_json()))
        return answered


class Table(NamedTuple):
    """A table with one agent at every seat."""

    game: str
    agent: str
    options: dict[str, Any]


_AVALON: Final = {"num_players": 5}
_WEREWOLF: Final = {"num_players": 6, "max_days": 3}
_ENGLISH: Final = {"case": "seed:3:en:4", "rounds": 2}
_CHINESE: Final = {"case": "seed:4:zh:4", "rounds": 2}

TABLES: Final = (
    Table("avalon_v0", "chat", _AVALON),
    Table("werewolf_v0", "chat", _WEREWOLF),
    Table("murder_mystery_v0", "chat", _CHINESE),
    Table("avalon_v0", "avalon_agent", _AVALON),
    Table("avalon_v0", "avalon_baseline", _AVALON),
    Table("werewolf_v0", "werewolf_window", _WEREWOLF),
    Table("werewolf_v0", "werewolf_rag", _WEREWOLF),
    Table("werewolf_v0", "werewolf_rerank", _WEREWOLF),
    Table("werewolf_v0", "gratr", _WEREWOLF),
    Table("murder_mystery_v0", "questum:mode=score", _ENGLISH),
    Table("murder_mystery_v0", "questum:mode=score", _CHINESE),
    Table("murder_mystery_v0", "player_star", _ENGLISH),
    Table("murder_mystery_v0", "mystery_werewolf", _ENGLISH),
    Table("murder_mystery_v0", "mystery_ocot", _ENGLISH),
    Table("murder_mystery_v0", "mystery_thinkthrice", _ENGLISH),
    Table("murder_mystery_v0", "mystery_none", _ENGLISH),
)
"""Small ones, at which every kind of question of a game is put."""


def heard_at(one: Table, seeds: range) -> Iterator[Heard]:
    """The questions of whole games at a table, in the order in which they were put."""
    for seed in seeds:
        model = HearingModel()
        env = table(one.game, **one.options)
        config = env.game_env.game.config
        seats = len(env.game_env.possible_agents)
        play(env, [make_policy(one.agent, one.game, config, model) for _ in range(seats)], seed)
        yield from model.heard
