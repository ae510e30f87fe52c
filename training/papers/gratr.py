"""Tables 2 and 3 and figures 3 and 4 of GRATR's paper (Zhu et al. 2024): trust graphs against windows and retrieval.

The paper plays 50 games a group with gpt-3.5-turbo. Its WWR and LWR are shares of the wins of a side, and the scores of
its figure 3 come out of its published games only if wrong votes add points, which its table 3 has subtracted: `gratr-3`
counts by the table, `gratr-fig3` as the figure does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from parlour.envs.werewolf.vocabulary import ROLES, VILLAGE, WOLVES
from parlour.policies.llm.decisions import Decisions
from parlour.training.measure.werewolf import scores
from parlour.training.measure.werewolf.amnesia import DONE, JUDGED, KINDS, SAID, forgot
from parlour.training.papers.cells import PaperTable, Reproduction, TableCell, cell, remark
from parlour.training.papers.gratr_teams import OPPONENTS, RULE, GratrSetting, Match, opponents, play_teams
from parlour.training.records.werewolf.played import WerewolfGame
from parlour.training.statistics import SHARE, SHARE_DIFFERENCE, UNBOUNDED, Bounds, Estimate

SCORE: Final = "performance score"
SUCCESS: Final = "reasoning success"
TOTAL: Final = "all roles"
_EVEN: Final = 0.5


def gratr_table_2(name: str, setting: GratrSetting) -> Reproduction:
    """Win rates; then how often each method wins with each block, and its amnesia."""
    matches = [play_teams(setting, opponent) for opponent in opponents(setting, (*OPPONENTS, RULE))]
    cells = [win for match in matches for method in _methods(match) for win in _wins(name, match, method)]
    remarks = (remark("win_rates"), remark("amnesia"), *map(_verdict, matches))
    return _made(name, "Win rates in mixed games", setting, matches, cells, remarks)


def _by_role(
    name: str,
    setting: GratrSetting,
    *,
    title: str,
    roles: Sequence[str] = ROLES,
    measure: str = SCORE,
    count: Callable[[str, Sequence[WerewolfGame], str], float | None],
    bounds: Bounds = UNBOUNDED,
    about: str,
) -> Reproduction:
    """Means over deals of a measure that counts for a role; `about` is the remark on it."""
    matches = [play_teams(setting, opponent) for opponent in opponents(setting, OPPONENTS)]
    cells = [
        entry
        for match in matches
        for role in roles
        for entry in _pair(name, match, role, measure, partial(count, role), bounds=bounds)
    ]
    return _made(name, title, setting, matches, cells, (remark(about), remark("means_over_deals")))


# -- win rates -------------------------------------------------------------------------------------------------


def _methods(match: Match) -> tuple[str, str]:
    return match.ours, match.opponent.policy


def _row(match: Match, method: str) -> str:
    """The row of one method in the games of two."""
    names = ["GRATR", match.opponent.label]
    return " v. ".join(names if method == match.ours else reversed(names))


def _wins(table: str, match: Match, method: str) -> Iterator[TableCell]:
    games = [game.game for game in match.games]
    made = partial(cell, table, _row(match, method), "")
    wolves, leaders = (scores.won_as(games, method, side) for side in (WOLVES, VILLAGE))
    difference = None if method == match.ours else Estimate.paired(wolves, scores.won_as(games, match.ours, WOLVES))
    yield made("TWR", scores.total(games, method), difference)
    yield made("WWR", scores.share(games, method, WOLVES))
    yield made("LWR", scores.share(games, method, VILLAGE))
    yield made("wins as werewolves", Estimate.rate(sum(wolves), len(wolves)))
    yield made("wins as leaders", Estimate.rate(sum(leaders), len(leaders)))
    seats = [game.amnesia[seat] for game in match.games for seat in game.game.seats(method)]
    for kind in KINDS:
        yield made(f"{kind} amnesia, words and deeds", forgot(seats, kind, (SAID, DONE)))
        yield made(f"{kind} amnesia, judgements", forgot(seats, kind, (JUDGED,)))


def _verdict(match: Match) -> str:
    """Whether GRATR is ahead: only if the interval of its total win rate excludes one half."""
    games, other = [game.game for game in match.games], match.opponent.policy
    total = scores.total(games, match.ours)
    assert total is not None
    same = Estimate.paired(scores.won_as(games, match.ours, WOLVES), scores.won_as(games, other, WOLVES))
    if total.ends[0] > _EVEN:
        text = "ahead"
    elif total.ends[1] < _EVEN:
        text = "behind"
    else:
        text = "not distinguished from an even match"
    points = f"{100 * same.value:+.1f} points {same.interval('+.1f', 100)}, p={same.p:.2g}"
    return f"GRATR against {match.opponent.label}: {text} (TWR {total.value:.1%} {total.interval('.1%')}, n={total.n}); as werewolves on the same deals {points}."


# -- means over deals ------------------------------------------------------------------------------------------

Measure = Callable[[Sequence[WerewolfGame], str], float | None]
"""A measure of the two games of a deal, for a method."""


def _pair(table: str, match: Match, of: str, measure: str, count: Measure, *, bounds: Bounds) -> Iterator[TableCell]:
    """A cell for each of the two methods, the second with its difference from the first."""
    apart = SHARE_DIFFERENCE if bounds == SHARE else bounds
    first: list[float | None] = []
    for method in _methods(match):
        counts = [count([played.game for played in deal], method) for deal in match.deals]
        both = [b - a for a, b in zip(first, counts, strict=False) if a is not None and b is not None]
        difference = Estimate.mean(both, apart) if both else None
        values = [value for value in counts if value is not None]
        ours = Estimate.mean(values, bounds) if values else None
        yield cell(table, _row(match, method), of, measure, ours, difference, share=bounds == SHARE)
        first = first or counts


def _score(sign: int, role: str, games: Sequence[WerewolfGame], method: str) -> float | None:
    performances = scores.performances(games, method, role, sign)
    return float(sum(performances) / len(performances)) if performances else None


def _success(role: str, games: Sequence[WerewolfGame], method: str) -> float | None:
    success = scores.reasoning_success(games, method, None if role == TOTAL else role)
    return None if success is None else success.value


def _made(
    name: str,
    title: str,
    setting: GratrSetting,
    matches: Sequence[Match],
    cells: Sequence[TableCell],
    remarks: Sequence[str],
) -> Reproduction:
    general = (
        "The paper plays 50 games with each opponent, with gpt-3.5-turbo at every seat.",
        f"Ours: {setting.games} games with each, {setting.games // 2} held-out deals played twice, blocks changed over.",
    )
    tuned = (f"Here GRATR is {setting.ours}.",) if setting.ours else ()
    players = {_row(match, who): match.decisions.get(who, Decisions()) for match in matches for who in _methods(match)}
    return Reproduction(name, title, setting.model.name, tuple(cells), (*general, *tuned, *remarks), players)


_GRATR: Final = partial(
    PaperTable,
    "",
    sizes=(150, 0),
    quick=(4, 0),
    setting=GratrSetting,
    games="werewolf_v0, {0.games} mixed games with each opponent",
)
_TABLE_3: Final = partial(
    _by_role, title="Performance by table 3's rule", count=partial(_score, scores.TABLE_3), about="subtracted_votes"
)
_FIGURE_3: Final = partial(
    _by_role,
    title="Performance as in the published figure",
    count=partial(_score, scores.PUBLISHED),
    about="added_votes",
)
_FIGURE_4: Final = partial(
    _by_role,
    title="Reasoning success",
    roles=(TOTAL, *ROLES),
    measure=SUCCESS,
    count=_success,
    bounds=SHARE,
    about="judgements",
)
GRATR_MADE: Final = {
    "gratr-2": _GRATR(gratr_table_2),
    "gratr-3": _GRATR(_TABLE_3),
    "gratr-fig3": _GRATR(_FIGURE_3),
    "gratr-fig4": _GRATR(_FIGURE_4),
}
