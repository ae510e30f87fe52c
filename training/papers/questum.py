"""Tables 2, 3, 8, 11 and 12 of Questum and 1 and 2 of PLAYER*, and Questum's figures 6 and 7 (numbers without a table).
Others are in `questum_appendix`.

The papers play 12 scripts of WellPlay with gpt-3.5-turbo. Ours are held-out generated cases unless `MysterySetting.cases` names a
folder of scripts; then each script has its own rows beside the papers'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Final, Literal, NamedTuple

from parlour.envs.murder_mystery.vocabulary.facts import LANGUAGES
from parlour.policies.agents.murder_mystery.sensors import SENSORS, VALUE
from parlour.training.measure.murder_mystery import scores
from parlour.training.measure.murder_mystery.games import CaseSetting
from parlour.training.measure.murder_mystery.methods import (
    OCOT,
    OP,
    PLAYER_STAR,
    PP,
    QUESTUM,
    THINKTHRICE,
    WEREWOLF,
    MysteryMethod,
    method_of,
)
from parlour.training.papers.cells import (
    PaperTable,
    Reproduction,
    TableCell,
    cell,
    printed,
    remark,
    unprinted,
)
from parlour.training.papers.questum_appendix import data_statistics, rated_by_people
from parlour.training.papers.questum_games import (
    MEASURES,
    OVERALL,
    WIN,
    Games,
    MysterySetting,
    Rows,
    as_played,
    asked,
    costs,
    games_table,
    play_cases,
    scored,
)
from parlour.training.report.verdicts import WIN_RATE
from parlour.training.statistics import COUNT, SHARE, Estimate

_PAPER: Final = "first=read,gain=every,prune=rounds,murderer=updated"
"""What Questum's paper says where settings differ (decisions 4.2 to 4.4)."""
QUESTUM_PAPER: Final = replace(QUESTUM, policy=f"{QUESTUM.policy},{_PAPER}")
PLAYER_PAPER: Final = replace(PLAYER_STAR, policy="player_star:prune=rounds,suspicion=graded")
"""PLAYER* as its paper prints it."""
WHOLE: Final = "Questum, whole list"
"""Algorithm 1 as it is printed: everybody on the list of suspects is asked in every round, not one by score."""
STAND_IN: Final = "heuristic"
"""Who plays the murderer of table 3 in a person's place."""
_ROUNDS, _QUESTIONS = (1, 2, 3, 4, 5), (1, 2, 3)
_GAME, _QUIZ = "gameplay", "evaluation"
_LIST: Final = "questum:mode=all,murderer=updated,prune"
_BESIDE: Final = {method.label: method for method in (WEREWOLF, OCOT, THINKTHRICE)}
_PLAYING: Final[Rows] = {"Questum": QUESTUM_PAPER, **_BESIDE}
_ALL: Final[Rows] = {**_PLAYING, PP.label: PP, OP.label: OP}
_PLAYER: Final[Rows] = {"PLAYER*": PLAYER_PAPER, **_BESIDE, "SSA": PP, "FSA": OP}
_ABLATIONS: Final[Rows] = {
    "Questum": method_of(f"{_LIST}=rounds"),
    "w/o Pruner": method_of(f"{_LIST}=no"),
    "w/o Sensor": method_of(f"{_LIST}=rounds,sensors=none"),
    "w/o Sensor & Pruner": method_of(f"{_LIST}=no,sensors=none"),
    "w/o Pruner and its readings": method_of(f"{_LIST}=unread"),
    "Questum, by score": QUESTUM_PAPER,
    "w/o Pruner, by score": method_of("questum:first=read,gain=every,prune=no"),
    "w/o Pruner and its readings, by score": method_of("questum:prune=unread"),
}
"""Table 12: by algorithm 1, where the pruner decides how many are asked, and by the text, where one is asked in any case."""


def _counted(name: str, games: Games, measures: Sequence[str] = MEASURES) -> list[TableCell]:
    """Win rates and accuracies, then the number of questions to the model in the games of each row."""
    return scored(name, games, measures) + [asked(name, games, row) for row in games.rows]


def _spent(name: str, games: Games) -> list[TableCell]:
    """What games and quizzes took; PP and OP play no game."""
    plays = {row: played[0].players for row, played in games.rows.items()}
    return costs(name, games, {row: (_GAME, _QUIZ) if plays[row] else (_QUIZ,) for row in plays})


def _played_for(name: str, games: Games) -> list[TableCell]:
    """What the games took, and hours."""
    cells = costs(name, games, dict.fromkeys(games.rows, (_GAME,)))
    for row, played in games.rows.items():
        hours = sum(result.play.seconds for result in played) / 3600
        cells.append(cell(name, row, OVERALL, "gameplay hours", Estimate(hours, n=len(played)), share=False))
    return cells


def _ablated(name: str, games: Games) -> list[TableCell]:
    return scored(name, games, (WIN, scores.OVERALL)) + _played_for(name, games)


class PlayedTable(NamedTuple):
    """A table that all methods play in the same way."""

    title: str
    rows: Rows
    remarks: tuple[str, ...]
    cells: Callable[[str, Games], list[TableCell]] = _counted
    rules: Literal["questum", "player"] = "questum"
    murderer: str = ""
    """Policy of the murderers, if it is the same for all methods."""
    targets: int | None = None
    """Most players that a seat may ask about a victim in a round."""


_AT_THE_QUIZ: Final = ("op_at_the_quiz", "votes_without_game")
PLAYED: Final = {
    "questum-2": PlayedTable("Agents against agents", _PLAYING, ("rotated_rows",)),
    "questum-3": PlayedTable("Agents against another murderer", _PLAYING, ("stand_in",), scored, murderer=STAND_IN),
    "questum-8": PlayedTable(
        "All methods", {**_ALL, WHOLE: _ABLATIONS["Questum"]}, ("whole_list", "rotated_rows", *_AT_THE_QUIZ)
    ),
    "questum-9": PlayedTable("English scripts", _ALL, _AT_THE_QUIZ),
    "questum-11": PlayedTable("Costs", _ALL, ("dollars", "gameplay_dollars"), _spent),
    "questum-fig5": PlayedTable("Costs of the games", _PLAYING, ("dollars",), _played_for),
    "questum-12": PlayedTable("Ablations", _ABLATIONS, ("dollars", "ablations"), _ablated),
    "questum-budget": PlayedTable("With the same number of questions", _PLAYING, ("budget",), targets=1),
    "player-1": PlayedTable("PLAYER*", _PLAYER, ("player_totals", *_AT_THE_QUIZ), rules="player"),
    "player-2": PlayedTable("Costs of PLAYER*", _PLAYER, ("dollars",), _spent, "player"),
    "player-a4": PlayedTable("English scripts", _PLAYER, _AT_THE_QUIZ, rules="player"),
    "questum-10": PlayedTable("Other models", {"Questum": QUESTUM_PAPER}, ("open_models",), scored),
    "player-a5": PlayedTable("Other models", {"PLAYER*": PLAYER_PAPER}, ("open_models",), scored, "player"),
}


def play_table(name: str, setting: MysterySetting) -> Reproduction:
    """One of `PLAYED`, with the paper's rows that cannot be played."""
    table = PLAYED[name]
    rules = CaseSetting(rules=table.rules, targets=table.targets, repetitions=setting.quizzes)
    games = play_cases(
        name,
        setting,
        table.rows,
        formula="sample" if table.rules == "player" else "population",
        murderer=table.murderer,
        tables=dict.fromkeys(table.rows, rules),
    )
    others = {key[1]: None for key in printed() if key[0] == name and key[1] not in table.rows}
    return made_of(
        name, table.title, setting, games, [*table.cells(name, games), *unprinted(name, others)], *table.remarks
    )


def comparison(name: str, setting: MysterySetting, rows: Rows, table: CaseSetting) -> Reproduction:
    """Any methods on the same cases: win rates, accuracies, questions to the model."""
    table = table.replace(repetitions=setting.quizzes)
    rows, said = as_played(setting, rows)
    games = play_cases(name, setting, rows, tables=dict.fromkeys(rows, table))
    made = made_of(name, "Methods", setting, games, _counted(name, games), "op_at_the_quiz", "votes_without_game")
    return replace(made, remarks=(*said, *made.remarks))


def quiz_verdict(reproduction: Reproduction, first: str) -> str:
    """The first method beside each other one in the quiz, in words; see `comparison`."""
    quiz = [made for made in reproduction.cells if (made.of, made.measure) == (OVERALL, scores.OVERALL)]
    ahead = {made.row: -made.difference for made in quiz if made.difference}
    said = WIN_RATE.of("cases").compared_with_each(first, ahead)
    return f"Points in the quiz: {said}" if said else ""


def by_budget(
    name: str, setting: MysterySetting, rows: Rows, table: CaseSetting, budgets: Sequence[int]
) -> Reproduction:
    """Any methods on the same cases at the same limits on questions to the model; one group of cells for each limit.

    `budgets` are questions in a game, all players together; at each limit the first method is compared with the others.
    """
    cells: list[TableCell] = []
    data = []
    rows, said = as_played(setting, rows)
    for limit in budgets:
        limited = table.replace(repetitions=setting.quizzes, budget=limit)
        within = setting.replace(out=None if setting.out is None else setting.out / f"budget-{limit}")
        games = play_cases(name, within, rows, tables=dict.fromkeys(rows, limited))
        counted = _counted(name, games, (WIN, scores.OVERALL))
        cells += [replace(entry, of=f"{entry.of}, {limit} questions") for entry in counted]
        data.append(replace(games_table(games), file=f"budget-{limit}/{games.file}"))
    title = "Methods by questions to the model"
    made = made_of(name, title, setting, games, cells, "by_budget", "votes_without_game")
    return replace(made, data=tuple(data), remarks=(*said, *made.remarks))


def sensors(name: str, setting: MysterySetting) -> Reproduction:
    """All choices of 1 to 5 sensors (figure 6)."""
    known = [sensor for sensor in SENSORS if sensor != VALUE]
    chosen = [subset for size in range(1, len(known) + 1) for subset in combinations(known, size)]
    names = {"+".join(subset): len(subset) for subset in chosen}
    games = play_cases(name, setting, {row: method_of(f"questum:{_PAPER},sensors={row}") for row in names})
    cells = []
    for size in range(1, len(known) + 1):
        cells += _of_size(name, games, size, [row for row, chosen in names.items() if chosen == size])
    cells += [entry for entry in scored(name, games, (WIN, scores.OVERALL)) if entry.of == OVERALL]
    return made_of(name, "Number of sensors", setting, games, cells, "sensors")


def rounds(
    name: str, setting: MysterySetting, method: MysteryMethod = QUESTUM_PAPER, rules: str = "questum"
) -> Reproduction:
    """1 to 5 rounds with 1 to 3 questions each (figure 7); of PLAYER* by its rules, its figure 3."""
    table = CaseSetting(rules=rules, repetitions=setting.quizzes)
    tables = {f"{n} rounds, {m} questions": table.replace(rounds=n, questions=m) for n in _ROUNDS for m in _QUESTIONS}
    first = "3 rounds, 1 questions"
    names = [first, *(row for row in tables if row != first)]
    games = play_cases(name, setting, dict.fromkeys(names, method), tables=tables)
    cells = _counted(name, games, (WIN, scores.OVERALL))
    return made_of(name, "Rounds and questions", setting, games, cells, "figure_7")


# -- what they share -------------------------------------------------------------------------------------------


def _of_size(name: str, games: Games, size: int, rows: list[str]) -> list[TableCell]:
    """Mean over all choices of `size` sensors: score, and questions to the model; the case is the unit."""
    of, number = f"{size} sensors, {len(rows)} choices", range(len(games.rows[rows[0]]))
    scores_by_case = [[scores.score(games.rows[row][k].marks) for row in rows] for k in number]
    shares = [sum(score.mean for score in case if score) / len(rows) for case in scores_by_case]
    weights = [case[0].weight for case in scores_by_case if case[0]]
    asked = [sum(games.rows[row][k].play.asked for row in rows) / len(rows) for k in number]
    totals = [
        Estimate.weighted_mean(*scores.scored([result.marks for result in games.rows[row]])).value for row in rows
    ]
    deviation = scores.over_cases(shares, weights)
    return [
        cell(name, "mean", of, scores.OVERALL, Estimate.weighted_mean(shares, weights, SHARE), deviation=deviation),
        cell(name, "lowest", of, scores.OVERALL, Estimate(min(totals), n=len(rows))),
        cell(name, "highest", of, scores.OVERALL, Estimate(max(totals), n=len(rows))),
        cell(name, "mean", of, "questions to the model", Estimate.mean(asked, COUNT), share=False),
    ]


def made_of(
    name: str, title: str, setting: MysterySetting, games: Games, cells: list[TableCell], *remarks: str
) -> Reproduction:
    """A table of games, with what is to be known about it."""
    all_remarks = (*_general(setting, games), *map(remark, remarks))
    data = (games_table(games),)
    return Reproduction(name, title, setting.model.name, tuple(cells), all_remarks, games.players, data=data)


def _general(setting: MysterySetting, games: Games) -> tuple[str, ...]:
    number = len(games.rows[games.first])
    generated = f"{number} held-out generated cases ({setting.cases})"
    ours = generated if setting.cases in LANGUAGES else f"{setting.cases} (cases: {number})"
    cases = f"Ours: {ours}; the papers': 12 scripts of WellPlay, in Chinese.{_order(games)}"
    repeated = f"Each question of the quiz was put {setting.quizzes} times, its options in another order each time."
    return (cases, f"{repeated} {remark(f'deviation_{games.formula}')}", remark("victims_without_murderer"))


def _order(games: Games) -> str:
    """Which order of the methods results, and whether it is the paper's; empty where the paper prints none."""
    cells = [
        entry for entry in scored(games.file.removesuffix(".csv"), games, (scores.OVERALL,)) if entry.of == OVERALL
    ]
    both = [entry for entry in cells if entry.ours is not None and entry.paper is not None]
    if len(both) < 2:
        return ""
    ours = [entry.row for entry in sorted(both, key=lambda entry: -entry.ours.value if entry.ours else 0.0)]
    papers = [entry.row for entry in sorted(both, key=lambda entry: -(entry.paper or 0.0))]
    said = "as in the paper" if ours == papers else f"in the paper {' > '.join(papers)}"
    return f" Order by points in the quiz: {' > '.join(ours)}; {said}."


_MYSTERY: Final = partial(
    PaperTable,
    "",
    sizes=(10, 0),
    quick=(2, 0),
    setting=MysterySetting,
    games="murder_mystery_v0, {0.games} held-out cases",
)
_MANY_ROWS: Final = partial(_MYSTERY, sizes=(4, 0), quick=(1, 0))
MYSTERY_MADE: Final = {
    **dict.fromkeys(PLAYED, _MYSTERY(play_table)),
    **dict.fromkeys(("questum-1", "player-a1"), _MYSTERY(data_statistics)),
    **dict.fromkeys(("questum-6", "questum-fig4"), _MYSTERY(rated_by_people)),
    "questum-12": _MYSTERY(play_table, sizes=(5, 0)),
    "questum-sensors": _MANY_ROWS(sensors),
    "questum-rounds": _MANY_ROWS(rounds),
    "player-fig3": _MANY_ROWS(partial(rounds, method=PLAYER_PAPER, rules="player")),
}
