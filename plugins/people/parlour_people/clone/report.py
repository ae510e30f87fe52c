"""How well models predict recorded players, and what `parlour train clone` writes beside the player.

Top-1 and log likelihood by kind of decision and role, paired by game; a report and a picture.
What a clone is compared with on games that none of them was learned from; all learn from the same training games:

* clone: the network
* heuristic: how often the heuristic of parlour chose each move at the same View (`DRAWS`), mixed with even chances; the share
  of even chances is the one by which the training games are likeliest, so no recorded move is impossible
* frequency: how often seats of the role chose a move of the sort in the training games, one more of each sort; even within it
* chance: all legal moves alike
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.training.report import plots
from parlour.training.report.report import Picture, Report
from parlour.training.report.result_table import Column, ResultTable
from parlour.training.report.verdicts import DifferenceScale, together
from parlour.training.statistics import Estimate

from parlour_people.clone.choices import ImitatedChoice

LOG_LIKELIHOOD: Final = DifferenceScale("nats a decision", "+.4f", cases="games")

BETTER: Final = "better"
INTERVAL: Final = "95 % interval"
OWN: Final = "#0072B2"
REFERENCE: Final = "0.35"
UNCLEAR: Final = "no difference shown"
WORSE: Final = "worse"

MODELS: Final = ("clone", "heuristic", "frequency", "chance")
CLONE, HEURISTIC, FREQUENCY, CHANCE = MODELS

Model = Callable[[ImitatedChoice], NDArray[np.float64]]
"""The chances of the legal moves, shape (moves,)."""


ALL: Final = "all"
_LEAST: Final = 1e-12
"""A chance below this counts as this."""


Columns = Mapping[str, Any]
"""Arrays with one entry for each held-out decision: `game`, what and who decided, and of each model, which had not learned from the
game, `top: MODEL` and `log: MODEL`; NaN where it says nothing. Top is 1 if its most probable move was taken, a share where several
are as probable, or several were taken in one. Log is that of its chance of what was taken, in nats; the mean by their shares where
several were.
"""


@dataclass(frozen=True)
class ChoiceScore:
    """One row of the table."""

    what: str
    """Kind of decision."""
    role: str
    """`ALL` or one."""
    model: str
    decisions: int
    games: int
    top: Estimate
    log: Estimate
    """Mean log likelihood of a decision, in nats."""
    top_less: Estimate | None
    """Top-1 of the clone minus top-1 of this model, on the same decisions; None for the clone itself."""
    log_less: Estimate | None
    """The same of the log likelihood."""
    players: int | None = None
    """Number of players of the games; None: any."""


def told_of(choice: ImitatedChoice, models: dict[str, Model]) -> dict[str, Any]:
    """What models say about a choice: a row of the columns."""
    row = {"game": choice.game, "what": choice.what, "role": choice.role}
    for name, model in models.items():
        chances = model(choice)
        best = chances >= chances.max() - 1e-12
        row[f"top: {name}"] = float((choice.taken[best] > 0).mean())
        row[f"log: {name}"] = float(choice.taken @ np.log(np.maximum(chances, _LEAST)))
    return row


def table(held_out: Columns) -> list[ChoiceScore]:
    """All rows of a cross-validation: by kind, over all roles and then by role, by model."""
    rows = []
    for what in dict.fromkeys(held_out["what"].tolist()):
        of_kind = held_out["what"] == what
        rows += scores_among(held_out, of_kind, what, ALL)
        for role in sorted(set(held_out["role"][of_kind].tolist())):
            rows += scores_among(held_out, of_kind & (held_out["role"] == role), what, role)
    return rows


def scores_among(
    columns: Columns, some: NDArray[np.bool_], what: str, role: str, players: int | None = None
) -> list[ChoiceScore]:
    """The rows of some decisions, by model; `what` and the others say which decisions they are."""
    of = {name: values[some] for name, values in columns.items()}
    models = [name.removeprefix("log: ") for name in of if name.startswith("log: ")]
    told = [model for model in models if not np.isnan(of[f"log: {model}"]).all()]
    return [replace(_score(what, role, model, of), players=players) for model in told]


def _score(what: str, role: str, model: str, of: Columns) -> ChoiceScore:
    says = ~np.isnan(of[f"log: {model}"])
    games = of["game"][says]

    def mean(values: NDArray[np.float64], bounds: tuple[float, float] = (-inf, inf)) -> Estimate:
        return by_game(zip(games.tolist(), values.tolist(), strict=True), bounds)

    top, log, own_top, own_log = (of[f"{part}: {name}"][says] for name in (model, CLONE) for part in ("top", "log"))
    less = (None, None) if model == CLONE else (mean(own_top - top), mean(own_log - log))
    return ChoiceScore(what, role, model, len(games), len(np.unique(games)), mean(top, (0.0, 1.0)), mean(log), *less)


def by_game(values: Iterable[tuple[int, float]], bounds: tuple[float, float] = (-inf, inf)) -> Estimate:
    """The mean of values of decisions, (game, value), with an interval for games as what is drawn."""
    sums: dict[int, list[float]] = {}
    for number, value in values:
        sums.setdefault(number, []).append(value)
    return Estimate.weighted_mean([np.mean(of) for of in sums.values()], [len(of) for of in sums.values()], bounds)


PLAYER, PICTURE = "clone.npz", "scores.png"
COLUMNS: Final = (
    *map(Column, ("decision", "role", "players", "model")),
    Column("n", key="decisions"),
    Column("games"),
    Column("top-1", ".1%", key="top"),
    Column("log likelihood", ".3f", key="log"),
    Column("clone better by, top-1", "+.1f", 100, key="clone_top_more"),
    Column("clone better by, log likelihood", "+.3f", key="clone_log_more"),
)
_VOTE: Final = "vote"
_MEANING: Final = (
    "heuristic: how often parlour's heuristic makes the move at the same View, mixed with even chances as fits the training games best",
    "frequency: by role and sort of move in the training games; chance: all legal moves alike",
    "top-1: how often the most probable move was made; log likelihood: mean log of the chance of the move made, in nats; "
    "intervals at 95 %, games as what is drawn; differences on the same decisions",
)


def report_of(scores: Sequence[ChoiceScore], source: Mapping[str, Any]) -> Report:
    """Scores of a cross-validation; `source` is what was learned from."""
    of = ", ".join(f"{count} of {kind}" for kind, count in source["choices"].items())
    learned = f"Learned from {source['games']} games ({of}); scores on games that the models had not learned from."
    return _report("A clone of recorded players", scores, learned, _MEANING)


def report_by_date(scores: Sequence[ChoiceScore], source: Mapping[str, Any]) -> Report:
    """Scores of networks that were tested on later games."""
    learned = f"Learned from the first {source['games']} games; scores on the later ones."
    by_players = score_table("By number of players", [score for score in scores if score.players is not None])
    return _report("Networks cloned from recorded players", scores, learned, by_players)


def _report(title: str, scores: Sequence[ChoiceScore], learned: str, more: Any) -> Report:
    by_role = score_table("By role", [score for score in scores if score.role != ALL])
    every = replace(score_table("All scores", scores), file="scores.csv")
    picture = Picture(partial(_draw, scores), "held-out scores", PICTURE)
    parts = (learned, score_table("Held-out games (95 % interval)", over_all(scores)))
    return Report(title, verdict(scores), parts, (more, by_role), picture, data=(every,))


def score_table(title: str, scores: Sequence[ChoiceScore]) -> ResultTable:
    """A row for each score."""
    rows = (
        (
            *(score.what, score.role, score.players or ALL, score.model, score.decisions, score.games),
            *(score.top, score.log, score.top_less, score.log_less),
        )
        for score in scores
    )
    return ResultTable(title, COLUMNS, tuple(rows), wrap=True)


def verdict(scores: Sequence[ChoiceScore]) -> str:
    """The clone beside the heuristic on games that neither was fitted to: at votes, and over all kinds of decision."""
    of_heuristic = [score for score in over_all(scores) if score.model == HEURISTIC]
    beside = {score.what: score.log_less for score in of_heuristic if score.log_less is not None}
    vote = "the heuristic at telling votes"
    votes = [LOG_LIKELIHOOD.compared("the clone", vote, beside[_VOTE])] if _VOTE in beside else []
    words = Counter(each.outcome for each in beside.values())
    kinds = f"Of {len(beside)} kinds of decision: better at {words[BETTER]}, worse at {words[WORSE]}, no difference shown at {words[UNCLEAR]}."
    return together([*votes, kinds if beside else "No decision could be compared with the heuristic."])


def over_all(scores: Iterable[ChoiceScore]) -> list[ChoiceScore]:
    """Those over all roles and numbers of players."""
    return [score for score in scores if score.role == ALL and score.players is None]


# -- the picture -------------------------------------------------------------------------------------------------


def _draw(scores: Sequence[ChoiceScore], path: Path) -> None:
    """Log likelihood of each model by kind of decision."""
    whole = over_all(scores)
    kinds = list(dict.fromkeys(score.what for score in whole))
    wide = (len(kinds) + 1) // 2
    with plots.picture(
        path,
        max(4.2 * wide, 8),
        6.8,
        title="How well each model predicts recorded players' choices",
        who=f"Recorded players; models: {', '.join(dict.fromkeys(score.model for score in whole))}",
        n=f"n = {max(score.games for score in whole):,} games held out, decisions as in the panels; {INTERVAL}s",
    ) as made:
        panels = made.subplots(2, wide, squeeze=False).ravel()
        for axes, what in zip(panels, kinds, strict=False):
            _bars(axes, what, [score for score in whole if score.what == what])
        for axes in panels[len(kinds) :]:
            axes.axis("off")


def _bars(axes: Any, what: str, rows: Sequence[ChoiceScore]) -> None:
    for at, score in enumerate(reversed(rows)):
        colour = OWN if score.model == CLONE else REFERENCE
        plots.points(axes, [at], [score.log.with_ends], across=True, color=colour)
    axes.locator_params(axis="x", nbins=4)
    axes.set_yticks(range(len(rows)), [score.model for score in reversed(rows)])
    plots.label(axes, "log likelihood of a decision (nats)", "", f"{what}, n = {rows[0].decisions}", grid="x")
