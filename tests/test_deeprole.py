"""DeepRole from its paper: deals and views, the solver's known answers, deduction, value networks, training that resumes."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.envs import avalon_v0
from parlour.envs.core import ParlourError
from parlour.envs.registry import build, known
from parlour.policies import make_policy
from parlour.policies.deeprole import GAME, TABLE, public
from parlour.policies.deeprole.deals import (
    APPROVED,
    DEALS,
    EVIL,
    EVIL_VIEWS,
    MERLIN,
    SEATS,
    TEAMS,
    VIEW,
    VIEWS,
    turned,
    view_of,
)
from parlour.policies.deeprole.local_best_response import move_values
from parlour.policies.deeprole.public import Proposal, Solver
from parlour.policies.deeprole.solver import Leaves, Solution, evil_wins, guess, solve
from parlour.policies.deeprole.values import STANDINGS, Standing, ValueNetwork, ValueNetworks
from parlour.training.play import rollout, seeds

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
    often than servants do, the Assassin names the leader, and good wins with a servant alone: 3/5 * 2/3 * 1/6 = 1/15."""
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


# -- best response within a proposal ---------------------------------------------------------------------------------


def test_a_servant_that_leads_among_even_play_takes_a_team_with_itself_and_approves():
    """A servant in 24 of 60 deals. With seats 1 and 2 there is no evil member in 1 of 6 pairs, one in 4, two in 1: a success has
    1/6 + 4/6 / 2 + 1/6 / 4 = 13/24, then the guess 2/3. The team goes with two of four others' votes, 11/16, else with three, 5/16.
    A team without itself succeeds with 3/6 / 4 + 3/6 / 2 = 3/8."""
    values = move_values(EVEN, even_solution(EVEN, 3, LAST, 1), LAST, 0.05, seat=0, view=0)
    own, other = TEAMS[3].tolist().index([0, 1, 2]), TEAMS[3].tolist().index([1, 2, 3])
    np.testing.assert_allclose(values.ballots[own], 0.4 * np.array([5, 11]) / 16 * 13 / 24 * 2 / 3)
    assert values.teams[own] == pytest.approx(0.4 * 11 / 16 * 13 / 24 * 2 / 3)
    assert values.teams[other] == pytest.approx(0.4 * 11 / 16 * 3 / 8 * 2 / 3)


def test_an_assassin_whose_third_fail_wins_fails_whatever_its_minion_does():
    """Assassin at seat 1, Minion at 2 (3 of 60 deals), seat 0 leads {0, 1, 2} (1/10), the four others approve (1/16). A fail wins;
    after a success the Minion's fail wins (1/2) or the guess (1/3): 1/2 + 1/6."""
    values = move_values(EVEN, even_solution(EVEN, 3, LAST, 1), LAST, 0.05, seat=1, view=view_of(1, (0, 1, 2)))
    all_approve = APPROVED.tolist().index(list(ALL))
    np.testing.assert_allclose(values.cards[0, all_approve], 3 / 60 / 10 / 16 * np.array([2 / 3, 1]))


@pytest.mark.slow
def test_no_seat_gains_much_against_a_solved_proposal_and_none_loses():
    """The strategies of CFR+ tend to an equilibrium: at the last proposal, 100 iterations, at most 0.01 of a game."""
    solution = solve(EVEN, 3, LAST, 100)
    for seat in range(SEATS):
        gain = 0.0
        for view in range(VIEWS):
            values, own = move_values(EVEN, solution, LAST, 0.0, seat, view), EVEN * (VIEW[seat] == view)
            best = values.teams.max() if seat == 0 else values.ballots.max(axis=1).sum()
            wins = own @ solution.values
            gain += best - (own.sum() - wins if view >= EVIL_VIEWS else wins)
        assert -0.001 < gain < 0.01


# -- beliefs ---------------------------------------------------------------------------------------------------------


def pair_shares(belief) -> dict[tuple[int, ...], float]:
    shares: dict[tuple[int, ...], float] = {}
    for deal, share in zip(DEALS, belief.tolist(), strict=True):
        pair = tuple(sorted(deal[1:]))
        shares[pair] = shares.get(pair, 0.0) + share
    return shares


def test_one_fail_of_a_team_of_two_leaves_the_seven_pairs_that_have_a_member_on_it(monkeypatch):
    """All play evenly, so one evil member fails once with 1/2, and two evil members fail once with 1/2: 1/7 for each pair. Seats
    0 and 1 of the old leader are seats 4 and 0 of the next one."""
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
    So the pairs with seat 1 (4 of 10) weigh (0.95 / 0.05)^2 = 361 to 1: their share is 4 * 361 / (4 * 361 + 6) = 0.99586."""

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
@pytest.mark.parametrize("best_response", ["no", "yes"])
def test_it_plays_whole_games_and_a_seed_gives_the_same_game(tmp_path, best_response):
    networks().save(tmp_path / "deeprole.npz")
    name = f"deeprole:{tmp_path / 'deeprole.npz'},iterations=3,best_response={best_response}"
    env = rollout.table(GAME, **TABLE)
    config = env.unwrapped.game.config
    played = [
        rollout.play(env, [make_policy(name, GAME, config) for _ in range(SEATS)], seeds.TRAINING[k % 2])
        for k in range(4)
    ]
    assert [game.outcome for game in played[:2]] == [game.outcome for game in played[2:]]
    assert all(game.outcome.winner in ("good", "evil") for game in played)


def test_a_best_response_makes_its_best_moves_evenly_and_no_other(tmp_path):
    """Teams, votes and cards; DeepRole mixes instead."""
    networks().save(tmp_path / "deeprole.npz")
    env = avalon_v0.env(info="full", **TABLE)
    name, config = f"deeprole:{tmp_path / 'deeprole.npz'},iterations=3,best_response=yes", env.unwrapped.game.config
    players = [make_policy(name, GAME, config) for _ in range(SEATS)]
    env.reset(seed=seeds.TRAINING[0])
    for agent in env.agent_iter(40):
        *_, over, _, info = env.last()
        if over:
            break
        chances = players[env.possible_agents.index(agent)].chances(info["view"])
        np.testing.assert_allclose(chances[chances > 0], chances.max())
        env.step(info["legal"][int(chances.argmax())])


@pytest.mark.parametrize(
    ("options", "names", "message"),
    [
        ({**TABLE, "talk": True}, "deeprole:{}", "deeprole plays avalon_v0 with .* and cannot play"),
        (TABLE, "deeprole", "deeprole needs a file; accepted: deeprole:DIR/deeprole.npz"),
        (TABLE, "deeprole:{}.none", "there is no policy file"),
        (TABLE, "deeprole:{},slip=2", "slip '2' is not accepted"),
        (TABLE, "deeprole:{},best_response=1", "best_response '1' is not accepted; accepted: yes, no"),
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
    from parlour.training.learn.deeprole.run import draw_belief

    drawn = np.array([draw_belief(at, np.random.default_rng(k)) for k in range(20)])
    np.testing.assert_allclose(drawn.sum(axis=1), 1, rtol=1e-5)
    assert ((drawn == 0).any(axis=1)).all() == (at.fails > 0)


@pytest.mark.slow
def test_a_fitted_network_knows_a_value_that_follows_from_the_belief():
    """Good wins in a deal where Merlin is not seat 0 (1), else not (0): a constant for each deal, whatever the belief."""
    pytest.importorskip("torch")
    from parlour.training.learn.deeprole.config import DeepRoleConfig
    from parlour.training.learn.deeprole.run import error, fit

    rng = np.random.default_rng(0)
    beliefs = rng.dirichlet(np.ones(60), size=200).astype(np.float32)
    values = np.tile(MERLIN == 0, (200, 1)).astype(np.float32)
    network = fit(beliefs[20:], values[20:], DeepRoleConfig(hidden=16, fit_steps=300))
    assert error(network, beliefs[:20], values[:20]) < 0.01


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_bytes(tmp_path):
    pytest.importorskip("torch")
    from parlour.training.learn.deeprole.config import DeepRoleConfig
    from parlour.training.learn.deeprole.run import PLAYER, learn

    config = DeepRoleConfig(points=10, iterations=3, hidden=4, fit_steps=2)

    def killed(_stage, done, _note=""):
        if done == 7:
            raise KeyboardInterrupt

    learn(config, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        learn(config, tmp_path / "killed", killed)
    assert not (tmp_path / "killed" / PLAYER).exists()
    learn(config, tmp_path / "killed")
    for name in (PLAYER, "progress.csv"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
