"""Modules that follow advice or do not, and whether it would pay them (policies/agents/mediated_qa/mediator.py, private_costs.py)."""

from __future__ import annotations

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.vocabulary import ALL, ANSWERED_RIGHT, ANSWERED_WRONG, KEPT_SILENT, Payment
from parlour.policies import ObedientModule, make_policy
from parlour.policies.agents.mediated_qa import PolicyTable, policy_file
from parlour.policies.agents.mediated_qa.joint import PUBLISHED
from parlour.training.cli import run
from parlour.training.learn.mediators.calibrated_run import CalibratedRun, private_obedience
from parlour.training.learn.mediators.experiment import HeldOutConfig
from parlour.training.learn.mediators.simulate import Simulated

STATE = "T:mid_Q:mid"
DEEP = PUBLISHED[4]  # retrieve_deep, generate, skip_check


PUBLISHED_COSTS = Payment().costs


def calibrated(tmp_path, costs=PUBLISHED_COSTS, deep_right=5, shallow_right=4, n=10):
    """A run of one state: of n questions the deep answer is right on so many, the shallow one on so many."""
    rows = []
    for k in range(n):
        outcomes = [KEPT_SILENT] * len(ALL)
        outcomes[4] = ANSWERED_RIGHT if k < deep_right else ANSWERED_WRONG
        outcomes[1] = ANSWERED_RIGHT if k < shallow_right else ANSWERED_WRONG
        bare = Simulated(k, STATE, (0.0,) * len(ALL), tuple(outcomes))
        rows.append(Simulated(k, STATE, bare.net(Payment(costs=costs)), tuple(outcomes)))
    config = HeldOutConfig(train=n, held_out=n, costs=costs)
    return CalibratedRun(tmp_path, config, tuple(rows), tuple(rows), None)


@pytest.mark.parametrize(("deep", "share"), [(3, 0.125), (9, 0.5)])
def test_a_retriever_saves_its_cost_where_its_share_is_small(tmp_path, deep, share):
    # deep is right on 5 of 10, shallow on 4: (5 * 120 - 5 * 40) / 10 = 40 against (4 * 120 - 6 * 40) / 10 = 24, which is 16 more.
    # The retriever pays deep - 1 more for deep: it follows while 16 * share >= deep - 1, from share 1/8 at 3 and 1/2 at 9
    read = calibrated(tmp_path, (1.0, deep, 0.0, 2.0, 5.0, 2.0, 0.0, 4.0, 0.0))
    policy = PolicyTable({STATE: {DEEP: 1.0}})
    (above, _, below, _), _ = private_obedience(read, policy, (share + 0.005, share - 0.005))
    assert (above.follows[0], above.regrets[0], below.follows[0]) == (1.0, 0.0, 0.0)
    assert below.regrets[0] == pytest.approx(deep - 1 - (share - 0.005) * 16)
    # 40 less the costs of deep and generate 2
    assert above.utility.value == below.utility.value == 40 - deep - 2


def test_a_correlated_equilibrium_is_followed_by_all_and_earns_no_more(tmp_path):
    run_of_one = calibrated(tmp_path)
    best = PolicyTable({STATE: {DEEP: 1.0}})
    rows, equilibria = private_obedience(run_of_one, best, (1.0, 0.05, 0.001))
    for as_it_is, obeyed in zip(rows[::2], rows[1::2], strict=True):
        assert obeyed.follows == pytest.approx((1.0, 1.0, 1.0))
        assert obeyed.regrets == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)
        assert obeyed.utility.value <= as_it_is.utility.value + 1e-9
    assert equilibria[1.0].rows[STATE][DEEP] == pytest.approx(1.0)
    assert equilibria[0.001].rows[STATE].get(DEEP, 0.0) == pytest.approx(0.0)


@pytest.mark.parametrize("share", [0.0, 1.1, -1.0])
def test_a_share_is_above_0_up_to_1(tmp_path, share):
    with pytest.raises(ParlourError, match=f"share {share} is not accepted"):
        private_obedience(calibrated(tmp_path), PolicyTable({STATE: {DEEP: 1.0}}), (share,))


def test_the_command_compares_the_policy_with_equilibria_and_stores_them(tmp_path, capsys, output_of, json_of):
    words = ["train", "grace", "--questions", "60", "--held-out", "30", "--temperature", "0.7", "--floor", "0.02"]
    output_of([*words, "--out", str(tmp_path / "run")])
    output = json_of(
        ["grace", "obey", str(tmp_path / "run"), "--share", "1,0.05", "--out", str(tmp_path / "made"), "--json"]
    )
    assert [row["share"] for row in output] == [1, 1, 0.05, 0.05]
    assert output[0]["utility"] == output[2]["utility"]
    assert min(output[3]["follows"]) == pytest.approx(1.0)
    assert sum(output[2]["regrets"]) > sum(output[3]["regrets"])
    assert policy_file.read(tmp_path / "made" / "policy-share0.05.json").thresholds
    assert "verifier follows" in " ".join(output_of(["grace", "obey", str(tmp_path / "run")]).split())
    assert run(["grace", "obey", str(tmp_path / "run"), "--share", "much"]) == 2


# -- the player ------------------------------------------------------------------------------------------------


def test_modules_obey_at_the_table_as_often_as_they_are_told(json_of):
    seats = [f"{name}=obedient:obedience=0.5" for name in ("retriever", "generator")]
    words = ["play", "mediated_qa_v0", "--policy", "heuristic", "--games", "2", "--set", "questions=20", "--json"]
    for seat in (*seats, "verifier=obedient"):
        words += ["--policy", seat]
    assert [load["players"]["verifier"]["player"] for load in json_of(words)] == ["obedient"] * 2


def test_obedience_is_a_number_from_0_to_1(tmp_path):
    for words in ("obedient:obedience=2", "obedient:obedience=often", "obedient:share=1"):
        with pytest.raises(ParlourError, match="accepted"):
            make_policy(words, "mediated_qa_v0", {})
    player = make_policy("obedient:obedience=0.25", "mediated_qa_v0", {})
    player.save(tmp_path / "player.json")
    assert ObedientModule.load(tmp_path / "player.json").chosen.obedience == 0.25


def test_it_is_no_mediator(error_of):
    assert "the seats retriever, generator and verifier" in error_of(["play", "mediated_qa_v0", "--policy", "obedient"])
