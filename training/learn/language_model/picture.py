"""The curve of learning of `scripts/train_lm.py` as a picture. Needs no library that runs language models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from parlour.training.learn.language_model.config import LanguageModelConfig
from parlour.training.measure.statistics import Rate
from parlour.training.results.learning_curve import LearningCurve, learning_curve
from parlour.training.results.plots import Curve, CurvePoint

if TYPE_CHECKING:
    from parlour.training.learn.language_model.stages import LearningPoint


def draw_learning(
    config: LanguageModelConfig,
    parameters: int,
    points: Sequence[LearningPoint],
    levels: Mapping[str, Rate],
    path: Path,
) -> bool:
    """Draw a PNG.

    Args:
        config: Of the run.
        parameters: Of the model.
        points: Of the curve.
        levels: Player -> its wins on held-out deals, as a level line.
        path: The file.

    Returns:
        Whether matplotlib is installed.
    """
    deals = config.learning.deals * config.every
    games = deals * config.learning.group
    return learning_curve(
        path,
        LearningCurve(
            title=f"A small language model learns {config.game} from whole games",
            who=f"a model of {parameters / 1e6:.1f} million parameters as {config.role}, heuristics elsewhere",
            n=f"n = {games:,} games on {deals} deals a point; level lines: {config.held_out} held-out deals",
            x="steps of learning",
            y="share of games won",
            curves=[Curve("learned", [CurvePoint(one.step, one.wins / one.games) for one in points], interval="")],
            levels=[(name, (wins.rate, wins.low, wins.high)) for name, wins in levels.items()],
            limits=(0.0, 1.0),
        ),
    )
