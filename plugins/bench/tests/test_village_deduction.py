"""Deduction in Werewolf: the moments of the village, the posterior of a particle filter, and who scores 0 and 1."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parlour.policies.llm.model import OfflineModel
from parlour.training.runs.progress import no_progress
from parlour_bench.abilities import run
from parlour_bench.abilities.asked import stated_by, with_exact
from parlour_bench.abilities.run import Abilities, werewolf_games
from parlour_bench.abilities.stated import BeliefMoment, stated_scores
from parlour_bench.abilities.table import abilities_table
from parlour_bench.abilities.werewolf_games import PlayedWerewolf
from parlour_bench.played import Candidate, play_suite
from parlour_bench.suite import BenchmarkTable, Suite, opponent_at

pytestmark = pytest.mark.slow
NEAR = 0.02
BOTH = ("heuristic", "expert")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The heuristic against the expert and itself: a deal of Werewolf and one of Avalon, both sides."""
    made = tmp_path_factory.mktemp("village")
    eight = BenchmarkTable("werewolf-8", "werewolf_v0", {"num_players": 8, "rules": "paper"}, 1, BOTH)
    six = BenchmarkTable("avalon-6", "avalon_v0", {"num_players": 6, "rules": "paper"}, 1, ("heuristic",))
    play_suite(Suite("test", (six, eight)), Candidate("heuristic"), made)
    return made


@pytest.fixture(scope="module")
def games(folder: Path) -> list[PlayedWerewolf]:
    return werewolf_games(folder)


@pytest.fixture(scope="module")
def measured(folder: Path) -> tuple[Abilities, list[BeliefMoment]]:
    """What is measured of the heuristic, and the moments with the exact posteriors that were computed for it."""
    moments: list[BeliefMoment] = []

    def kept(*arguments: Any) -> list[BeliefMoment]:
        moments.extend(with_exact(*arguments))
        return list(moments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "with_exact", kept)
        return run.abilities(folder, "heuristic", OfflineModel(), no_progress), moments


@pytest.fixture(scope="module")
def moments(measured: tuple[Abilities, list[BeliefMoment]]) -> list[BeliefMoment]:
    return [moment for moment in measured[1] if moment.by_player]


def skill(moments: list[BeliefMoment], stated: list[tuple[float, ...]]) -> float:
    estimate = stated_scores(moments, stated, np.random.default_rng(0)).skill
    assert estimate is not None
    return estimate.value


def test_who_is_handed_the_exact_posterior_of_werewolf_has_skill_1_and_who_states_the_prior_has_0(moments):
    assert skill(moments, [moment.exact for moment in moments]) == pytest.approx(1, abs=NEAR)
    assert skill(moments, [moment.prior for moment in moments]) == pytest.approx(0, abs=NEAR)


def test_the_expert_concludes_more_than_the_heuristic_and_that_more_than_the_random_player(moments):
    by_heuristic, by_random = (
        skill(moments, stated_by(name, moments, OfflineModel(), no_progress)[0]) for name in ("heuristic", "random")
    )
    assert by_random == pytest.approx(0, abs=NEAR)  # it states the prior
    assert by_random + NEAR < by_heuristic < 1 - NEAR  # what the expert concludes is the exact posterior


def test_another_filter_with_other_draws_concludes_nearly_the_same(moments):
    """Draws of deals and hidden moves leave an error of the exact posterior, below .1 of skill."""
    again = [replace(moment, seed=moment.seed + 1) for moment in moments]
    stated = stated_by(opponent_at("expert", *again[0].table), again, OfflineModel(), no_progress)[0]
    assert stated != [moment.exact for moment in moments]
    assert skill(moments, stated) == pytest.approx(1, abs=0.1)


def test_only_the_village_is_asked_once_after_each_execution(moments, games):
    by_name = {game.name: game for game in games}
    assert moments
    for moment in moments:
        game = by_name[moment.game]
        assert game.roles[moment.seat] != "Werewolf"
        assert sum(moment.truth) == 3
        assert sum(moment.exact) == pytest.approx(3)
        assert sum(moment.prior) == pytest.approx(3)
    asked = [(row.game, row.seat, sum(e.move.kind == "executed" for e in row.info["view"].events)) for row in moments]
    assert len(set(asked)) == len(asked)
    assert min(day for *_, day in asked) == 1


def test_a_table_without_an_expert_has_no_exact_posterior(moments):
    elsewhere = replace(moments[0], table=("werewolf_v0", {"num_players": 4}))
    assert with_exact([elsewhere], no_progress) == []


def test_the_table_has_village_skill_rows(measured):
    made, _ = measured
    assert set(made.village.all) == set(made.village.against["heuristic"]) == {"heuristic", "expert", "random"}
    row = next(row for row in abilities_table(made).rows if row[1] == "Werewolf: skill, village")
    assert str(row[3]).startswith("1.00")  # the expert's column
    assert str(row[4]).startswith(("0.00", "-0.00"))
    assert made.deception["themselves"] == made.deception["heuristic"]  # all opponents are heuristics
    assert made.deception["heuristic"] is not None
