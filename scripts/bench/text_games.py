"""How fast the text environments are: turns a second as ratios to environments of other libraries, in one run.

Every environment replays random legal games that it has not seen before, recorded with rules and wordings of their own,
and gives the observation of the acting seat at every turn: `last()` in PettingZoo, `get_observation()` in TextArena. A
turn is one action of a live agent. Seconds are processor time. TextArena (extra `textarena`) is left out where it is not
installed: the observations of its `SecretMafia-v0-raw` are lists of what is new, those of `SecretMafia-v0` are, as ours, the
whole record as text.

python scripts/bench/text_games.py [--rounds N] [--games N] [--long N]
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import count
from time import process_time
from typing import Any, Final, NamedTuple

import numpy as np
from environments import random_games, replay
from parlour.envs.aec import GameEnv
from parlour.envs.registry import lookup
from pettingzoo.classic import connect_four_v3, tictactoe_v3
from timing import in_rounds, seconds, show_table, without_collector

MAFIA_RAW, MAFIA_TEXT = "SecretMafia-v0-raw, 7 players", "SecretMafia-v0, 7 players"
TICTACTOE, CONNECT_FOUR = "tictactoe_v3.env", "connect_four_v3.env"


class Ours(NamedTuple):
    """An environment of parlour, what it is measured against, and the ratio it should have at least."""

    game: str
    options: dict[str, Any]
    peer: str
    target: float

    @property
    def name(self) -> str:
        """The game with its options."""
        return " ".join((self.game, *(f"{key}={value}" for key, value in self.options.items())))


OURS: Final = (
    Ours("werewolf_v0", {"num_players": 7}, MAFIA_RAW, 1.2),
    Ours("werewolf_v0", {"num_players": 7}, MAFIA_TEXT, 0.0),
    Ours("werewolf_v0", {"num_players": 8}, MAFIA_RAW, 0.0),
    Ours("werewolf_v0", {"rules": "aiwolf-15"}, MAFIA_RAW, 0.0),
    Ours("avalon_v0", {"num_players": 5, "rules": "official"}, TICTACTOE, 8.0),
    Ours("avalon_v0", {"num_players": 10, "rules": "official"}, TICTACTOE, 0.0),
    Ours("murder_mystery_v0", {"case": "harbour_en"}, CONNECT_FOUR, 3.0),
    Ours("murder_mystery_v0", {"case": "seed:1:zh"}, CONNECT_FOUR, 3.0),
    Ours("mediated_qa_v0", {}, CONNECT_FOUR, 1.5),
    Ours("mediated_qa_v0", {"questions": 10}, CONNECT_FOUR, 1.5),
)
"""A target of 0 is none."""

Recorded = list[list[Any]]
"""The actions of some games."""


class Candidate:
    """An environment whose every measurement replays games that were not played before.

    Args:
        record: The actions of games with these seeds.
        play: Replay such games with these seeds.
        games: In one measurement.
    """

    def __init__(
        self, record: Callable[[range], Recorded], play: Callable[[range, Recorded], None], games: int
    ) -> None:
        self._record, self._play, self._games = record, play, games
        self._starts = count(0, games)

    def __call__(self) -> float:
        """Turns a second, on the next games."""
        start = next(self._starts)
        seeds = range(start, start + self._games)
        recorded = self._record(seeds)
        return sum(map(len, recorded)) / seconds(self._play, seeds, recorded, clock=process_time)


def ours(environment: Ours, games: int) -> Candidate:
    """The environment that `env` makes, with rules of its own."""
    spec = lookup(environment.game).spec
    recorder, player = (GameEnv(spec, spec.build(**environment.options)) for _ in range(2))
    return _of_pettingzoo(recorder, player, games)


def _of_pettingzoo(recorder: Any, player: Any, games: int) -> Candidate:
    return Candidate(
        lambda seeds: list(random_games(recorder, seeds)),
        lambda seeds, recorded: replay(player, seeds, recorded),
        games,
    )


def peers(games: int) -> dict[str, Candidate]:
    """Those that are installed."""
    candidates = {
        TICTACTOE: _of_pettingzoo(tictactoe_v3.env(), tictactoe_v3.env(), 10 * games),
        CONNECT_FOUR: _of_pettingzoo(connect_four_v3.env(), connect_four_v3.env(), games),
    }
    if find_spec("textarena"):
        for peer in (MAFIA_RAW, MAFIA_TEXT):
            candidates[peer] = Candidate(_record_mafia, partial(_play_mafia, peer.partition(",")[0]), games)
    return candidates


# -- TextArena -------------------------------------------------------------------------------------------------


def _record_mafia(seeds: range) -> Recorded:
    """Random living targets, and the same words in every discussion."""
    import textarena

    env = textarena.make("SecretMafia-v0-raw")
    rng = np.random.default_rng(seeds.start)
    games = []
    for seed in seeds:
        env.reset(num_players=7, seed=seed)
        actions: list[str] = []
        done = False
        while not done:
            talks = env.phase.value == "Day-Discussion"
            living = env.state.game_state["alive_players"]
            actions.append("I have nothing to say." if talks else f"[{living[rng.integers(len(living))]}]")
            done, _ = env.step(actions[-1])
        games.append(actions)
    return games


def _play_mafia(name: str, seeds: range, recorded: Recorded) -> None:
    import textarena

    env = textarena.make(name)
    for seed, actions in zip(seeds, recorded, strict=True):
        if name == "SecretMafia-v0":  # its wrapper would keep the texts of all games before, and slow down with each
            env.env.full_observations.clear()
        env.reset(num_players=7, seed=seed)
        for action in actions:
            env.get_observation()
            env.step(action)


# -- tables ----------------------------------------------------------------------------------------------------


def main(rounds: int = 9, games: int = 200, long: int = 10_000) -> None:
    """Measure and print."""
    candidates = peers(games) | {environment.name: ours(environment, games) for environment in OURS}
    rates = in_rounds(candidates, range(rounds))
    rows = [
        (name, *rates[name].texts, "", "", "")
        for name in rates
        if name not in {environment.name for environment in OURS}
    ]
    for environment in OURS:
        compared = [""] * 3
        if environment.peer in rates:
            ratio = rates[environment.name].median / rates[environment.peer].median
            compared = [f"{ratio:.2f}", f"{environment.target:g}" if environment.target else "", environment.peer]
        rows.append((environment.name, *rates[environment.name].texts, *compared))
    title = f"Turns a second of processor time, median of {rounds} rounds of {games} new games each"
    show_table(title, ("what", "turns/s", "range", "ratio", "target", "to"), rows)
    if long:
        lasting(long)


def lasting(games: int, blocks: int = 10) -> None:
    """Whether speed and memory stay: Werewolf and a murder mystery, block after block of new games, beside Connect Four."""
    steady = {CONNECT_FOUR: peers(games // blocks // 2)[CONNECT_FOUR]}
    steady |= {environment.name: ours(environment, games // blocks) for environment in (OURS[0], OURS[4], OURS[6])}
    rows = []
    for block in range(blocks):
        with without_collector():
            rates = [candidate() for candidate in steady.values()]
        ratios = [f"{rate:,.0f} ({rate / rates[0]:.2f})" for rate in rates]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append([f"{(block + 1) * games // blocks:,}", *ratios, f"{peak:,.0f}"])
    title = "Turns a second (ratio to the first), block after block of new games, with the peak memory of the process"
    show_table(title, ("games", *steady, "MiB"), rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="rounds; the median is quoted")
    parser.add_argument("--games", type=int, default=200, help="games in each round")
    parser.add_argument("--long", type=int, default=10_000, help="games of the test of endurance; 0 leaves it out")
    chosen = parser.parse_args()
    main(chosen.rounds, chosen.games, chosen.long)
