"""Evaluation: intervals and tests against known values; the designs of `parlour.training.measure.evaluate`."""

from __future__ import annotations

import pytest
from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.policies import HeuristicPolicy, RandomPolicy
from parlour.training.measure import evaluate
from parlour.training.play import rollout, seeds
from parlour.training.play.runner import GameRunner
from parlour.training.statistics import Estimate
from scipy.stats import norm


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998 (Statistics in Medicine 17, p. 861), method 3
        (0, 20, 0.0, 0.1611),  # upper limit z^2 / (n + z^2) = 3.8415 / 23.8415
    ],
)
def test_wilson_interval_of_the_textbook_and_at_the_edge(hits, n, low, high):
    estimate = Estimate.rate(hits, n)
    assert estimate is not None
    assert (round(estimate.low, 4), round(estimate.high, 4)) == (low, high)
    assert Estimate.rate(0, 0) is None


def test_the_test_of_a_paired_difference_is_that_of_its_interval():
    a = [True] * 9 + [False] * 1 + [True] * 40
    b = [False] * 9 + [True] * 1 + [True] * 40
    estimate = Estimate.paired(a, b)
    # 10/52 - 2/52 = 0.153846; sqrt((12/52 - 0.153846^2) / 52) = 0.063110: 2.4377 standard errors
    assert (estimate.only_a, estimate.only_b, estimate.n) == (9, 1, 50)
    assert estimate.p == pytest.approx(2 * norm.sf(2.4377), abs=1e-5)
    assert estimate.value == pytest.approx(0.16)
    assert estimate.low < estimate.value < estimate.high


def test_paired_difference_is_antisymmetric_and_null_for_equals():
    a, b = [True, False, True, True], [False, False, True, False]
    ab, ba = Estimate.paired(a, b), Estimate.paired(b, a)
    assert (ab.value, ab.low, ab.high) == (-ba.value, pytest.approx(-ba.high), pytest.approx(-ba.low))
    same = Estimate.paired(a, a)
    assert (same.value, same.p) == (0.0, 1.0)
    assert same.low < 0 < same.high
    with pytest.raises(ValueError, match="same length"):
        Estimate.paired([True], [])


@pytest.fixture
def env():
    return rollout.table("avalon_v0", num_players=5, rules="official")


def test_candidates_take_the_same_seat_of_the_same_deal_and_one_never_differs_from_itself(env):
    candidates = {"a": RandomPolicy, "b": HeuristicPolicy, "c": RandomPolicy}
    report = evaluate.single(env, candidates, ("heuristic", HeuristicPolicy), seeds.HELD_OUT[:20])
    rows = {name: [row for row in report.games if row.policy == name] for name in candidates}
    for x, y in zip(rows["a"], rows["b"], strict=True):
        assert (x.seed, x.seat, x.role, x.side) == (y.seed, y.seat, y.role, y.side)
    assert [row.seat for row in rows["a"]] == [0, 1, 2, 3, 4] * 4
    results = {(compared.a, compared.b): compared.result for compared in report.comparisons if compared.side == "all"}
    assert results["a", "b"].n == 20
    assert (results["a", "c"].only_a, results["a", "c"].only_b) == (0, 0)


def test_sides_are_changed_over_on_the_same_deal_and_a_heuristic_team_beats_a_random_one_from_either(env):
    deals = seeds.VALIDATION[:60]
    report = evaluate.team(env, ("heuristic", HeuristicPolicy), ("random", RandomPolicy), deals)
    rule = [row for row in report.games if row.policy == "heuristic"]
    assert [(row.seed, row.side) for row in rule] == [(seed, side) for seed in deals for side in ("good", "evil")]
    for row in report.games:
        (other,) = [o for o in report.games if o.seed == row.seed and o.policy != row.policy and o.side != row.side]
        assert row.won != other.won
    by_side = {comparison.side: comparison.result for comparison in report.comparisons}
    assert by_side["good"].low > 0
    assert by_side["evil"].low > 0


def test_unusable_designs_are_refused(env):
    with pytest.raises(ParlourError, match="two different names"):
        evaluate.team(env, ("heuristic", HeuristicPolicy), ("heuristic", HeuristicPolicy), [0])
    with pytest.raises(ParlourError, match=r"seat 7 is not accepted; accepted: 0\.\.4"):
        evaluate.single(env, {"a": RandomPolicy}, ("heuristic", HeuristicPolicy), [0], own=7)
    one_question = rollout.table("mediated_qa_v0")
    with pytest.raises(ParlourError, match="no sides"):
        evaluate.team(one_question, ("heuristic", HeuristicPolicy), ("random", RandomPolicy), [0])


def test_transcripts_of_an_evaluation_tell_who_played(env, tmp_path):
    evaluate.single(
        env,
        {"a/b.npz": RandomPolicy, "c/b.npz": RandomPolicy},
        ("heuristic", HeuristicPolicy),
        [7, 8],
        GameRunner(out=tmp_path / "seat"),
    )
    evaluate.team(env, ("x", RandomPolicy), ("y", HeuristicPolicy), [7], GameRunner(out=tmp_path / "sides"))
    heads = {path.name: replay.Transcript.read(path).header for path in tmp_path.glob("seat/*.jsonl")}
    # deal by deal: both players on deal 7, then both on deal 8
    assert sorted(heads) == [f"game-{number:03}.jsonl" for number in (1, 2, 3, 4)]
    second = heads["game-004.jsonl"]
    assert (second["seed"], list(second["players"].values())) == (
        8,
        ["heuristic", "c/b.npz", "heuristic", "heuristic", "heuristic"],
    )
    good = replay.Transcript.read(tmp_path / "sides" / "game-001.jsonl")
    game = good.game()
    for seat, name in enumerate(good.header["players"].values()):
        side = game.view(list(replay.states(game, good.moves))[-1], seat).side
        assert name == {"good": "x", "evil": "y"}[side]


def test_seeds_for_learning_choosing_and_measuring_never_meet():
    assert seeds.TRAINING.stop <= seeds.VALIDATION.start
    assert seeds.VALIDATION.stop <= seeds.HELD_OUT.start


def test_one_policy_cannot_sit_at_two_seats(env):
    policy = RandomPolicy()
    with pytest.raises(ParlourError, match="two seats"):
        rollout.play(env, [policy] * 5, 0)
    with pytest.raises(ParlourError, match="one for each of 5 seats"):
        rollout.play(env, [RandomPolicy(), RandomPolicy()], 0)
    with pytest.raises(ParlourError, match="player_4"):
        rollout.play(env, {"player_9": RandomPolicy()}, 0)
