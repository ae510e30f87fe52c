"""The result of a run of `scripts/train_lm.py`, in words, as plain values and as a picture."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from parlour.training.learn.language_model.measure import PlayerRow, gain, player_row
from parlour.training.learn.language_model.picture import draw_learning
from parlour.training.learn.language_model.run import HEURISTIC, IMITATION, LEARNED, LONGER, RANDOM, TrainedModel
from parlour.training.measure.statistics import MeanEstimate, PairedDifference, Rate, show_interval
from parlour.training.results.result_table import markdown_table

HEADINGS = (
    "player",
    "wins",
    "canonical choices",
    "legal choices",
    "canonical speech",
    "wins, no illegal reply",
    "wins, an illegal reply",
)

_LEVELS = {LONGER: "longer imitation", HEURISTIC: "heuristic", RANDOM: "random"}
"""Player that the curve is seen against -> its name in the picture."""


def rows(found: TrainedModel) -> list[PlayerRow]:
    """The figures of every player."""
    return [player_row(name, games) for name, games in found.games.items()]


def gains(found: TrainedModel) -> dict[str, PairedDifference]:
    """Compared with -> how much more often the learned model won on the same deals."""
    return {name: gain(found.games, LEARNED, name) for name in (IMITATION, LONGER)}


def summary(found: TrainedModel) -> dict[str, Any]:
    """The numbers as plain values."""
    return {
        "game": found.config.game,
        "options": dict(found.config.options),
        "seed": found.config.seed,
        "parameters": found.parameters,
        "tokens_a_game": found.tokens_a_game,
        "spent": {name: asdict(one) for name, one in found.spent.items()},
        "players": [asdict(one) for one in rows(found)],
        "gains": {name: asdict(one) for name, one in gains(found).items()},
    }


def table_rows(found: TrainedModel) -> list[tuple[str, ...]]:
    """A line for each player, with intervals at 95 %."""
    return [
        (
            one.name,
            _rate(one.wins),
            _mean(one.canonical),
            _mean(one.legal),
            "-" if one.canonical_speech is None else _mean(one.canonical_speech),
            _rate(one.clean),
            _rate(one.faulty),
        )
        for one in rows(found)
    ]


def _rate(one: Rate | None) -> str:
    return "-" if one is None else f"{one.rate:.3f} {show_interval(one, '.3f')}, n = {one.n}"


def _mean(one: MeanEstimate) -> str:
    return f"{one.mean:.3f} {show_interval(one, '.3f')}"


def verdicts(found: TrainedModel) -> list[str]:
    """What learning gained, a sentence for each model that it is compared with."""
    return [
        f"The model that learned won {100 * one.difference:+.1f} points {show_interval(one, '+.1f', 100)} more often than "
        f"the one of {'imitation' if name == IMITATION else 'longer imitation'}, n = {one.n} deals, paired, p = {one.p:.2g}."
        for name, one in gains(found).items()
    ]


def text(found: TrainedModel) -> str:
    """The report as Markdown."""
    config, spent = found.config, found.spent
    table = ", ".join(f"{key} {value}" for key, value in config.options.items())
    imitated = config.imitation.games
    batch = config.learning.deals * config.learning.group
    stages = [
        ("imitation", f"{config.imitation.steps * imitated:,} of the heuristic", spent[IMITATION]),
        ("learning, after it", f"{config.learning.steps * batch:,} of its own", spent[LEARNED]),
        ("longer imitation, after it", f"{config.longer_steps * imitated:,} of the heuristic", spent[LONGER]),
        ("measurement", f"{len(found.games)} x {config.held_out} held-out deals", spent["measured"]),
    ]
    timed = [(name, games, f"{one.processor_seconds:.0f}", f"{one.seconds:.0f}") for name, games, one in stages]
    return "\n".join(
        [
            f"# A small language model at {config.game}",
            "",
            f"{found.parameters:,} parameters, seed {config.seed}, at the seat of {config.role} ({table}); heuristics at the "
            f"other seats. {found.tokens_a_game:.0f} tokens a game of the heuristic.",
            "",
            *verdicts(found),
            "",
            "Models are sampled at temperature 1, but for the greedy row. Every player had the same deals, which were used for "
            "nothing else. Choices are replies other than speech; canonical: one of the options word for word, at the first "
            "and only asking. Intervals at 95 %.",
            "",
            markdown_table(HEADINGS, table_rows(found)),
            "",
            "What it took, on one thread:",
            "",
            markdown_table(("stage", "games", "processor s", "clock s"), timed),
            "",
        ]
    )


def picture(found: TrainedModel, path: Path) -> bool:
    """Draw the curve of learning as a PNG; False if matplotlib is not installed."""
    wins = {one.name: one.wins for one in rows(found)}
    levels = {shown: wins[name] for name, shown in _LEVELS.items()}
    return draw_learning(found.config, found.parameters, found.learning, levels, path)
