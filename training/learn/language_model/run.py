"""A run in a folder: four stages, then one measurement on held-out deals. A stage that is done is not done again.

    a tokenizer and a network -> imitation -> learning
                                 imitation -> longer imitation

Every stage leaves a model that transformers reads (`imitation/`, `learned/`, `longer/`) and NAME.json with its curve and what it
took; NAME.json is written last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import torch
from parlour.policies.files import read_json, write_json
from parlour.training.learn.language_model import measure, stages
from parlour.training.learn.language_model.config import LanguageModelConfig
from parlour.training.learn.language_model.games import Tables
from parlour.training.learn.language_model.measure import MeasuredGame
from parlour.training.learn.language_model.network import make_model, parameters, read_model, save_model
from parlour.training.learn.language_model.stages import ImitationPoint, LearningPoint, Spent, StageClock
from parlour.training.results.runs import StageProgress, no_stage_progress, run_directory, write_csv
from transformers.utils.logging import disable_progress_bar

IMITATION, LEARNED, LONGER = "imitation", "learned", "longer"
MODELS: Final = (IMITATION, LEARNED, LONGER)
GREEDY, HEURISTIC, RANDOM = "learned, greedy", "heuristic", "random"


@dataclass(frozen=True)
class TrainedModel:
    """What a run came to."""

    config: LanguageModelConfig
    parameters: int
    tokens_a_game: float
    """Mean of the heuristic's games in the tokenizer."""
    imitation: Sequence[ImitationPoint]
    longer: Sequence[ImitationPoint]
    learning: Sequence[LearningPoint]
    spent: Mapping[str, Spent]
    """Model, or `measurement` -> what it took."""
    games: Mapping[str, Sequence[MeasuredGame]]
    """Player -> its games on the held-out deals, in their order."""


def train(config: LanguageModelConfig, out: Path, progress: StageProgress = no_stage_progress) -> TrainedModel:
    """Make a model, let it imitate and learn, and measure it; goes on after the last finished stage of a run.

    Deterministic: the processor's threads for PyTorch are set to one.

    Args:
        config: What decides the result.
        out: Folder of the run.
        progress: Told of each stage's steps.

    Raises:
        ParlourError: A setting is not accepted, or the folder holds another run.
    """
    torch.set_num_threads(1)
    disable_progress_bar()  # of files that are read and written in no time
    with run_directory(out, asdict(config)):
        return _Run(config, out, progress).trained()


class _Run:
    """A run in its folder."""

    def __init__(self, config: LanguageModelConfig, out: Path, progress: StageProgress) -> None:
        self._config, self._out, self._progress = config, out, progress
        self._tables: Tables | None = None

    def trained(self) -> TrainedModel:
        config, imitates = self._config, self._config.imitation

        def imitated(model: Any, stream: int, steps: int, what: str) -> list[ImitationPoint]:
            return stages.imitation(model, self._at(), stream, steps, imitates, self._told(what))

        first = self._stage(IMITATION, "", lambda model: imitated(model, stages.IMITATION, imitates.steps, IMITATION))
        learned = self._stage(
            LEARNED, IMITATION, lambda model: stages.learning(model, self._at(), self._told("learning"))
        )
        longer = self._stage(
            LONGER, IMITATION, lambda model: imitated(model, stages.LONGER, config.longer_steps, "longer imitation")
        )
        games = self._measured()
        stored = {name: self._result(name) for name in (*MODELS, "measured")}
        found = TrainedModel(
            config,
            parameters(read_model(self._out / LEARNED)[0]),
            self._tokens_a_game(),
            [ImitationPoint(**one) for one in first],
            [ImitationPoint(**one) for one in longer],
            [LearningPoint(**one) for one in learned],
            {name: Spent(**of["spent"]) for name, of in stored.items()},
            games,
        )
        write_curves(found, self._out)
        return found

    # -- stages --------------------------------------------------------------------------------------------------

    def _stage(self, name: str, after: str, work: Callable[[Any], Sequence[Any]]) -> list[dict[str, Any]]:
        """The curve of a stage, which begins with the model of another or with a new one."""
        if not self._result_file(name).exists():
            config, tokens = self._config, self._at().tokens
            if after:
                model, _ = read_model(self._out / after)
            else:
                model = make_model(config.network, tokens, config.seed)
            clock = StageClock()
            with clock.running():
                points = work(model)
            save_model(model, tokens, self._out / name)
            value = {"spent": asdict(clock.spent), "curve": [asdict(one) for one in points]}
            write_json(self._result_file(name), value)
        return list(self._result(name)["curve"])

    def _measured(self) -> dict[str, list[MeasuredGame]]:
        """Every player's games on the held-out deals."""
        if not self._result_file("measured").exists():
            clock, games = StageClock(), {}
            with clock.running():
                for done, (name, play) in enumerate(self._players().items()):
                    games[name] = play(stages.held_out_deals(self._config))
                    self._progress("measurement", done + 1, len(self._players()), "")
            value = {"spent": asdict(clock.spent), "games": {k: [asdict(one) for one in of] for k, of in games.items()}}
            write_json(self._result_file("measured"), value)
        stored = self._result("measured")["games"]
        return {name: [MeasuredGame(**one) for one in of] for name, of in stored.items()}

    def _players(self) -> dict[str, Callable[[Sequence[int]], list[MeasuredGame]]]:
        tables = self._at()

        def model_of(name: str, *, greedy: bool = False) -> Callable[[Sequence[int]], list[MeasuredGame]]:
            return lambda deals: measure.model_games(tables, read_model(self._out / name)[0], deals, greedy=greedy)

        return {
            **{name: model_of(name) for name in MODELS},
            GREEDY: model_of(LEARNED, greedy=True),
            HEURISTIC: lambda deals: measure.heuristic_games(tables, deals),
            RANDOM: lambda deals: measure.random_games(tables, deals),
        }

    # -- parts ---------------------------------------------------------------------------------------------------

    def _at(self) -> Tables:
        if self._tables is None:
            self._tables = Tables(self._config, stages.make_tokens(self._config))
        return self._tables

    def _tokens_a_game(self) -> float:
        games = self._at().teach(stages.seeds_of(self._config.seed, stages.WORDS, 1, 100))
        return sum(len(one.tokens) for one in games) / len(games)

    def _told(self, what: str) -> stages.Progress:
        return lambda done, total: self._progress(what, done, total, "")

    def _result_file(self, name: str) -> Path:
        return self._out / f"{name}.json"

    def _result(self, name: str) -> dict[str, Any]:
        return dict(read_json(self._result_file(name)))


def write_curves(found: TrainedModel, out: Path) -> None:
    """The curves as CSV: `imitation.csv`, `longer.csv`, `learning.csv`."""
    for name, points in ((IMITATION, found.imitation), (LONGER, found.longer)):
        write_csv(out / f"{name}.csv", ("step", "loss"), [(one.step, one.loss) for one in points])
    heading = ("step", "games", "wins", "choices", "legal")
    write_csv(
        out / "learning.csv",
        heading,
        [(one.step, one.games, one.wins, one.choices, one.legal) for one in found.learning],
    )
