"""The questions that agents put in games, with the heuristics' answers: what a tiny model learns from and is tested with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from parlour.envs.avalon.vocabulary import EVIL, EVIL_ROLES
from parlour.envs.werewolf.vocabulary import WEREWOLF, WOLVES
from parlour.policies import Policy, make_policy
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


SIDES: Final = {"avalon_v0": (EVIL, EVIL_ROLES), "werewolf_v0": (WOLVES, (WEREWOLF,))}
"""Game -> the side about which `chat` is asked beside play, and its roles."""

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


def ask_beside_play(policy: Policy, info: dict[str, Any]) -> None:
    """Ask a player what it believes before each of its decisions."""
    act = policy.act

    def asked_and_acting(observation: Any, infos: dict[str, Any]) -> Any:
        policy.state_belief(observation, {**infos, **info})
        return act(observation, infos)

    policy.act = asked_and_acting  # type: ignore[method-assign]


def heard_at(setting: Table, seeds: range) -> Iterator[Heard]:
    """The questions of whole games at a table, in the order in which they were put."""
    for seed in seeds:
        model = HearingModel()
        env = table(setting.game, **setting.options)
        config = env.game_env.game.config
        seats = len(env.game_env.possible_agents)
        policies = [make_policy(setting.agent, setting.game, config, model) for _ in range(seats)]
        if setting.agent == "chat" and setting.game in SIDES:
            side, roles = SIDES[setting.game]
            members = sum(role in roles for role in config["roles"])
            for policy in policies:
                ask_beside_play(policy, {"side": side, "members": members, "seats": seats})
        play(env, policies, seed)
        yield from model.heard
