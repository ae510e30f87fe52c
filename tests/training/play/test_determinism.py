"""The same seed gives the same game, byte for byte.

Played twice; with other games interleaved move by move; in another process with other hashes; while nobody touches the
global random generators.
"""

from __future__ import annotations

import hashlib
import os
import random  # noqa: TID251 - to see that nobody uses it
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.adapters.turn import take_turn
from parlour.envs.registry import lookup
from parlour.policies import HeuristicPolicy, RandomPolicy
from parlour.policies.base import Policy
from parlour.training.play.rollout import play, table
from parlour.wrappers import Recorder, SeatEnv

PLAYERS = {"random": RandomPolicy, "heuristic": HeuristicPolicy}
WORDS = ("I propose player_0, player_1 and player_2", "I suspect player_1", "yes", "no", "fail", "?", "I choose myself")


class Talker(Policy):
    """Says something or other, mostly what cannot be used."""

    name = "talker"

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        return WORDS[int(self.rng.integers(len(WORDS)))]


def seated(kind: str, seats: int) -> list[Any]:
    """A policy for each seat: all of a kind, or all kinds in turn."""
    kinds = {**PLAYERS, "talker": Talker}
    return [kinds[kind]() if kind in kinds else list(kinds.values())[seat % 3]() for seat in range(seats)]


def transcript(path: Path, seed: int, kind: str = "mixed", name: str = "avalon_v0", **options: Any) -> bytes:
    env = Recorder(table(name, **options), path, overwrite=True)
    play(env, seated(kind, env.unwrapped.game.seats), seed)
    return path.read_bytes()


MIXED = [("mixed", "avalon_v0", {"rules": rules}) for rules in ("paper", "reference", "official")]


@pytest.mark.parametrize(
    ("kind", "name", "options"), [*MIXED, *((kind, name, {}) for name in registry for kind in PLAYERS)], ids=str
)
def test_the_same_seed_gives_the_same_transcript_twice(kind, name, options, tmp_path):
    games = [transcript(tmp_path / "game.jsonl", seed, kind, name, **options) for seed in (1, 2, 1)]
    assert games[0] == games[2]
    assert games[0].split(b"\n")[1:] != games[1].split(b"\n")[1:]


def test_games_that_are_played_interleaved_do_not_disturb_each_other(tmp_path):
    """Five tables, a move at each in turn, give the transcripts that each gives alone."""
    options = [
        {"rules": "paper"},
        {"rules": "reference"},
        {"rules": "official"},
        {"num_players": 5},
        {"num_players": 10},
    ]
    alone = [transcript(tmp_path / "alone.jsonl", seed, **option) for seed, option in enumerate(options)]
    envs = [Recorder(table("avalon_v0", **option), tmp_path / f"{k}.jsonl") for k, option in enumerate(options)]
    players = [seated("mixed", env.unwrapped.game.seats) for env in envs]
    for seed, (env, policies) in enumerate(zip(envs, players, strict=True)):
        env.reset(seed=seed)
        for seat, policy in enumerate(policies):
            policy.reset(seat, seed)
    while any(env.unwrapped.outcome is None for env in envs):
        for env, policies in zip(envs, players, strict=True):
            if env.unwrapped.outcome is None:
                take_turn(env, policies[env.unwrapped.seat])
    counted = [re.sub(rb', "players": .*', b"}", game) for game in alone]  # which `play` adds to the outcome
    assert [(tmp_path / f"{k}.jsonl").read_bytes() for k in range(5)] == counted


def digest(name: str) -> str:
    """Of all that the seats are shown in a game of random legal moves."""
    env, rng, shown = lookup(name).raw_env(observation="both", info="full"), np.random.default_rng(9), list[str]()
    env.reset(seed=9)
    while env.outcome is None:
        seen, options = env.observe(env.agent_selection), env.infos[env.agent_selection]["options"]
        shown.append(repr((env.agent_selection, seen["text"], seen["observation"].tobytes(), options)))
        env.step(int(rng.choice(np.flatnonzero(seen["action_mask"]))))
    return hashlib.sha256("\n".join(shown).encode()).hexdigest()


def digests(path: Path, *names: str) -> list[str]:
    """Of two games with words, and of games by name."""
    rules = ("paper", "reference")
    spoken = [transcript(path, 9, rules=rule, num_players=7) for rule in rules]
    return [*(hashlib.sha256(game).hexdigest() for game in spoken), *map(digest, names)]


ELSEWHERE = """
import runpy, sys, pathlib
tests = runpy.run_path(sys.argv[1])
print(*tests["digests"](pathlib.Path(sys.argv[2]), *sys.argv[3:]))
"""


def elsewhere(hash_seed: str, path: Path, *names: str) -> list[str]:
    """The digests in another process with these hashes."""
    run = [sys.executable, "-W", "ignore", "-c", ELSEWHERE, __file__, str(path), *names]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(run, env=environment, check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("hash_seed", ["1", "4242"])
def test_another_process_with_other_hashes_plays_the_same_games(hash_seed, tmp_path):
    here = digests(tmp_path / "here.jsonl", *registry)
    assert elsewhere(hash_seed, tmp_path / "there.jsonl", *registry) == here


HASHED = """
from parlour.envs._template import Coin, CoinSpec
from parlour.envs.core import Move

class Hashed(Coin):
    def nature(self, s, rng):
        return Move("toss", (hash("heads") % 2,))

class HashedSpec(CoinSpec):
    id = "hashed_v0"
    def build(self, options):
        return Hashed()

GAME = HashedSpec()
"""


@pytest.mark.slow
def test_a_game_that_depends_on_hashes_is_found(tmp_path, monkeypatch):
    (tmp_path / "hashed.py").write_text(HASHED)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    monkeypatch.setenv("PYTHONPATH", path)
    tosses = {elsewhere(str(seed), tmp_path / "game.jsonl", "hashed:GAME")[-1] for seed in range(4)}
    assert len(tosses) == 2  # four hash seeds, of which all toss the same side one time in eight


def test_global_random_generators_are_neither_used_nor_seeded(tmp_path):
    np.random.seed(1234)  # noqa: NPY002, TID251 - the point is that it changes nothing and stays as it is
    random.seed(1234)
    before = repr(np.random.get_state()), random.getstate()  # noqa: NPY002
    first = transcript(tmp_path / "game.jsonl", 7)
    learner = SeatEnv(table("avalon_v0"), lambda _: RandomPolicy(), seat=0)
    learner.reset(seed=1)
    while not learner.step(int(np.flatnonzero(learner.action_masks())[0]))[2]:
        pass
    assert (repr(np.random.get_state()), random.getstate()) == before  # noqa: NPY002
    np.random.seed(99)  # noqa: NPY002, TID251
    random.seed(99)
    assert transcript(tmp_path / "game.jsonl", 7) == first


def test_reset_without_a_seed_goes_on_with_the_generator():
    """As Gymnasium has it: a seed once, then different games that are the same after the same seed."""
    deals = []
    for _ in range(2):
        env = registry["avalon_v0"].raw_env()
        env.reset(seed=1)
        deals.append([env.moves[0]])
        for _ in range(5):
            env.reset()
            deals[-1].append(env.moves[0])
    assert deals[0] == deals[1]
    assert len(set(deals[0])) > 1
