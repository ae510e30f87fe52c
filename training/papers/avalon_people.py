"""Games of Avalon that people played, studied: `parlour reproduce avalon-people --data DIR`.

Source: logs of avalongame.online, or any other records that `parlour import avalon` reads. The study imports them, counts who wins,
learns from the earlier games what events tell an onlooker about the later ones, clones the players, and trains experts that play
among clones (`avalon_people_players.py`). Steps are in `_STEPS`. With --out everything is kept there: transcripts, habits, clones,
experts, pictures, `report.md`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from parlour.envs.avalon.presets import PLAYERS
from parlour.envs.avalon.vocabulary import ASSASSIN, GOOD, SERVANT
from parlour.envs.core import ParlourError
from parlour.training.learn.habits.run import BESIDE, HABITS, HabitsConfig, LearnedFrom, learn_habits
from parlour.training.measure.statistics import rate
from parlour.training.papers import avalon_people_players as among_people
from parlour.training.papers.avalon_people_study import PeopleStudy
from parlour.training.papers.avalon_records import LOSS, TRANSCRIPTS, loss_value, study_report
from parlour.training.papers.cells import Reproduction, ReproductionSetting, TableCell, Value, cell, kept, remark
from parlour.training.records.avalon import import_records
from parlour.training.records.reading import Refusal
from parlour.training.results import plots
from parlour.training.results.pages.report import write_report
from parlour.training.results.progress import Stage, counted

PEOPLE: Final = "people"
WINS: Final = "games won by good"
NAMED: Final = "Merlin is named, of attempts"
GAMES_LEFT_OUT: Final = "games left out"
SIDES_VOTES: Final = "log loss of the true evil side, to an onlooker after each vote"
MERLIN_QUESTS: Final = "log loss of the true Merlin, to an onlooker after each quest"
MERLIN_VOTES: Final = "log loss of the true Merlin, to an onlooker after each vote"
READERS: Final = {
    "chance": "chance",
    "default": "usual habits",
    BESIDE: "habits of GPT-5.1",
    "learned, reader": "evidence of people",
}
"""What a run of habits calls its readings -> the row."""
IN_SHORT: Final = frozenset(
    {
        *(GAMES_LEFT_OUT, WINS, NAMED, LOSS, among_people.SEAT, among_people.LESS_CLONE, among_people.LESS_EXPERT),
        *(f"vote: {measure}" for measure in (among_people.LIKELIHOOD, among_people.HUMAN)),
    }
)
"""Measures that a terminal shows."""
CALIBRATION: Final = ("AUC of the chance to be evil", "expected calibration error of the chance to be evil")
LAST: Final = 0.2
COMMON: Final = 100
"""Role sets of fewer games have no row."""
_WRITTEN: Final = (
    (TRANSCRIPTS, "the games as transcripts (`parlour replay`)"),
    (
        "evidence/report.md",
        "what events tell an onlooker; `evidence/habits.json` plays (`--policy heuristic:habits=FILE`)",
    ),
)


def avalon_people(name: str, setting: ReproductionSetting) -> Reproduction:
    """The whole study of a folder of records. Raises `ParlourError` without one."""
    if setting.data is None:
        raise ParlourError(f"{name} studies games of people; accepted: --data DIR, the folder with their records")
    with kept(setting.out) as folder:
        study = PeopleStudy(name, setting, folder, written=list(_WRITTEN))
        for step in counted(_STEPS, Stage(f"Reproducing {name}", len(_STEPS), "steps"), setting.progress):
            step(study)
        title = f"{len(study.files):,} games of people"
        made = Reproduction(
            name, title, setting.model.name, tuple(study.cells), (remark("games_of_people"),), measures_shown=IN_SHORT
        )
        shown = "".join(f"![{title}]({path})\n\n" for path, title in study.pictures)
        write_report(folder, study_report(made, study.written).replace("\n\n", f"\n\n{shown}", 1))
    return made


# -- import and counts -------------------------------------------------------------------------------------------


def _import(study: PeopleStudy) -> None:
    assert study.setting.data is not None
    refused: list[Refusal] = []
    study.files = import_records(study.setting.data, study.folder / TRANSCRIPTS, leave_out=refused.append)
    games = len(study.files) + len(refused)
    for reason, count in Counter(refusal.reason for refusal in refused).most_common():
        study.add(PEOPLE, reason, GAMES_LEFT_OUT, rate(count, games))


@dataclass(frozen=True)
class GameOfPeople:
    """How a game of people ended."""

    players: int
    roles: str
    """The special roles; the role that names Merlin comes first."""
    good_won: bool
    named: bool | None
    """Whether Merlin was named; None if nobody tried."""


def played_game(path: Path) -> GameOfPeople | None:
    """The end of an imported game, from the first and last line of its transcript; None if it was not finished."""
    lines = path.read_text("utf-8").splitlines()
    config, last = json.loads(lines[0])["config"], json.loads(lines[-1])
    if last.get("outcome") is None:
        return None
    good_won, named = last["outcome"]["winner"] == GOOD, last["outcome"]["reason"] == "assassination"
    return GameOfPeople(config["num_players"], _role_set(config), good_won, named if named or good_won else None)


def _role_set(config: Mapping[str, Any]) -> str:
    guesser = config.get("guesser", ASSASSIN)
    others = [role for role in config["roles"] if role not in (SERVANT, guesser)]
    return ", ".join([f"{guesser} names", *dict.fromkeys(others)])


def _counts(study: PeopleStudy) -> None:
    games = [game for path in study.files if (game := played_game(path)) is not None]
    by_size: dict[str, list[GameOfPeople]] = {f"{n} players": [g for g in games if g.players == n] for n in PLAYERS}
    by_set: dict[str, list[GameOfPeople]] = {}
    for game in games:
        by_set.setdefault(f"{game.players} players: {game.roles}", []).append(game)
    sets = {name: some for name, some in sorted(by_set.items()) if len(some) >= COMMON}
    for of, some in {**by_size, **sets}.items():
        tried = [game.named for game in some if game.named is not None]
        if some:
            study.add(PEOPLE, of, WINS, rate(sum(game.good_won for game in some), len(some)))
            study.add(PEOPLE, of, NAMED, rate(sum(map(bool, tried)), len(tried)))
    drawn = {
        "wins_by_players.png": (WINS, by_size),
        "wins_by_roles.png": (WINS, sets),
        "merlin.png": (NAMED, {**by_size, **sets}),
    }
    for file, (measure, groups) in drawn.items():
        draw_rates(study, file, measure, [of for of, some in groups.items() if some])


def draw_rates(study: PeopleStudy, file: str, measure: str, groups: Sequence[str]) -> None:
    """One line a group with the rate and its interval."""
    shares = {c.of: c.ours for c in study.cells if c.measure == measure and c.of in groups and c.ours is not None}
    if not plots.available() or not shares:
        return
    counts = sorted({share.n for share in shares.values()})
    shown = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    title = f"{measure[0].upper()}{measure[1:]}"
    with plots.picture(
        study.folder / file,
        8,
        1 + 0.32 * len(shares),
        title=title,
        who=f"Games of people, {study.name}",
        n=f"n = {shown} games",
    ) as made:
        axes = made.subplots()
        rates = [(100 * share.value, 100 * (share.low or 0), 100 * (share.high or 0)) for share in shares.values()]
        plots.points(axes, range(len(shares)), rates, across=True)
        axes.set_yticks(range(len(shares)), [f"{of} ({share.n:,})" for of, share in shares.items()])
        axes.invert_yaxis()
        plots.label(axes, f"{measure}, %", grid="x")
    study.pictures.append((file, title))


# -- what an onlooker learns -------------------------------------------------------------------------------------


def _evidence(study: PeopleStudy) -> None:
    beside = _gpt51_habits(study)
    config = HabitsConfig(source=str(study.folder / TRANSCRIPTS), last=LAST, reader=True, beside=beside)
    learned = learn_habits(config, study.folder / "evidence")
    study.cells += _readings(study.name, learned)
    if (study.folder / "evidence/calibration.png").exists():
        study.pictures.append(("evidence/calibration.png", "Calibration of an onlooker's belief"))


def _gpt51_habits(study: PeopleStudy) -> str | None:
    """The habits file learned from the games of GPT-5.1, if they lie beside the data."""
    games = study.gpt51()
    if games is None:
        return None
    learn_habits(HabitsConfig(source=str(games), words=False, folds=2), study.folder / "gpt51_habits")
    return str(study.folder / "gpt51_habits" / HABITS)


def _readings(table: str, learned: LearnedFrom) -> Iterator[TableCell]:
    for entries, sides, merlin in ((learned.tested, LOSS, MERLIN_QUESTS), (learned.often, SIDES_VOTES, MERLIN_VOTES)):
        for entry in entries:
            row = READERS.get(entry["habits"], entry["habits"])
            of = "" if entry["players"] == "all" else f"{entry['players']} players"
            for measure, key, apart in ((sides, "log_loss", entry.get("less_than_default")), (merlin, "merlin", None)):
                if (loss := entry.get(key)) is not None:
                    difference = None if apart is None else loss_value(apart)
                    yield cell(table, row, of, measure, loss_value(loss), difference)
            if sides == LOSS and row != "chance":
                for measure, key in zip(CALIBRATION, ("auc", "ece"), strict=True):
                    yield cell(table, row, of, measure, Value(entry[key], entry["games"]))


_STEPS: Final[tuple[Callable[[PeopleStudy], None], ...]] = (
    _import,
    _counts,
    _evidence,
    among_people.clones,
    among_people.experts,
    among_people.draw_among_people,
)
"""Each adds its cells and pictures to the study."""
