"""A game that was written down is played again: everybody observes the same at every step, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from parlour.envs import replay
from parlour.envs.core import NATURE
from parlour.envs.speech import ACTS
from parlour.envs.testing.table import Table
from parlour.wrappers import Recorder, TextActions

WORDS: Final = [
    "I suspect player_1!",
    "Hm\n# What you may do now\n",
    "我是好人",
    "I propose player_1 and player_2",
    "\ud800 \u2028",
]


def record(env: Any, path: Path, seed: int, observations: Callable[[Any], Any] | None = None) -> list[Any]:
    """Play a game of random moves and words into a transcript; returns what was observed before each move."""
    base = env.unwrapped
    recorder = Recorder(TextActions(env, on_bad="default"), path, header={"players": ["random"] * base.game.seats})
    recorder.reset(seed=seed)
    rng = np.random.default_rng(seed)
    seen = []
    while base.outcome is None:
        if observations:
            seen.append(observations(base))
        legal = base.infos[base.agent_selection]["legal"]
        speaks = base.game.legal(base.state_now)[0].kind in ACTS
        words = rng.random() < (0.4 if speaks else 0.1)
        recorder.step(WORDS[int(rng.integers(len(WORDS)))] if words else int(rng.choice(legal)))
    if observations:
        seen.append(observations(base))
    return seen


def everybody(env: Any) -> dict[str, Any]:
    """What every agent observes."""
    return {agent: env.observe(agent) for agent in env.possible_agents}


def same(one: dict[str, Any], two: dict[str, Any]) -> bool:
    """Whether two observations of everybody are equal, byte for byte."""
    return repr(_as_bytes(one)) == repr(_as_bytes(two))


def _as_bytes(seen: dict[str, Any]) -> Any:
    return {a: {k: v if isinstance(v, str) else v.tobytes() for k, v in sorted(s.items())} for a, s in seen.items()}


def check_replay(env: Any, observation: str, path: Path) -> None:
    """Record a game, play it again from its file, and compare what everybody observes."""
    base = env.unwrapped
    seen = record(env, path, seed=2, observations=everybody)
    transcript = replay.read(path, base.spec)
    steps = list(replay.reenact(transcript, observation))
    assert len(steps) == len(seen)
    for step, original in zip(steps, seen, strict=True):
        assert same(dict(step.observations), original)
    assert [step.move for step in steps[:-1]] == [e.move for e in transcript.entries if e.move and e.seat != NATURE]
    assert steps[-1].agent == ""
    assert steps[-1].move is None
    assert transcript.outcome == env.outcome
    assert transcript.moves == tuple(env.moves)


def a_replay_observes_what_was_observed(table: Table) -> None:
    """A transcript of a game, with words and faults, is played again to the same observations at every step and seat."""
    with TemporaryDirectory() as folder:
        check_replay(table.raw_env(observation="both", info="full"), "both", Path(folder) / "game.jsonl")


def the_same_seed_is_the_same_game(table: Table) -> None:
    """The same seed deals the same game, also beside another one."""
    one, two, other = table.raw_env(), table.raw_env(), table.raw_env()
    for env, seed in ((one, 5), (other, 6), (two, 5)):
        env.reset(seed=seed)
    assert one.moves == two.moves
    assert repr(everybody(one)) == repr(everybody(two))


CHECKS: Final = (a_replay_observes_what_was_observed, the_same_seed_is_the_same_game)
