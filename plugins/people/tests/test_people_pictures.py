"""The pictures of the plugin: each is drawn from made-up values without a warning."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="THE EXTRA `train` IS NOT INSTALLED: nothing is drawn")
pytest.importorskip("torch", reason="THE EXTRA `train` IS NOT INSTALLED: nothing is drawn")
from parlour.training.statistics import Estimate
from parlour_people.analysis import pictures as analysis
from parlour_people.analysis.compare import ComparedGuesses, ComparedVotes
from parlour_people.clone import report as clone
from parlour_people.clone.report import ALL, ChoiceScore
from parlour_people.habits import report as habits
from parlour_people.habits.avalon_fit import AVALON
from parlour_people.habits.report import BeliefRead

from tests.training.report.drawn_pictures import mean


def draw_votes(path):
    groups = (("all", "all"), ("role", "Loyal Servant"), ("memory", "short-term and long-term"))
    rows = [ComparedVotes(by, group, 3, 20, mean(0.97, 0.02), mean(0.5), mean(0.1)) for by, group in groups]
    analysis.votes(rows, "a-language-model-with-a-long-name", path)


def draw_guesses(path):
    both = [True, False, True, False]
    rows = [
        ComparedGuesses("all", "all", Estimate.rate(3, 4), Estimate.rate(2, 4), 2, 1.2, Estimate.paired(both, both))
    ]
    analysis.guesses(rows, "recorded players", path)


def draw_clone(path):
    kinds, models = ("vote", "team", "quest", "guess"), ("clone", "heuristic", "frequency", "chance")
    scores = [
        ChoiceScore(kind, ALL, model, 90, 7, mean(0.5), mean(-0.7 - 0.1 * k), None, None)
        for kind in kinds
        for k, model in enumerate(models)
    ]
    clone._draw(scores, path)


def draw_habits(path, groups=AVALON.panels):
    rng = np.random.default_rng(0)
    reads = [
        BeliefRead(k, n, 0, 1.0, tuple(rng.random(n).tolist()), tuple(int(x < 0.4) for x in rng.random(n)))
        for k in range(20)
        for n in (5, 6)
    ]
    readings = dict.fromkeys((habits.DEFAULT, "learned from the others", "and with words"), reads)
    habits.draw(readings, {group: AVALON.groups(())[group] for group in groups}, path)


@pytest.mark.parametrize(
    "draw",
    [draw_votes, draw_guesses, draw_clone, draw_habits],
)
def test_it_is_drawn(draw, tmp_path):
    draw(tmp_path / "made.png")
    assert (tmp_path / "made.png").read_bytes().startswith(b"\x89PNG")
