"""One model by script that plays over every route: behind an endpoint, in Inspect, in verifiers, at a seat over MCP.

It answers with one of its options, drawn by the hash of all that its seat has read. So one word more or less at any turn, on any
route, leads to another game. Routes differ in how they put what a seat reads: `parlour`'s own `chat` player in one question, the
others as a conversation that tells only the news. `read_by_seat` puts both back together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from parlour.envs import replay
from parlour.envs.core import Outcome
from parlour.envs.language.entries import Entry
from parlour.envs.language.headings import LANGUAGES
from parlour.policies import HeuristicPolicy, make_policy
from parlour.policies.by_text import options_in
from parlour.policies.llm.ask import read_back
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.prompt import Templates
from parlour.training.measure.evaluate import Evaluation, single
from parlour.training.play import seeds
from parlour.training.play.rollout import table
from parlour.training.play.runner import GameRunner

from tests.policies.llm.servers import Answer, Call, Server
from tests.training.harnesses.bridged_games import TABLES

GAMES = 20
"""Deals at each of the five tables: a hundred games over each route."""
Messages = Sequence[Mapping[str, Any]]
"""What a model is sent, as `role` and `content`."""


def read_by_seat(messages: Messages) -> str:
    """All that a seat has read, as its environment writes it."""
    texts = [str(message["content"]) for message in messages if message["role"] == "user"]
    question = read_back(texts[-1])
    if question is None:
        return _conversed(texts)
    system = str(messages[0]["content"])
    return str(question.observation(system.removeprefix(Templates().system(question.language)).strip()))  # type: ignore[attr-defined]


def _conversed(texts: Sequence[str]) -> str:
    """The first message, then the news of each later one, and what may be done now."""
    headings = next(language for language in LANGUAGES.values() if texts[0].startswith(language.who))
    record = texts[0][: texts[0].rindex(headings.choice)]
    for message in texts[1:]:
        record += message[: message.rindex(headings.choice)].removeprefix(headings.since)
    return record + texts[-1][texts[-1].rindex(headings.choice) :]


def stub_words(messages: Messages) -> str:
    """What the model says."""
    read = read_by_seat(messages)
    options = options_in(read)
    return options[int(sha256(read.encode()).hexdigest(), 16) % len(options)]


class StubModel(Server):
    """The model behind an OpenAI-compatible endpoint."""

    MODEL = "stub"

    def completion(self, call: Call) -> Answer:
        messages = call.body["messages"]
        words = stub_words(messages)
        asked = read_back(messages[-1]["content"]) is not None
        content = json.dumps({"thoughts": "", "words": words}) if asked else words
        return Answer(self.completed({"role": "assistant", "content": content}))


class RouteGame(NamedTuple):
    """A game as its transcript has it."""

    seed: int
    entries: tuple[Entry, ...]
    """Every move with the words that were said, in order, nature's included."""
    outcome: Outcome


def games_in(folder: Path) -> list[RouteGame]:
    """The games whose transcripts are in a folder, by their seeds."""
    read = [replay.Transcript.read(path) for path in folder.glob("*.jsonl")]
    games = [
        RouteGame(int(game.header["seed"]), game.entries, game.outcome) for game in read if game.outcome is not None
    ]
    assert len(games) == len(read)
    return sorted(games, key=lambda game: game.seed)


def dealt(number: int) -> list[int]:
    """The seeds: the first held-out ones."""
    return list(seeds.HELD_OUT[:number])


def seat_of(game: str, number: int) -> str:
    """The model's seat in a deal, counted from 0."""
    agents = table(game, **TABLES[game]).possible_agents
    return str(agents[number % len(agents)])


class Endpoint(NamedTuple):
    """What the model did as the player `chat` of `parlour evaluate`."""

    games: list[RouteGame]
    report: Evaluation


def by_endpoint(game: str, number: int, out: Path) -> Endpoint:
    """The model behind an endpoint, in each seat in turn, against heuristics; transcripts in `out`."""
    env = table(game, **TABLES[game])
    base = env.game_env
    with StubModel() as server:
        model = make_model(ModelConfig(model=server.MODEL, base_url=server.base_url))
        chat = partial(make_policy, "chat", base.spec.id, base.game.config, model)
        report = single(env, {"chat": chat}, ("heuristic", HeuristicPolicy), dealt(number), GameRunner(out=out))
    made = report.players["chat"]
    assert made.own == made.decisions > 0
    return Endpoint(games_in(out), report)


def same_games(endpoint: Endpoint, game: str, folder: Path, rewards: Sequence[float]) -> None:
    """The games that another route left in a folder, and what it said that they were worth to the model's seat, are those of the
    endpoint on the same deals: every move and word, every return, and the win rate that `parlour evaluate` reports.
    """
    games = games_in(folder)
    assert [game.seed for game in games] == dealt(len(endpoint.games))
    for ours, theirs in zip(games, endpoint.games, strict=True):
        assert ours == theirs
    env = table(game, **TABLES[game]).game_env
    returns = [played.outcome.returns[env.seat_of[seat_of(game, k)]] for k, played in enumerate(endpoint.games)]
    assert list(rewards) == returns
    rate = endpoint.report.rates["chat"]["all"]
    assert rate is not None
    assert rate.value == sum(reward > 0 for reward in rewards) / len(rewards)
