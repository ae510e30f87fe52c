"""How well models predict recorded players, and what `parlour train clone` writes beside the player.

Top-1 and log likelihood by kind of decision and role, paired by game; calibration, a report and a picture.
What a clone is compared with on games that none of them was learned from; all learn from the same training games:

* clone: the network; *clone, unheard*: the same network as if nothing had been said
* logistic: the same features without hidden units, with weights of each group drawn to common ones (a hierarchical logit)
* heuristic: how often the heuristic of parlour chose each move at the same View (`DRAWS`), mixed with even chances; the share
  of even chances is the one by which the training games are likeliest, so no recorded move is impossible
* heuristic, aided: mixed with the frequencies below instead
* habits: `AvalonHabits` with the seat's own knowledge about the team; votes and cards only
* frequency: how often seats of the role chose a move of the sort in the training games, one more of each sort; even within it
* chance: all legal moves alike
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.policies.cloned.record import Array
from parlour.training.learn.clone.choices import ImitatedChoice
from parlour.training.measure.calibration import CalibrationBin, bins_by_count
from parlour.training.measure.statistics import SHARE, UNBOUNDED, Estimate, show_interval, weighted_mean
from parlour.training.results import plots
from parlour.training.results.pages.report import opening, write_report
from parlour.training.results.result_table import markdown_list, markdown_table
from parlour.training.results.runs import write_csv
from parlour.training.results.verdicts import BETTER, LOG_LIKELIHOOD, UNCLEAR, WORSE, compared, together, word

MODELS: Final = (
    "clone",
    "clone, unheard",
    "logistic",
    "heuristic",
    "heuristic, aided",
    "habits",
    "frequency",
    "chance",
)
CLONE, UNHEARD, LOGISTIC, HEURISTIC, AIDED, HABITS, FREQUENCY, CHANCE = MODELS

Model = Callable[[ImitatedChoice], Array]
"""The chances of the legal moves, shape (moves,); an empty array where it says nothing."""


ALL: Final = "all"
_LEAST: Final = 1e-12
"""A chance below this counts as this."""


class Foretold(NamedTuple):
    """What one model said about one held-out choice."""

    top: float
    """1 if its most probable move was taken; a share where several are as probable, or several were taken in one."""
    log: float
    """Log of its chance of what was taken, in nats; the mean by their shares where several were."""
    chance: float
    """Its chance of the first legal move, such as to approve."""


@dataclass(frozen=True, eq=False)
class PredictedChoice:
    """A choice with what the models said about it, which had not learned from its game."""

    choice: ImitatedChoice
    predictions: dict[str, Foretold]
    """By model; those that say something of this kind."""


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


def told_of(choice: ImitatedChoice, models: dict[str, Model]) -> PredictedChoice:
    """What models say about a choice."""
    said = {name: model(choice) for name, model in models.items()}
    return PredictedChoice(
        choice, {name: _told(choice.taken, chances) for name, chances in said.items() if len(chances)}
    )


def _told(taken: Array, chances: Array) -> Foretold:
    best = chances >= chances.max() - 1e-12
    log = float(taken @ np.log(np.maximum(chances, _LEAST)))
    return Foretold(float((taken[best] > 0).mean()), log, float(chances[0]))


def table(held_out: Sequence[PredictedChoice]) -> list[ChoiceScore]:
    """All rows: by kind, over all roles and then by role, by model."""
    rows = []
    for what in dict.fromkeys(case.choice.what for case in held_out):
        of_kind = [case for case in held_out if case.choice.what == what]
        for role in (ALL, *sorted({case.choice.role for case in of_kind})):
            some = [case for case in of_kind if role in (ALL, case.choice.role)]
            rows += [_score(what, role, name, some) for name in MODELS if name in some[0].predictions]
    return rows


def _score(what: str, role: str, model: str, some: Sequence[PredictedChoice]) -> ChoiceScore:
    def mean(of: Callable[[PredictedChoice], float], bounds: tuple[float, float] = UNBOUNDED) -> Estimate:
        return by_game(((case.choice.game, of(case)) for case in some), bounds)

    other = None if model == CLONE else model
    return ChoiceScore(
        what,
        role,
        model,
        len(some),
        len({case.choice.game for case in some}),
        mean(lambda case: case.predictions[model].top, SHARE),
        mean(lambda case: case.predictions[model].log),
        None if other is None else mean(lambda case: case.predictions[CLONE].top - case.predictions[model].top),
        None if other is None else mean(lambda case: case.predictions[CLONE].log - case.predictions[model].log),
    )


def by_game(values: Iterable[tuple[int, float]], bounds: tuple[float, float] = UNBOUNDED) -> Estimate:
    """The mean of values of decisions, (game, value), with an interval for games as what is drawn."""
    sums: dict[int, list[float]] = {}
    for number, value in values:
        sums.setdefault(number, []).append(value)
    return weighted_mean([np.mean(of) for of in sums.values()], [len(of) for of in sums.values()], bounds)


def calibration(held_out: Sequence[PredictedChoice], what: str, model: str, bins: int = 10) -> list[CalibrationBin]:
    """For decisions between two moves: predicted probability of the first against its frequency, in equal parts."""
    of_kind = [case for case in held_out if case.choice.what == what]
    chances = [case.predictions[model].chance for case in of_kind]
    taken = [float(case.choice.taken[0]) for case in of_kind]
    return bins_by_count(chances, taken, bins)


PLAYER, SCORES, CALIBRATION, REPORT, PICTURE = "clone.npz", "scores.csv", "calibration.csv", "report.md", "scores.png"
HEADINGS: Final = (
    "decision",
    "role",
    "model",
    "n",
    "top-1",
    "log likelihood",
    "clone better by, top-1",
    "clone better by, log likelihood",
)
_VOTE: Final = "vote"
_MEANING: Final = (
    "clone: the network; unheard: the same as if nothing had been said; logistic: the same features without hidden units",
    "heuristic: how often parlour's heuristic makes the move at the same View, mixed with even chances as fits the training games "
    "best; aided: mixed with the frequencies instead",
    "habits: `AvalonHabits` with the seat's own knowledge about the team (votes, cards)",
    "frequency: by role and sort of move in the training games; chance: all legal moves alike",
    "top-1: how often the most probable move was made; log likelihood: mean log of the chance of the move made, in nats; "
    "intervals at 95 %, games as what is drawn; differences on the same decisions",
)


def write(
    folder: Path, scores: Sequence[ChoiceScore], held_out: Sequence[PredictedChoice], source: Mapping[str, Any]
) -> None:
    """Write all files but the player itself."""
    write_scores(folder, scores)
    bins = {name: calibration(held_out, _VOTE, name) for name in MODELS if _tells_votes(held_out, name)}
    rows = [(name, _digits(part.chance), _digits(part.share), part.n) for name, of in bins.items() for part in of]
    write_csv(folder / CALIBRATION, ("model", "chance", "rate", "decisions"), rows)
    drawn = _draw(folder / PICTURE, scores, bins)
    write_report(folder, _report(scores, source, drawn=drawn))


def write_scores(folder: Path, scores: Sequence[ChoiceScore]) -> None:
    """Write scores.csv."""
    columns = ("decision", "role", "players", "model", "decisions", "games")
    of_means = [
        f"{name}{end}" for name in ("top", "log", "clone_top_more", "clone_log_more") for end in ("", "_low", "_high")
    ]
    write_csv(folder / SCORES, (*columns, *of_means), [_numbers(score) for score in scores])


def write_by_date(folder: Path, scores: Sequence[ChoiceScore], source: Mapping[str, Any]) -> None:
    """Write the files of networks that were tested on later games, but the player itself."""
    write_scores(folder, scores)
    drawn = _draw(folder / PICTURE, scores, {})
    opened = opening(
        "Networks cloned from recorded players", verdict(scores), *([f"![held-out scores]({PICTURE})"] if drawn else [])
    )
    learned = f"Learned from the first {source['games']} games; scores on the later ones."
    by_role = [row(score) for score in scores if score.role != ALL]
    by_players = [row(score) for score in scores if score.players is not None]
    tables = (
        markdown_table(HEADINGS, overall(scores)),
        "## By number of players",
        markdown_table((HEADINGS[0], "players", *HEADINGS[2:]), by_players),
        "## By role",
        markdown_table(HEADINGS, by_role),
    )
    write_report(folder, "\n\n".join(filter(None, (*opened, learned, *tables))) + "\n")


def _tells_votes(held_out: Sequence[PredictedChoice], name: str) -> bool:
    return any(name in case.predictions for case in held_out if case.choice.what == _VOTE)


def _numbers(score: ChoiceScore) -> list[Any]:
    means = (score.top, score.log, score.top_less, score.log_less)
    cells = [_digits(value) for mean in means for value in _ends(mean)]
    return [score.what, score.role, score.players or ALL, score.model, score.decisions, score.games, *cells]


def _ends(mean: Estimate | None) -> tuple[float | None, ...]:
    return (None, None, None) if mean is None else (mean.value, mean.low, mean.high)


def _digits(value: float | None) -> str | None:
    return None if value is None else f"{value:.6f}"


def verdict(scores: Sequence[ChoiceScore]) -> str:
    """The clone beside the heuristic on games that neither was fitted to: at votes, and over all kinds of decision."""
    beside = [score for score in over_all(scores) if score.model == HEURISTIC and score.log_less is not None]
    votes = [
        compared("the clone", "the heuristic at telling votes", score.log_less, LOG_LIKELIHOOD)
        for score in beside
        if score.what == _VOTE and score.log_less is not None
    ]
    words = Counter(word(score.log_less) for score in beside if score.log_less is not None)
    kinds = f"Of {len(beside)} kinds of decision: better at {words[BETTER]}, worse at {words[WORSE]}, no difference shown at {words[UNCLEAR]}."
    return together([*votes, kinds if beside else "No decision could be compared with the heuristic."])


def _report(scores: Sequence[ChoiceScore], source: Mapping[str, Any], *, drawn: bool) -> str:
    by_role = [score for score in scores if score.role != ALL]
    of = ", ".join(f"{count} of {kind}" for kind, count in source["choices"].items())
    parts = [
        *opening(
            "A clone of recorded players", verdict(scores), *([f"![held-out scores]({PICTURE})"] if drawn else [])
        ),
        f"Learned from {source['games']} games ({of}); scores on games that the models had not learned from.",
        markdown_table(HEADINGS, overall(scores)),
        markdown_list(_MEANING),
        "## By role",
        markdown_table(HEADINGS, map(row, by_role)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def overall(scores: Sequence[ChoiceScore]) -> list[tuple[str, ...]]:
    """The rows over all roles and numbers of players, as tables show them."""
    return [row(score) for score in over_all(scores)]


def over_all(scores: Iterable[ChoiceScore]) -> list[ChoiceScore]:
    """Those over all roles and numbers of players."""
    return [score for score in scores if score.role == ALL and score.players is None]


def row(score: ChoiceScore) -> tuple[str, ...]:
    """A score as tables show it."""
    return (
        *(score.what, score.role if score.players is None else str(score.players), score.model, str(score.decisions)),
        f"{score.top.value:.1%} {show_interval(score.top, '.1%')}",
        f"{score.log.value:.3f} {show_interval(score.log, '.3f')}",
        ""
        if score.top_less is None
        else f"{100 * score.top_less.value:+.1f} {show_interval(score.top_less, '+.1f', 100)}",
        "" if score.log_less is None else f"{score.log_less.value:+.3f} {show_interval(score.log_less, '+.3f')}",
    )


# -- the picture -------------------------------------------------------------------------------------------------


def _draw(path: Path, scores: Sequence[ChoiceScore], bins: Mapping[str, Sequence[Any]]) -> bool:
    """Log likelihood of each model by kind of decision, and how well votes are calibrated; False without matplotlib."""
    if not plots.available():
        return False
    whole = over_all(scores)
    kinds = list(dict.fromkeys(score.what for score in whole))
    wide = (len(kinds) + bool(bins) + 1) // 2
    with plots.picture(
        path,
        max(4.2 * wide, 8),
        6.8,
        title="How well each model predicts recorded players' choices",
        who=f"Recorded players; models: {', '.join(dict.fromkeys(_short(score.model) for score in whole))}",
        n=f"n = {max(score.games for score in whole):,} games held out, decisions as in the panels; {plots.INTERVAL}s",
    ) as made:
        panels = made.subplots(2, wide, squeeze=False).ravel()
        for axes, what in zip(panels, kinds, strict=False):
            _bars(axes, what, [score for score in whole if score.what == what])
        if bins:
            _calibrated(panels[len(kinds)], bins)
        for axes in panels[len(kinds) + bool(bins) :]:
            axes.axis("off")
    return True


def _short(model: str) -> str:
    """A model's name on an axis: of a file, its folder.

    >>> _short("clone:runs/gpt51_clone/clone.npz"), _short("heuristic")
    ('gpt51_clone', 'heuristic')
    """
    return Path(model).parent.name if "/" in model else model


def _bars(axes: Any, what: str, rows: Sequence[ChoiceScore]) -> None:
    for at, score in enumerate(reversed(rows)):
        colour = plots.OWN if score.model == CLONE else plots.REFERENCE
        plots.points(axes, [at], [(score.log.value, score.log.low, score.log.high)], across=True, color=colour)
    axes.locator_params(axis="x", nbins=4)
    axes.set_yticks(range(len(rows)), [_short(score.model) for score in reversed(rows)])
    plots.label(axes, "log likelihood of a decision (nats)", "", f"{what}, n = {rows[0].decisions}", grid="x")


def _calibrated(axes: Any, bins: Mapping[str, Sequence[Any]]) -> None:
    axes.plot((0, 1), (0, 1), ":", color=plots.REFERENCE, label="calibrated")
    names = [name for name in (CLONE, "heuristic", "habits") if name in bins]
    for name, mark in zip(names, plots.MARKERS, strict=False):
        at, shares = [bin_.chance for bin_ in bins[name]], [bin_.share for bin_ in bins[name]]
        colour = plots.colours(names)[name]
        axes.plot(at, shares, f"{mark}-", color=colour, markersize=4, label=name)
    voted = sum(bin_.n for bin_ in bins[names[0]]) if names else 0
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    plots.label(axes, "held-out chance to approve", "share that approved", f"votes by chance, n = {voted}")
    plots.key(axes)
