"""Games of Avalon that people played, studied: `parlour reproduce avalon-people --data DIR`.

Source: logs of avalongame.online, or any other records that `parlour import avalon` reads. The study imports them, counts who wins,
learns from the earlier games what events tell an onlooker about the later ones, and clones the players. Steps are in `_STEPS`. With
--out everything is kept there: transcripts, habits, clones, `report.md`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from parlour.envs.avalon.presets import PLAYERS
from parlour.envs.avalon.vocabulary import ASSASSIN, GOOD, SERVANT
from parlour.envs.core import ParlourError
from parlour.training.papers.cells import Reproduction, cell
from parlour.training.play.extras import import_extra
from parlour.training.records.avalon.importing import import_records
from parlour.training.runs.progress import Stage
from parlour.training.runs.run import Run
from parlour.training.statistics import Estimate

from parlour_people.clone.choices import CloneConfig
from parlour_people.clone.report import ALL, PICTURE, ChoiceScore
from parlour_people.habits.run import HabitsConfig, LearnedFrom, learn_habits
from parlour_people.papers.avalon_records import LOSS, TRANSCRIPTS, with_width

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
    "learned, reader": "evidence of people",
}
"""What a run of habits calls its readings -> the row."""
FORETOLD: Final = "decisions foretold (most probable move)"
LIKELIHOOD: Final = "mean log likelihood of a decision, in nats"
IN_SHORT: Final = frozenset({GAMES_LEFT_OUT, WINS, NAMED, LOSS, f"vote: {LIKELIHOOD}"})
"""Measures that a terminal shows."""
CALIBRATION: Final = ("AUC of the chance to be evil", "expected calibration error of the chance to be evil")
LAST: Final = 0.2
COMMON: Final = 100
"""Role sets of fewer games have no row."""
REMARK: Final = (
    "Nothing that people said is recorded. Losses are of the last fifth of the games by date; evidence was learned from the games before. "
    "Beliefs are those of an onlooker who knows the roles in play and nobody's cards."
)
_WRITTEN: Final = (
    (TRANSCRIPTS, "the games as transcripts (`parlour replay`)"),
    (
        "evidence/report.md",
        "what events tell an onlooker; `evidence/habits.json` plays (`--policy heuristic:habits=FILE`)",
    ),
)


@dataclass
class PeopleStudy:
    """A study on its way: what the steps so far found."""

    name: str
    setting: Any
    folder: Path
    files: list[Path] = field(default_factory=list)
    """Transcripts, in the order of the games."""
    cells: list[Any] = field(default_factory=list)
    written: list[tuple[str, str]] = field(default_factory=list)
    """What the study wrote: path from the report, and what it is."""

    def add(self, row: str, of: str, measure: str, ours: Estimate | None, apart: Estimate | None = None) -> None:
        """Add a share."""
        self.cells.append(cell(self.name, row, of, measure, ours, apart))


def avalon_people(name: str, setting: Any) -> Reproduction:
    """The whole study of a folder of records. Raises `ParlourError` without one."""
    if setting.data is None:
        raise ParlourError(f"{name} studies games of people; accepted: --data DIR, the folder with their records")
    with setting.folder() as folder:
        study = PeopleStudy(name, setting, folder, written=list(_WRITTEN))
        for step in Stage(f"Reproducing {name}", len(_STEPS), "steps").counted(_STEPS, setting.progress):
            step(study)
        title = f"{len(study.files):,} games of people"
        made = Reproduction(name, title, setting.model.name, tuple(study.cells), (REMARK,), measures_shown=IN_SHORT)
        return replace(made, written=tuple(f"[{path}]({path}): {what}" for path, what in study.written))


# -- import and counts -------------------------------------------------------------------------------------------


def _import(study: PeopleStudy) -> None:
    assert study.setting.data is not None
    refused: list[Any] = []
    study.files = import_records(study.setting.data, study.folder / TRANSCRIPTS, leave_out=refused.append)
    games = len(study.files) + len(refused)
    for reason, count in Counter(refusal.reason for refusal in refused).most_common():
        study.add(PEOPLE, reason, GAMES_LEFT_OUT, Estimate.rate(count, games))


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
            study.add(PEOPLE, of, WINS, Estimate.rate(sum(game.good_won for game in some), len(some)))
            study.add(PEOPLE, of, NAMED, Estimate.rate(sum(map(bool, tried)), len(tried)))


# -- what an onlooker learns -------------------------------------------------------------------------------------


def _evidence(study: PeopleStudy) -> None:
    config = HabitsConfig(source=str(study.folder / TRANSCRIPTS), last=LAST, reader=True)
    learned = learn_habits(config, Run(study.folder / "evidence"))
    study.cells += _readings(study.name, learned)
    if (study.folder / "evidence/calibration.png").exists():
        study.written.append(("evidence/calibration.png", "calibration of an onlooker's belief"))


def _readings(table: str, learned: LearnedFrom) -> Iterator[Any]:
    for entries, sides, merlin in ((learned.tested, LOSS, MERLIN_QUESTS), (learned.often, SIDES_VOTES, MERLIN_VOTES)):
        for entry in entries:
            row = READERS.get(entry["habits"], entry["habits"])
            of = "" if entry["players"] == "all" else f"{entry['players']} players"
            for measure, key, apart in ((sides, "log_loss", entry.get("less_than_default")), (merlin, "merlin", None)):
                if (loss := entry.get(key)) is not None:
                    difference = None if apart is None else with_width(apart)
                    yield cell(table, row, of, measure, with_width(loss), difference, share=False)
            if sides == LOSS and row != "chance":
                for measure, key in zip(CALIBRATION, ("auc", "ece"), strict=True):
                    yield cell(table, row, of, measure, Estimate(entry[key], n=entry["games"]), share=False)


# -- clones --------------------------------------------------------------------------------------------------------


def _clones(study: PeopleStudy) -> None:
    """Learn from the first four fifths, test on the last fifth; a row for each model, and for each number of players."""
    by_date = import_extra("parlour_people.clone.by_date", "train")
    config = CloneConfig(method="networks")
    for score in by_date.clone_networks(study.folder / TRANSCRIPTS, Run(study.folder / "clones"), config).scores:
        if score.role == ALL:
            _add_score(study, score)
    study.written.append(("clones/report.md", "clones of people, tested on later games, by role too"))
    if (study.folder / "clones" / PICTURE).exists():
        study.written.append((f"clones/{PICTURE}", "how well clones predict people"))


def _add_score(study: PeopleStudy, score: ChoiceScore) -> None:
    of = "" if score.players is None else f"{score.players} players"
    for measure, value, less in ((LIKELIHOOD, score.log, score.log_less), (FORETOLD, score.top, score.top_less)):
        made = partial(cell, study.name, score.model, of, f"{score.what}: {measure}", share=measure == FORETOLD)
        study.cells.append(made(value, less and -less))


_STEPS: Final[tuple[Callable[[PeopleStudy], None], ...]] = (_import, _counts, _evidence, _clones)
"""Each adds its cells and pictures to the study."""
