"""DeepRole from its paper: deals and views, the solver's known answers, deduction, value networks, training that resumes."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.envs.registry import build, known
from parlour.policies import make_policy
from parlour.training.play import rollout, seeds
from parlour.training.runs.run import Run
from parlour_deeprole import public
from parlour_deeprole.config import GAME
from parlour_deeprole.deals import (
    DEALS,
    EVIL,
    MERLIN,
    SEATS,
    VIEW,
    VIEWS,
    turned,
)
from parlour_deeprole.player import TABLE
from parlour_deeprole.public import Proposal, Solver
from parlour_deeprole.solver import Leaves, Solution, evil_wins, guess, solve
from parlour_deeprole.values import STANDINGS, Standing, ValueNetwork, ValueNetworks

LAST = Leaves(rejected=evil_wins, succeeded=guess, failed=evil_wins)
"""After the fifth proposal of the fifth quest, at two successes and two fails."""
EVEN = np.full(60, 1 / 60, np.float32)
ALL = (1, 1, 1, 1, 1)


def network(rng: np.random.Generator, hidden: int = 4) -> ValueNetwork:
    sizes = (60, hidden), (hidden, hidden), (hidden, 60)
    return ValueNetwork(
        tuple((rng.normal(size=(a, b)).astype(np.float32), rng.normal(size=b).astype(np.float32)) for a, b in sizes)
    )


def networks() -> ValueNetworks:
    rng = np.random.default_rng(0)
    return ValueNetworks({at: network(rng) for at in STANDINGS[:-1]})


def even_solution(belief, size, leaves, iterations):
    return Solution(
        np.full((15, 10), 0.1), np.full((10, 5, 15), 0.5), np.full((10, 16, size, 15), 0.5), np.full(60, 0.5)
    )


def on(merlins: dict[int, float]) -> np.ndarray:
    """A belief by Merlin's seat, where everybody knows that seat 3 is the Assassin and seat 4 the Minion."""
    belief = np.zeros(60, np.float32)
    for seat, share in merlins.items():
        belief[DEALS.index((seat, 3, 4))] = share
    return belief


# -- deals -----------------------------------------------------------------------------------------------------------


def test_there_are_60_deals_and_15_views_of_a_seat():
    """5 x 4 x 3 deals. A seat is a servant in 24; Merlin in 12, two for each of 6 pairs; evil in 24, three for each view."""
    assert len(DEALS) == 60
    for seat in range(SEATS):
        assert np.bincount(VIEW[seat], minlength=VIEWS).tolist() == [24, *[2] * 6, *[3] * 8]


def test_there_is_a_network_for_each_number_of_successes_fails_and_rejections_and_leaves_come_first():
    """3 x 3 x 5 standings; the last one learned is the first proposal."""
    assert len(set(STANDINGS)) == 45
    assert STANDINGS[0] == (2, 2, 4)
    assert STANDINGS[-1] == (0, 0, 0)
    for number, (good, evil, rejections) in enumerate(STANDINGS):
        after = {(good + 1, evil, 0), (good, evil + 1, 0), (good, evil, rejections + 1)} & set(STANDINGS)
        assert after <= set(STANDINGS[:number])


def test_a_network_in_the_frame_of_the_leader_before_says_the_same():
    rng = np.random.default_rng(1)
    own, belief, to = network(rng), rng.dirichlet(np.ones(60)).astype(np.float32)[None], turned(1)
    np.testing.assert_allclose(own.for_next_leader()(belief)[:, to], own(belief[:, to]), rtol=1e-5)


# -- solver ----------------------------------------------------------------------------------------------------------


def test_the_assassin_names_the_likeliest_merlin_and_each_as_often_where_they_are_level():
    """Merlin is seat 0 with 0.5, 1 with 0.3, 2 with 0.2: good wins where he is 1 or 2. Level: in two of three guesses."""
    values = guess(np.array([on({0: 0.5, 1: 0.3, 2: 0.2}), EVEN]))
    assert [values[0, DEALS.index((seat, 3, 4))] for seat in range(3)] == [0, 1, 1]
    np.testing.assert_allclose(values[1], 2 / 3, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("merlins", "good_wins"), [({0: 1, 1: 1, 2: 1}, 2 / 3), ({0: 0.5, 1: 0.3, 2: 0.2}, 1 / 2)])
def test_where_all_know_who_is_evil_good_sends_its_own_team_and_the_guess_decides(merlins, good_wins):
    """Seats 0, 1 and 2 go and succeed; the Assassin is right with the largest share, 1/3 or 1/2."""
    belief = on(merlins) / sum(merlins.values())
    solution = solve(belief, 3, LAST, 200)
    assert solution.teams[0, 0] > 0.97  # a servant; Merlin has nothing to lose where he is named anyway
    assert belief @ solution.values == pytest.approx(good_wins, abs=0.03)


@pytest.mark.slow
def test_at_the_last_proposal_where_nobody_has_shown_anything_good_wins_one_game_in_fifteen():
    """3/5: a good leader. A servant finds the other two good seats among 6 teams: 1/6. Merlin would always; but if he does so more
    often than servants do, the Assassin names the leader, and good wins with a servant alone: 3/5 * 2/3 * 1/6 = 1/15.
    """
    solution = solve(EVEN, 3, LAST, 100)
    assert EVEN @ solution.values == pytest.approx(1 / 15, abs=0.002)


@pytest.mark.slow
def test_seats_that_nothing_distinguishes_have_the_same_value_whoever_is_named_first():
    """Zero-sum for the sides: one probability for both. By symmetry it is that of any deal with another order of seats 1 to 4."""
    values = solve(EVEN, 3, LAST, 100).values
    for leader in ("merlin", "assassin", "minion", "servant"):
        place = {"merlin": 0, "assassin": 1, "minion": 2}.get(leader)
        same = [k for k, deal in enumerate(DEALS) if (deal.index(0) if 0 in deal else None) == place]
        assert np.ptp(values[same]) < 1e-4


# -- beliefs ---------------------------------------------------------------------------------------------------------


def pair_shares(belief) -> dict[tuple[int, ...], float]:
    shares: dict[tuple[int, ...], float] = {}
    for deal, share in zip(DEALS, belief.tolist(), strict=True):
        pair = tuple(sorted(deal[1:]))
        shares[pair] = shares.get(pair, 0.0) + share
    return shares


def test_one_fail_of_a_team_of_two_leaves_the_seven_pairs_that_have_a_member_on_it(monkeypatch):
    """All play evenly, so one evil member fails once with 1/2, and two evil members fail once with 1/2: 1/7 for each pair. Seats
    0 and 1 of the old leader are seats 4 and 0 of the next one.
    """
    monkeypatch.setattr(public, "solve", even_solution)
    shares = pair_shares(Solver(networks(), 3, 0.05).belief((Proposal(0, ALL, 1),)))
    for pair, share in shares.items():
        assert share == pytest.approx(1 / 7 if {4, 0} & set(pair) else 0, abs=1e-6)


def test_two_fails_show_both_members_and_their_failing_says_nothing_about_merlin(monkeypatch):
    """Left are 2 orders of the evil pair times 3 seats for Merlin."""
    monkeypatch.setattr(public, "solve", even_solution)
    belief = Solver(networks(), 3, 0.05).belief((Proposal(0, ALL, 2),))
    assert pair_shares(belief)[0, 4] == pytest.approx(1)
    np.testing.assert_allclose(belief[belief > 0], [1 / 6] * 6, rtol=1e-5)


def test_a_vote_that_only_evil_gives_shows_evil_up_to_the_slip(monkeypatch):
    """Evil alone rejects, and all but seat 1 approve; slip 0.1. A rejection has 0.95 from evil and 0.05 from good. Where seat 1 is
    evil, one evil seat approved (0.05) and three good ones (0.95): 0.95 * 0.05 * 0.95^3; where it is good: 0.05 * 0.05^2 * 0.95^2.
    So the pairs with seat 1 (4 of 10) weigh (0.95 / 0.05)^2 = 361 to 1: their share is 4 * 361 / (4 * 361 + 6) = 0.99586.
    """

    def solution(belief, size, leaves, iterations):
        even = even_solution(belief, size, leaves, iterations)
        even.approvals[:] = np.arange(15) < 7
        return even

    monkeypatch.setattr(public, "solve", solution)
    belief = Solver(networks(), 3, 0.1).belief((Proposal(0, (1, 0, 1, 1, 1), 0),))
    unfailed = belief / np.array([1, 0.5, 0.25])[EVIL[[4, 0]].sum(axis=0)]  # both members may have been evil
    shares = pair_shares(unfailed / unfailed.sum())
    assert sum(share for pair, share in shares.items() if 0 in pair) == pytest.approx(0.99586, abs=1e-5)


# -- player ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_plays_whole_games_and_a_seed_gives_the_same_game(tmp_path):
    networks().save(tmp_path / "deeprole.npz")
    name = f"deeprole:{tmp_path / 'deeprole.npz'},iterations=3"
    env = rollout.table(GAME, **TABLE)
    config = env.unwrapped.game.config
    played = [
        rollout.play(env, [make_policy(name, GAME, config) for _ in range(SEATS)], seeds.TRAINING[k % 2])
        for k in range(4)
    ]
    assert [game.outcome for game in played[:2]] == [game.outcome for game in played[2:]]
    assert all(game.outcome.winner in ("good", "evil") for game in played)


@pytest.mark.parametrize(
    ("options", "names", "message"),
    [
        ({**TABLE, "talk": True}, "deeprole:{}", "deeprole plays avalon_v0 with .* and cannot play"),
        (TABLE, "deeprole", "file is missing"),
        (TABLE, "deeprole:{}.none", "there is no policy file"),
        (TABLE, "deeprole:{},slip=2", "slip 2.0 is not accepted"),
    ],
)
def test_another_table_or_setting_is_refused_in_one_line(tmp_path, options, names, message):
    networks().save(tmp_path / "deeprole.npz")
    with pytest.raises(ParlourError, match=message):
        make_policy(names.format(tmp_path / "deeprole.npz"), GAME, build(known(GAME).spec, options).config)


def test_the_networks_of_an_unfinished_run_are_refused(tmp_path):
    some = dict(list(networks().networks.items())[:3])
    ValueNetworks(some).save(tmp_path / "half.npz")
    with pytest.raises(ParlourError, match="has 3 value networks; accepted: all 44"):
        make_policy(f"deeprole:{tmp_path / 'half.npz'}", GAME, build(known(GAME).spec, TABLE).config)


def test_networks_are_read_as_they_were_written(tmp_path):
    before = networks()
    before.save(tmp_path / "a.npz")
    ValueNetworks.load(tmp_path / "a.npz").save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


# -- training --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [Standing(2, 2, 0), Standing(0, 2, 3), Standing(0, 0, 1)])
def test_drawn_beliefs_sum_to_one_and_two_failed_quests_leave_no_trust_in_all(at):
    pytest.importorskip("torch")
    from parlour_deeprole.run import draw_belief

    drawn = np.array([draw_belief(at, np.random.default_rng(k)) for k in range(20)])
    np.testing.assert_allclose(drawn.sum(axis=1), 1, rtol=1e-5)
    assert ((drawn == 0).any(axis=1)).all() == (at.fails > 0)


@pytest.mark.slow
def test_a_fitted_network_knows_a_value_that_follows_from_the_belief():
    """Good wins in a deal where Merlin is not seat 0 (1), else not (0): a constant for each deal, whatever the belief."""
    pytest.importorskip("torch")
    from parlour_deeprole.config import DeepRoleConfig
    from parlour_deeprole.run import error, fit

    rng = np.random.default_rng(0)
    beliefs = rng.dirichlet(np.ones(60), size=200).astype(np.float32)
    values = np.tile(MERLIN == 0, (200, 1)).astype(np.float32)
    network = fit(beliefs[20:], values[20:], DeepRoleConfig(hidden=16, fit_steps=300))
    assert error(network, beliefs[:20], values[:20]) < 0.01


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_bytes(tmp_path):
    pytest.importorskip("torch")
    from parlour_deeprole.config import DeepRoleConfig
    from parlour_deeprole.run import PLAYER, learn

    config = DeepRoleConfig(points=10, iterations=3, hidden=4, fit_steps=2)

    def killed(_stage, done, _note=""):
        if done == 7:
            raise KeyboardInterrupt

    learn(config, Run(tmp_path / "whole"))
    with pytest.raises(KeyboardInterrupt):
        learn(config, Run(tmp_path / "killed", killed))
    assert not (tmp_path / "killed" / PLAYER).exists()
    learn(config, Run(tmp_path / "killed"))
    for name in (PLAYER, "progress.csv"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
