"""Deduction in Werewolf: the moments of the village, the posterior with counted rates, and who scores 0 and 1.

A rate: the village accused werewolves 90 times of 100; the fitted rate lies between the fixed .55 and .9, near .9 by then.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from parlour.envs.werewolf.belief import WerewolfHabits
from parlour.policies.llm.model import OfflineModel
from parlour.training.learn.habits.werewolf import WolfCounts
from parlour.training.measure.abilities.asked import stated_by
from parlour.training.measure.abilities.beliefs import stated_scores
from parlour.training.measure.abilities.moments import BeliefMoment
from parlour.training.measure.abilities.questions import QuestionSizes
from parlour.training.measure.abilities.run import abilities
from parlour.training.measure.abilities.table import abilities_table
from parlour.training.measure.abilities.werewolf_games import (
    PlayedWerewolf,
    counted_rates,
    read_werewolf,
    village_moments,
)
from parlour.training.measure.benchmark.played import Candidate, play_suite
from parlour.training.measure.benchmark.suite import BenchmarkTable, Suite
from parlour.training.results.progress import no_progress

NEAR = 0.02


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The heuristic against the heuristic: ten deals of Werewolf and one of Avalon, both sides."""
    made = tmp_path_factory.mktemp("village")
    eight = BenchmarkTable("werewolf-8", "werewolf_v0", {"num_players": 8, "rules": "paper"}, 10, ("heuristic",))
    six = BenchmarkTable("avalon-6", "avalon_v0", {"num_players": 6, "rules": "paper"}, 1, ("heuristic",))
    play_suite(Suite("test", (six, eight)), Candidate("heuristic"), made)
    return made


@pytest.fixture(scope="module")
def games(folder: Path) -> list[PlayedWerewolf]:
    return [read_werewolf(path) for path in sorted(folder.glob("games/werewolf-8/*/*.jsonl"))]


@pytest.fixture(scope="module")
def moments(games: list[PlayedWerewolf]) -> list[BeliefMoment]:
    return list(village_moments(games))


def skill(moments: list[BeliefMoment], stated: list[tuple[float, ...]]) -> float:
    found = stated_scores(moments, stated, np.random.default_rng(0)).skill
    assert found is not None
    return found.value


def test_who_is_handed_the_exact_posterior_of_werewolf_has_skill_1_and_who_states_the_prior_has_0(moments):
    assert skill(moments, [one.exact for one in moments]) == pytest.approx(1, abs=NEAR)
    assert skill(moments, [one.prior for one in moments]) == pytest.approx(0, abs=NEAR)


def test_among_heuristics_the_heuristic_concludes_more_than_the_random_player_and_less_than_counted_rates(moments):
    by_heuristic, by_random = (
        skill(moments, stated_by(name, moments, OfflineModel(), no_progress)[0]) for name in ("heuristic", "random")
    )
    assert by_random == pytest.approx(0, abs=NEAR)  # it states the prior
    assert by_random + NEAR < by_heuristic < 1


def test_only_the_village_is_asked_once_after_each_execution(moments, games):
    by_name = {game.name: game for game in games}
    assert moments
    for one in moments:
        game = by_name[one.game]
        assert game.roles[one.seat] != "Werewolf"
        assert sum(one.truth) == 3
        assert sum(one.exact) == pytest.approx(3)
        assert sum(one.prior) == pytest.approx(3)
    asked = [(one.game, one.seat, sum(e.move.kind == "executed" for e in one.info["view"].events)) for one in moments]
    assert len(set(asked)) == len(asked)
    assert min(day for *_, day in asked) == 1


def test_rates_of_a_game_are_counted_in_the_games_of_other_deals_alone(games):
    one = next(game for game in games if any(moment.game == game.name for moment in village_moments([game])))
    alone = list(village_moments([one]))
    same_deal = [game for game in games if game.seed == one.seed]
    assert [moment.exact for moment in village_moments(same_deal) if moment.game == one.name] == [
        moment.exact for moment in alone
    ]


def test_a_counted_rate_lies_between_the_fixed_one_and_the_share():
    counts = WolfCounts()
    counts.yes["accuses_wolf"], counts.no["accuses_wolf"] = 90, 10
    found = counted_rates([counts], 8)
    assert 0.85 < found.accuses_wolf < 0.9
    assert found.votes_wolf == pytest.approx(WerewolfHabits().votes_wolf)


@pytest.mark.slow
def test_the_table_has_village_skill_and_question_rows_and_none_of_a_network(folder):
    found = abilities(folder, "heuristic", OfflineModel(), no_progress, QuestionSizes(cases=1, mediated=4))
    assert set(found.village.all) == set(found.village.against["heuristic"]) == {"heuristic", "random"}
    row = next(row for row in abilities_table(found).rows if row[1] == "Werewolf: skill, village")
    assert row[3] is None  # the expert's column
    assert str(row[4]).startswith(("0.00", "-0.00"))
    assert found.deception["themselves"] == found.deception["heuristic"]  # all opponents are heuristics
    assert found.deception["heuristic"] is not None
    measures = {row[1]: row for row in abilities_table(found).rows}
    assert str(measures["murders solved with 100 questions (share)"][2]).endswith("n=1")
    assert measures["net utility a question"][2] is not None
    assert measures["net utility a question"][3] is None  # nobody asked the expert
