"""Abilities from recorded games: what skill, doubt and calibration are, the question beside play, and what the command refuses.

Worked numbers: a seat with two others, one of them evil; prior 0.5 for both, exact posterior 0.9 for the evil one and 0.1 for the other.
loss(prior) = log 2 = .6931, loss(exact) = -log .9 = .1054, loss(.7, .3) = -log .7 = .3567, skill = (.6931 - .3567) / (.6931 - .1054) = .5725.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from parlour.envs.avalon.belief import AvalonHabits
from parlour.policies import make_policy
from parlour.policies.agents.belief import StateBelief, StatedBelief
from parlour.policies.llm.ask import BadReply
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.model import OfflineModel
from parlour.training.cli import run
from parlour.training.measure.abilities.asked import stated_by
from parlour.training.measure.abilities.beliefs import LEAST, doubt, loss, mean_by_game, stated_scores
from parlour.training.measure.abilities.moments import BeliefMoment, belief_moments, is_players
from parlour.training.measure.abilities.persuasion import persuasion
from parlour.training.measure.abilities.run import ABILITIES, Abilities, abilities
from parlour.training.measure.abilities.table import abilities_table, verdict_on
from parlour.training.measure.abilities.worth_reading import worth_reading
from parlour.training.measure.analysis.beliefs import opening_belief
from parlour.training.measure.analysis.games import read_game
from parlour.training.measure.benchmark.played import Candidate, play_suite
from parlour.training.measure.benchmark.suite import BenchmarkTable, Suite
from parlour.training.results.pages.abilities_page import READING, write_abilities_page
from parlour.training.results.progress import no_progress
from servers import KEY, Answer, Call, Server

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


def test_log_loss_is_the_mean_of_minus_log_of_what_was_given_to_the_truth():
    """A wrong certainty costs no more than minus log of the least probability."""
    assert loss((0.7, 0.3), (True, False)) == pytest.approx(0.3567, abs=1e-4)
    assert loss((0.0, 1.0), (True, False)) == pytest.approx(-np.log(LEAST))


def test_skill_is_the_share_of_the_way_from_the_prior_to_the_exact_posterior_if_there_is_one():
    """Calibration error is the mean distance of chances and shares."""
    scores = stated_scores([ANYBODY], [(0.7, 0.3)], rng())
    assert scores.skill is not None
    assert scores.skill.value == pytest.approx(0.5725, abs=1e-4)
    assert scores.calibration == pytest.approx(0.3)
    assert stated_scores([replace(ANYBODY, exact=ANYBODY.prior)], [(0.7, 0.3)], rng()).skill is None


def test_skill_is_a_ratio_of_sums_and_a_game_is_one_case():
    other = replace(ANYBODY, game="b", exact=(0.5, 0.5))
    scores = stated_scores([ANYBODY, ANYBODY, other], [ANYBODY.exact] * 3, rng())
    assert scores.skill is not None
    assert scores.skill.value == pytest.approx(1.5)  # 3 x .5878 gained, of 2 x .5878 to be gained
    assert scores.skill.n == scores.loss.n == 2
    assert scores.moments == 3


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


def test_the_biggest_swing_and_the_worst_blunder_are_named_with_their_numbers():
    seat = replace(ANYBODY, info={"seats": 3})
    later = replace(seat, exact=(0.2, 0.1))
    elsewhere = replace(seat, game="b", exact=(0.8, 0.2))
    moments = worth_reading([], [seat, later, elsewhere], [seat.exact, later.exact, (0.1, 0.2)])
    assert [(moment.why, moment.game) for moment in moments] == [
        ("The biggest swing of a belief", "a"),
        ("The worst blunder", "b"),
    ]
    assert "player_1, who is evil: evil with 0.90 before a quest, 0.20 after it" in moments[0].what
    assert "player_1, who is evil, is evil with 0.10; the exact posterior is 0.80" in moments[1].what
    assert worth_reading([], [seat], [seat.exact]) == ()


# -- the question ------------------------------------------------------------------------------------------------------

QUESTION = StateBelief(
    who="You are player_0.", events=[], side="evil", members=2, players=["player_1", "player_2", "player_3"]
)


def test_the_question_names_the_number_of_evil_players_and_asks_for_each_of_the_others():
    assert "2 are on the side" in QUESTION.prompt()
    assert QUESTION.heuristic(rng()).chances == pytest.approx(dict.fromkeys(QUESTION.players, 2 / 3), abs=1e-3)


def test_the_schema_of_the_answer_has_a_field_for_each_of_the_others_and_no_other():
    """A server that holds a model to the schema can thus give no answer about too few players."""
    schema = QUESTION.schema_of_answer()["properties"]["chances"]
    assert schema["required"] == list(schema["properties"]) == QUESTION.players
    assert schema["additionalProperties"] is False
    assert all(part == {"type": "number", "minimum": 0, "maximum": 1} for part in schema["properties"].values())


def test_an_answer_about_too_few_players_is_refused():
    answer = StatedBelief(thoughts="", chances={"player_1": 0.5})
    with pytest.raises(BadReply, match="accepted: one for each of player_1, player_2, player_3"):
        QUESTION.read(answer.model_dump_json())


def test_the_random_player_gives_the_share_of_evil_players_to_each_of_the_others():
    policy = make_policy("random", "avalon_v0", {})
    policy.reset(1, 0)
    assert policy.state_belief({}, {"members": 2, "seats": 5}) == [0.5, 0.0, 0.5, 0.5, 0.5]


# -- recorded games ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark of the heuristic: one deal from both sides against both opponents."""
    made = tmp_path_factory.mktemp("benchmark")
    play_suite(ONE_DEAL, Candidate("heuristic"), made)
    return made


@pytest.fixture(scope="module")
def moments(folder: Path) -> list[BeliefMoment]:
    return list(belief_moments(map(read_game, sorted(folder.glob("games/*/*/*.jsonl")))))


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
        game = read_game(path)
        quests = sum(event.move.kind == "fails" for event in game.log)
        asked = [moment.seat for moment in moments if moment.game == path.stem]
        assert not game.evil & set(asked)
        assert all(asked.count(seat) <= quests for seat in set(asked))


@pytest.mark.slow
def test_the_first_claim_of_a_game_has_the_effect_of_leaving_it_out(folder):
    """Before it nothing was said, so that a listener knows what the night showed, and with the claim one piece of evidence more."""
    for path in folder.glob("games/*/*/*.jsonl"):
        game = read_game(path)
        first = next(event for event in game.log if event.move.kind in ("accuse", "defend", "recommend"))
        listeners = [seat for seat in range(game.seats) if seat not in game.evil and seat != first.seat]
        towards = []
        for seat in listeners:
            losses = []
            for said in ((), (first,)):
                belief = opening_belief(game, seat, AvalonHabits())
                for event in said:
                    belief.see(event.seat, *event.move)
                chances = np.delete(belief.evil_chance(), seat)
                losses.append(loss(chances, [other in game.evil for other in range(game.seats) if other != seat]))
            towards.append(losses[0] - losses[1])
        evil = first.seat in game.evil
        until = next(k for k, state in enumerate(game.states) if first in state.log)
        result = persuasion([replace(game, states=game.states[: until + 1])], rng())
        expected = [-gain if evil else gain for gain in towards] if is_players(game, first.seat) else []
        side = result.evil if evil else result.good
        assert (side is None) == (not expected)
        assert side is None or side.value == pytest.approx(np.mean(expected))


@pytest.mark.slow
def test_questions_leave_the_games_as_they_were(folder):
    before = {path: path.read_bytes() for path in folder.glob("games/*/*/*.jsonl")}
    measured = abilities(folder, "chat", OfflineModel(), no_progress)
    assert {path: path.read_bytes() for path in before} == before
    assert json.loads((folder / ABILITIES).read_text())["player"] == "chat"
    assert measured.deduction["chat"].loss.value == pytest.approx(measured.deduction["random"].loss.value, abs=1e-3)
    assert {moment.game for moment in measured.worth_reading} <= {path.stem for path in before}
    write_abilities_page(folder, measured, verdict_on(measured), abilities_table(measured))
    for moment in measured.worth_reading:
        assert (folder / READING / f"{moment.game}.html").exists()
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
    monkeypatch.setattr("parlour.training.measure.abilities.run.belief_moments", lambda *_: iter(moments))
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
    assert silent.asked.asked.asked == own
    assert verdict_on(silent) == f"No score: chat decided 0 of {own} moves itself."
    assert abilities_table(silent).rows[0][2] is None


# -- the command -------------------------------------------------------------------------------------------------------


def test_a_directory_without_games_of_avalon_is_refused_in_one_line(tmp_path, capsys):
    assert run(["benchmark", "abilities", str(tmp_path), "--policy", "heuristic"]) == 2
    assert capsys.readouterr().err.strip().endswith("accepted: the directory of a `parlour benchmark`")


def test_somebody_has_to_be_asked(tmp_path, error_of):
    assert "accepted: --model NAME, or --policy PLAYER" in error_of(["benchmark", "abilities", str(tmp_path)])
