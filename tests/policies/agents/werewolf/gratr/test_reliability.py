"""`gratr:parameters=FILE`: evidence weighed by what is learned; file and player."""

from __future__ import annotations

import json
from math import exp

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies import GratrAgent, make_policy
from parlour.policies.agents.werewolf.gratr.asks import StatementEvidence
from parlour.policies.agents.werewolf.gratr.equations import Parameters
from parlour.policies.agents.werewolf.gratr.evidence import (
    KINDS,
    LearnedEvidence,
    Reliabilities,
    collect,
    features,
    hypotheses,
    read_parameters,
)
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.reading import CLAIM, FOUND_DEAD, MODERATOR, NOT_WEREWOLF, ReadJudgement
from parlour.training.play.rollout import play, table
from parlour.wrappers import Recorder

NONE = (0.0,) * 4
NO_GRAPH = [0.0] * 8


def weights(claim=0.0, death=0.0, graph=0.0, **acts):
    return Reliabilities(acts={kind: acts.get(kind, NONE) for kind in KINDS}, claim=claim, death=death, graph=graph)


def evidence_of(reliabilities, *acts, rho=1.0):
    evidence = LearnedEvidence(reliabilities, rho)
    evidence.acts += acts
    return evidence


def trust(evidence, known=None, graph=NO_GRAPH, wolves=3):
    return evidence.trust(0, wolves, known or {}, graph)


# -- by worked numbers ------------------------------------------------------------------------------------------------


def test_hypotheses_are_all_sets_of_werewolves_that_agree_with_what_is_known():
    assert hypotheses(8, 0, 3, {}).shape == (35, 8)  # three of seven
    known = hypotheses(8, 0, 3, {1: True, 2: False})
    assert known.shape == (10, 8)  # two of five
    assert (known[:, :3] == [0, 1, 0]).all()
    assert hypotheses(8, 0, 3, {1: True, 2: True, 3: True})[:, 4:].sum() == 0


def test_weights_of_nothing_leave_all_others_alike():
    # three werewolves among seven others: 1 - 2 * 3/7
    assert trust(evidence_of(weights(), ("accuse", 1, 2), ("vote", 3, 1))) == pytest.approx(
        [1.0] + [1 / 7] * 7, abs=1e-6
    )


def test_an_accuser_known_to_be_of_the_village_shifts_the_odds_by_the_weight():
    # of the other six three are werewolves: even odds; accused by the village: odds e^1 for each set with player 2 against
    # each without, ten sets of each kind. P = e / (1 + e)
    evidence = evidence_of(weights(accuse=(0.0, 1.0, 0.0, 0.0)), ("accuse", 1, 2))
    trusts = trust(evidence, {1: False})
    assert trusts[2] == pytest.approx(1 - 2 * exp(1) / (1 + exp(1)), abs=1e-5)


def test_evidence_on_one_edge_decays_by_rho_whatever_its_kind():
    # Eq. 4: two accusations and a defence: the accusations count 0.5^2 + 0.5, the defence 1
    acts = [("accuse", 1, 2), ("accuse", 1, 2), ("defend", 1, 2)]
    sets = hypotheses(8, 0, 3, {1: False})
    values = features(sets, 0, NO_GRAPH, evidence_of(weights(), *acts), 0.5)
    on_wolf = sets[:, 2] == 1
    row = values[on_wolf][0]
    assert row[KINDS.index("accuse") * 4 + 1] == pytest.approx(0.75)
    assert row[KINDS.index("defend") * 4 + 1] == pytest.approx(1.0)
    assert np.count_nonzero(row) == 2
    other = values[~on_wolf][0]
    assert other[KINDS.index("accuse") * 4] == pytest.approx(0.75)


def test_an_act_towards_the_observer_is_one_towards_the_village_and_its_own_acts_count_nothing():
    sets = hypotheses(8, 0, 3, {})
    values = features(sets, 0, NO_GRAPH, evidence_of(weights(), ("vote", 3, 0), ("vote", 0, 3)), 1.0)
    vote = KINDS.index("vote") * 4
    assert (values[:, vote] == (sets[:, 3] == 0)).all()
    assert (values[:, vote + 2] == (sets[:, 3] == 1)).all()
    assert values.sum() == len(sets)


def test_claims_and_deaths_count_once_and_the_graph_s_trust_as_far_as_it_goes():
    evidence = LearnedEvidence(weights(claim=-1.0, death=-1.0), 1.0)
    said = HeardMessage(day=1, speaker=4, text="I am Seer.")
    collect(evidence, said, StatementEvidence([], [], [ReadJudgement(4, "seer", CLAIM)], 0))
    once = trust(evidence)
    collect(evidence, said, StatementEvidence([], [], [ReadJudgement(4, "seer", CLAIM)], 0))
    assert trust(evidence) == once
    assert once[4] > 1 / 7
    told, dead = HeardMessage(day=2, speaker=MODERATOR, text=""), ReadJudgement(5, NOT_WEREWOLF, FOUND_DEAD)
    for _ in range(2):
        collect(evidence, told, StatementEvidence([], [], [dead], 0))
    assert trust(evidence)[5] == trust(evidence)[4]
    assert (evidence.claims, evidence.dead) == ([4], [5])
    # trust of 0.5 at a weight of -2: the same -1
    assert trust(LearnedEvidence(weights(graph=-2.0), 1.0), graph=[0, 0, 0, 0, 0, 0, 0.5, 0])[6] == once[4]


ACTS = (("accuse", 1, 2), ("evil", 3, 4), ("defend", 5, 1), ("vote", 6, 7))
LEARNED = read_parameters("trained").reliabilities


def test_the_sum_of_chances_is_the_number_of_werewolves():
    assert sum((1 - value) / 2 for value in trust(evidence_of(LEARNED, *ACTS), {7: True})) == pytest.approx(3, abs=1e-4)


# -- the file ---------------------------------------------------------------------------------------------------------


def written(tmp_path, **parameters):
    path = tmp_path / "parameters.json"
    path.write_text(json.dumps(parameters))
    return path


def test_a_file_gives_parameters_which_settings_precede(tmp_path):
    path = written(tmp_path, parameters={"rho": 0.5, "gamma": 0.3}, reliabilities=weights(claim=-1.0).plain())
    agent = make_policy(f"gratr:parameters={path},gamma=0.2,deceit=0.5", "werewolf_v0", {})
    assert agent.chosen.parameters == Parameters(rho=0.5, gamma=0.2, mode="trained")
    assert agent.chosen.reliabilities == weights(claim=-1.0)
    assert agent.chosen.deceit == 0.5


def test_what_the_tuner_leaves_is_such_a_file_without_reliabilities(tmp_path):
    path = written(tmp_path, problem="gratr", method="optuna", parameters={"rho": 0.9, "gamma": 0.2})
    agent = make_policy(f"gratr:parameters={path}", "werewolf_v0", {})
    assert (agent.chosen.parameters, agent.chosen.reliabilities) == (Parameters(rho=0.9, gamma=0.2), None)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"parameters": {"sigma": 1}},
        {"parameters": []},
        {"parameters": {}, "reliabilities": {"acts": {}}},
        {"parameters": {}, "reliabilities": {**weights().plain(), "claim": "much"}},
        {"parameters": {}, "reliabilities": {**weights().plain(), "acts": {kind: [0, 0, 0] for kind in KINDS}}},
    ],
)
def test_other_files_are_refused(tmp_path, parameters):
    with pytest.raises(ParlourError, match="accepted"):
        make_policy(f"gratr:parameters={written(tmp_path, **parameters)}", "werewolf_v0", {})


# -- the player -------------------------------------------------------------------------------------------------------


def moves(agents, path, seed=3):
    env = Recorder(table("werewolf_v0", num_players=8, rules="paper"), path, overwrite=True)
    play(env, agents, seed)
    return path.read_bytes()


def test_it_plays_the_same_game_again_also_from_a_saved_player_and_another_one_than_without(tmp_path):
    config = table("werewolf_v0", num_players=8, rules="paper").game_env.game.config
    seated = [make_policy("gratr:parameters=trained", "werewolf_v0", config) for _ in range(8)]
    first = moves(seated, tmp_path / "a.jsonl")
    seated[0].save(tmp_path / "gratr.json")
    again = [GratrAgent.load(tmp_path / "gratr.json") for _ in range(8)]
    assert again[0].chosen == seated[0].chosen
    lines = moves(again, tmp_path / "b.jsonl").splitlines()
    assert lines[1:] == first.splitlines()[1:]
    procedure = [make_policy("gratr:mode=paper", "werewolf_v0", config) for _ in range(8)]
    assert moves(procedure, tmp_path / "c.jsonl").splitlines()[1:] != lines[1:]


# -- the plain name ---------------------------------------------------------------------------------------------------


def test_the_plain_name_plays_the_best_measured_setting_and_mode_grounded_its_graph_alone():
    plain, named = GratrAgent().chosen, make_policy("gratr", "werewolf_v0", {}).chosen
    assert plain == named == make_policy("gratr:parameters=trained", "werewolf_v0", {}).chosen
    assert plain.reliabilities == LEARNED
    procedure = make_policy("gratr:mode=grounded", "werewolf_v0", {}).chosen
    assert (procedure.parameters, procedure.reliabilities) == (Parameters(), None)


@pytest.mark.parametrize(("before", "now"), [("paper", "grounded"), ("printed", "paper"), ("trained", "trained")])
def test_a_player_saved_before_modes_were_renamed_plays_as_it_did(tmp_path, before, now):
    """Such files have every setting but `floor`; a new file keeps the mode that it names."""
    path = tmp_path / "gratr.json"
    GratrAgent(mode="paper").save(path)
    assert GratrAgent.load(path).chosen.parameters == Parameters(mode="paper")
    stored = json.loads(path.read_text("utf-8"))
    del stored["settings"]["floor"]
    stored["settings"]["mode"] = before
    path.write_text(json.dumps(stored), "utf-8")
    assert GratrAgent.load(path).chosen.parameters == Parameters(mode=now)


def test_a_parameter_alone_is_one_of_the_mode_trained():
    assert make_policy("gratr:rho=0.8", "werewolf_v0", {}).chosen.parameters == Parameters(rho=0.8, mode="trained")
