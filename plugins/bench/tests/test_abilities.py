"""Abilities from recorded games: doubt, the question beside play, and what the command refuses.

Worked numbers: a seat with two others, one of them evil; prior 0.5 for both, so loss(prior) = log 2 = .6931; loss(.9, .1) = -log .9 = .1054.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.model import OfflineModel
from parlour.training.cli import run
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.runs.progress import no_progress
from parlour_bench.abilities.asked import stated_by
from parlour_bench.abilities.doubt import doubt, mean_by_game
from parlour_bench.abilities.moments import belief_moments
from parlour_bench.abilities.page import ABILITIES_PAGE, write_abilities_page
from parlour_bench.abilities.run import ABILITIES, Abilities, abilities, avalon_games
from parlour_bench.abilities.stated import BeliefMoment, stated_scores
from parlour_bench.abilities.table import abilities_table, verdict_on
from parlour_bench.played import Candidate, play_suite
from parlour_bench.suite import BenchmarkTable, Suite

from tests.policies.llm.servers import KEY, Answer, Call, Server

ONE_DEAL = Suite(
    "one deal",
    (BenchmarkTable("avalon-6", "avalon_v0", {"num_players": 6, "rules": "paper"}, 1, ("heuristic", "expert")),),
)
ANYBODY = BeliefMoment(
    game="a",
    table=("avalon_v0", {}),
    by_player=True,
    opponent="heuristic",
    seat=0,
    seed=0,
    text="",
    info={},
    truth=(True, False),
    prior=(0.5, 0.5),
    exact=(0.9, 0.1),
)
EXACT = 0.02
"""How near skill has to be to 0 and 1 at the ends."""


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


# -- the measures ------------------------------------------------------------------------------------------------------


def test_doubt_is_the_loss_that_is_left_of_the_loss_after_the_night():
    estimate = doubt([ANYBODY], [(0.9, 0.1)], rng())
    assert estimate is not None
    assert estimate.value == pytest.approx(0.1054 / 0.6931, abs=1e-3)
    assert doubt([], [], rng()) is None


def test_a_mean_over_games_counts_each_value_once_and_draws_games():
    estimate = mean_by_game([[1.0, 1.0], [], [4.0]], rng())
    assert estimate is not None
    assert (estimate.value, estimate.n) == (2.0, 2)  # (1 + 1 + 4) / 3, of two games with values
    assert estimate.ends == (1.0, 4.0)
    assert mean_by_game([[]], rng()) is None


# -- recorded games ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark of the heuristic: one deal from both sides against both opponents."""
    made = tmp_path_factory.mktemp("benchmark")
    play_suite(ONE_DEAL, Candidate("heuristic"), made)
    return made


@pytest.fixture(scope="module")
def moments(folder: Path) -> list[BeliefMoment]:
    return list(belief_moments(avalon_games(folder)))


@pytest.mark.slow
def test_the_expert_states_more_than_the_heuristic_and_the_heuristic_more_than_the_random_player(moments):
    """At the table with experts as well, to whom the heuristic's habits do not apply."""
    for opponent in ("heuristic", "expert"):
        some = [moment for moment in moments if moment.opponent == opponent]
        skills = []
        for name in ("expert", "heuristic", "random"):
            skill = stated_scores(some, stated_by(name, some, OfflineModel(), no_progress)[0], rng()).skill
            assert skill is not None
            skills.append(skill.value)
        assert skills[0] > skills[1] > max(skills[2], 0.0)


@pytest.mark.slow
def test_chances_add_up_to_the_number_of_evil_players_and_keep_what_the_night_showed(moments):
    """Who is handed the exact posterior has skill 1, and who states the prior has 0."""
    for stated, skill in (([moment.exact for moment in moments], 1.0), ([moment.prior for moment in moments], 0.0)):
        scores = stated_scores(moments, stated, rng())
        assert scores.skill is not None
        assert scores.skill.value == pytest.approx(skill, abs=EXACT)
    for moment in moments:
        for chances in (moment.prior, moment.exact):
            assert sum(chances) == pytest.approx(2.0)
            certain = [k for k, chance in enumerate(moment.prior) if chance in (0.0, 1.0)]
            assert [chances[k] for k in certain] == pytest.approx([moment.prior[k] for k in certain])
        assert sum(moment.truth) == 2


@pytest.mark.slow
def test_seats_are_asked_once_after_each_quest_and_only_good_ones(moments, folder):
    for path in folder.glob("games/*/*/*.jsonl"):
        game = AnalysedGame.read(path)
        quests = sum(event.move.kind == "fails" for event in game.log)
        name = path.relative_to(folder / "games").with_suffix("").as_posix()
        asked = [moment.seat for moment in moments if moment.game == name]
        assert not game.evil & set(asked)
        assert all(asked.count(seat) <= quests for seat in set(asked))


@pytest.mark.slow
def test_questions_leave_the_games_as_they_were(folder):
    before = {path: path.read_bytes() for path in folder.glob("games/*/*/*.jsonl")}
    measured = abilities(folder, "chat", OfflineModel(), no_progress)
    assert {path: path.read_bytes() for path in before} == before
    assert json.loads((folder / ABILITIES).read_text())["player"] == "chat"
    assert measured.deduction["chat"].loss.value == pytest.approx(measured.deduction["random"].loss.value, abs=1e-3)
    write_abilities_page(folder, measured, verdict_on(measured), abilities_table(measured))
    assert (folder / ABILITIES_PAGE).exists()
    assert measured.names_merlin is None or 0 <= measured.names_merlin.value <= 1


class Undecided(Server):
    """A model that gives every player one half."""

    def completion(self, call: Call) -> Answer:
        schema = json.dumps(call.body["response_format"]["json_schema"]["schema"])
        players = sorted(set(re.findall(r"player_\d", schema)))
        text = json.dumps({"thoughts": "", "chances": dict.fromkeys(players, 0.5)})
        return Answer(self.completed({"role": "assistant", "content": text}))


@pytest.fixture
def asked_at(
    folder: Path, moments: list[BeliefMoment], monkeypatch: pytest.MonkeyPatch
) -> Callable[[Server], Abilities]:
    """What is measured with a server; the exact posteriors are those of `moments`."""
    monkeypatch.setattr("parlour_bench.abilities.run.belief_moments", lambda *_: iter(moments))
    return partial(measured_with, folder, monkeypatch)


def measured_with(folder: Path, monkeypatch: pytest.MonkeyPatch, server: Server) -> Abilities:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with server:
        model = make_model(ModelConfig(model=server.MODEL, base_url=server.base_url, tries=1))
        return abilities(folder, "chat", model, no_progress)


@pytest.mark.slow
def test_what_a_model_answers_is_scored_and_counted(asked_at, moments):
    result = asked_at(Undecided())
    own = sum(moment.by_player for moment in moments)
    assert result.asked.questions["belief.state"].first == own
    assert result.asked.prompt == 100 * own
    assert result.deduction["chat"].loss.value == pytest.approx(np.log(2))
    assert "†" not in abilities_table(result).headings[2]


class Silent(Server):
    """A model that names no player at all, whatever the schema says."""

    def completion(self, call: Call) -> Answer:
        return Answer(self.completed({"role": "assistant", "content": '{"thoughts": "", "chances": {}}'}))


@pytest.mark.slow
def test_a_model_that_does_not_answer_has_no_figure(asked_at, moments):
    silent = asked_at(Silent())
    own = sum(moment.by_player for moment in moments)
    assert silent.asked.answers.asked == own
    assert verdict_on(silent) == f"No score: chat decided 0 of {own} moves itself."
    assert abilities_table(silent).rows[0][2] is None


# -- the command -------------------------------------------------------------------------------------------------------


def test_a_directory_without_games_of_avalon_is_refused_in_one_line(tmp_path, capsys):
    assert run(["benchmark", "abilities", str(tmp_path), "--policy", "heuristic"]) == 2
    assert capsys.readouterr().err.strip().endswith("accepted: the directory of a `parlour benchmark`")


def test_somebody_has_to_be_asked(tmp_path, error_of):
    assert "accepted: --model NAME, or --policy PLAYER" in error_of(["benchmark", "abilities", str(tmp_path)])
