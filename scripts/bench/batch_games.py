"""How fast `parlour.envs.batch` plays Avalon on one core, beside OpenSpiel's social_deduction.

Turns a second of processor time, so that other work on the machine counts as little as it can; rounds go through all
candidates in turn. OpenSpiel (a library of its own: pip install open_spiel) plays random games of five players in C++, asked
for legal actions and nothing else: no observation, as it has none in numbers. "drawn inside" leaves the choice of actions to
the kernel, "passed in" hands over arrays of them that were chosen before.

python scripts/bench/batch_games.py [--rounds 9] [--batch 1024]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from numba import njit
from parlour.envs import batch
from timing import Spread, in_rounds, show_table

OPENSPIEL = "OpenSpiel social_deduction"
TARGETS = {("summary", True): 8.0, ("summary", False): 5.0, ("belief", True): 5.0, ("belief", False): 4.0}
"""Features, whether actions are drawn inside -> times OpenSpiel's rate that the project asks for, at five players."""
_TURNS = 200_000


def main(rounds: int = 9, games: int = 1024) -> None:
    """Measure and print."""
    against_openspiel(rounds, games)
    kinds = ("summary", "belief", "record+belief")
    sizes = {f"{n} players, {kind}": candidate(n, 512, kind, True) for n in range(5, 11) for kind in kinds}
    show("Cost by players: 512 games, drawn inside", in_rounds(sizes, range(rounds)))
    counts = (64, 512, 4096, 16384)
    batches = {f"{b} games, {kind}": candidate(5, b, kind, True) for b in counts for kind in kinds[:2]}
    show("Cost by batch size: five players, drawn inside", in_rounds(batches, range(rounds)))


def against_openspiel(rounds: int, games: int) -> None:
    """The ratios that the project asks for."""
    candidates = {name_of(*kind): candidate(5, games, *kind) for kind in TARGETS}
    openspiel = openspiel_rate()
    if openspiel is None:
        print("SKIPPED: open_spiel is not installed, so that there are no ratios; pip install open_spiel")
    else:
        candidates[OPENSPIEL] = openspiel
    rates = in_rounds(candidates, range(rounds))
    base = rates.get(OPENSPIEL)
    asked = {name_of(*kind): f"{times:.0f}" for kind, times in TARGETS.items()}
    show_table(
        f"Avalon, official, five players, no talk, {games} games; one core, median of {rounds} rounds, lowest .. highest",
        ("what", "M turns/s", "range", "times OpenSpiel", "asked"),
        [
            (*figures(name, rate), f"{rate.median / base.median:.1f}" if base else "-", asked.get(name, ""))
            for name, rate in rates.items()
        ],
    )


def name_of(features: str, drawn: bool) -> str:
    """What a candidate is called."""
    return f"{features}, actions {'drawn inside' if drawn else 'passed in'}"


def show(title: str, rates: dict[str, Spread]) -> None:
    """A table of rates."""
    rows = [(*figures(name, rate), f"{1e9 / rate.median:,.0f}") for name, rate in rates.items()]
    show_table(title, ("what", "M turns/s", "range", "ns a turn"), rows)


def figures(name: str, rate: Spread) -> tuple[str, str, str]:
    """Name, median and range of a candidate."""
    return name, f"{rate.median / 1e6:.2f}", f"{rate.low / 1e6:.2f} .. {rate.high / 1e6:.2f}"


def candidate(players: int, games: int, features: str, drawn: bool) -> Callable[[], float]:
    """Turns a second of tables in the middle of their games."""
    tables = batch.make(
        "avalon_v0", num_envs=games, features=features, num_players=players, rules="official", talk=False
    )
    tables.reset(0)
    tables.play_random(60)
    steps = max(4, _TURNS // (1 if players == 5 else 5) // games)
    return lambda: steps * games / (drawn_inside(tables, steps) if drawn else passed_in(tables, steps))


def drawn_inside(tables: Any, steps: int) -> float:
    """Processor seconds of random play inside the kernel."""
    started = process_time()
    tables.play_random(steps)
    return process_time() - started


def passed_in(tables: Any, steps: int) -> float:
    """Processor seconds of steps alone: random legal games are played, then the same games again by the clock."""
    state, mask = tables.state(), tables.observe().mask
    draws = np.random.default_rng(0).random((steps, len(mask)), dtype=np.float32)
    actions = np.zeros(draws.shape, np.int32)
    for k in range(steps):
        pick(mask, draws[k], actions[k])
        tables.step(actions[k])
    tables.restore(state)
    started = process_time()
    for chosen in actions:
        tables.step(chosen)
    return process_time() - started


@njit(cache=False)
def pick(mask: Any, draws: Any, actions: Any) -> None:
    """Turn numbers in [0, 1) into legal actions."""
    for b in range(len(actions)):
        left = int(draws[b] * mask[b].sum())
        for k in range(mask.shape[1]):
            left -= mask[b, k]
            if left < 0:
                actions[b] = k
                break


def openspiel_rate() -> Callable[[], float] | None:
    """Turns a second of OpenSpiel's game by random play; None if the library is missing."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game("social_deduction", {"players": 5})
    draws = np.random.default_rng(0).random(400_000).tolist()

    def rate() -> float:
        drawn, turns, started = iter(draws), 0, process_time()
        while turns < _TURNS // 2:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes = state.chance_outcomes()
                    state.apply_action(outcomes[int(next(drawn) * len(outcomes))][0])
                else:
                    legal = state.legal_actions()
                    state.apply_action(legal[int(next(drawn) * len(legal))])
                    turns += 1
        return turns / (process_time() - started)

    return rate


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="rounds; the median is quoted")
    parser.add_argument("--batch", type=int, default=1024, help="games in a batch for the comparison")
    chosen = parser.parse_args()
    main(chosen.rounds, chosen.batch)
