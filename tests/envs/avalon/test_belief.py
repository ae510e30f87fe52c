"""The heuristic's inference is exact (`parlour.envs.avalon.belief`), and its players beat random ones.

The known answer: Bayes' rule written down plainly, over every different way to deal the roles to the seats, with the
probabilities that the fields of `AvalonHabits` state. A seat's own moves are no evidence to it: it knows why it made them.
"""

from __future__ import annotations

from itertools import permutations
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs import registry
from parlour.envs.avalon.belief import AvalonBelief, AvalonHabits
from parlour.envs.core import Move
from parlour.policies import HeuristicPolicy, RandomPolicy
from parlour.policies.heuristic.avalon import AvalonPlayer
from parlour.training.measure import evaluate
from parlour.training.play.rollout import table

EVIL = {"Morgana", "Assassin", "Mordred", "Oberon", "Minion"}
KNOWS_FELLOWS = EVIL - {"Oberon"}
HABITS = AvalonHabits()
ODD_HABITS = AvalonHabits(
    approve_blind=0.3, fail=0.6, good_fails=0.1, evil_on_own_team=0.7, accuse_evil=0.8, defend_evil=0.4
)
TABLES: dict[str, dict[str, Any]] = {
    "five": {"num_players": 5},
    "six": {"num_players": 6},
    "six, good may fail": {"num_players": 6, "rules": "reference"},
    "six without Percival": {"num_players": 6, "roles": ["Merlin", *["Loyal Servant"] * 3, "Mordred", "Assassin"]},
    "six with Oberon": {
        "num_players": 6,
        "roles": ["Merlin", "Percival", *["Loyal Servant"] * 2, "Oberon", "Assassin"],
    },
}


# -- the known answer ------------------------------------------------------------------------------------------


def night(deal: tuple[str, ...], seat: int) -> set[int]:
    """Whom a seat is shown (rule sheet)."""
    shown = {
        "Merlin": EVIL - {"Mordred"},
        "Percival": {"Merlin", "Morgana"},
        **dict.fromkeys(KNOWS_FELLOWS, KNOWS_FELLOWS),
    }
    return {j for j, role in enumerate(deal) if j != seat and role in shown.get(deal[seat], set())}


def possible(deal: tuple[str, ...], seat: int) -> list[tuple[str, ...]]:
    """All deals that the seat cannot rule out; for an onlooker, -1, all deals."""
    everything = sorted(set(permutations(deal)))
    if seat < 0:
        return everything
    return [d for d in everything if d[seat] == deal[seat] and night(d, seat) == night(deal, seat)]


def chance(deal: tuple[str, ...], me: int, evidence: tuple[Any, ...], h: AvalonHabits) -> float:
    """How likely the evidence is on this deal."""
    kind, *args = evidence
    evil = [role in EVIL for role in deal]
    if kind == "team":
        leader, team = args
        return 1.0 if leader == me else _team_chance(deal, leader, any(evil[j] for j in team), len(team), h)
    if kind == "votes":
        team, votes = args
        dirty = any(evil[j] for j in team)
        return float(np.prod([_vote_chance(deal[j], dirty, vote, h) for j, vote in enumerate(votes) if j != me]))
    if kind == "cards":
        team, fails, own = args
        others = [j for j in team if j != me or own is None]
        fails -= own == 0
        return max(_cards_chance([evil[j] for j in others], fails, h), 1e-12)
    if kind in ("accuse", "defend"):
        speaker, target = args
        if speaker in (me, target):
            return 1.0
        rates = {"accuse": (h.accuse_evil, h.evil_accuses_evil), "defend": (h.defend_evil, h.evil_defends_evil)}[kind]
        hits = rates[evil[speaker]]
        return hits if evil[target] else 1 - hits
    assassin, named, right = args
    return float(deal[assassin] == "Assassin" and (deal[named] == "Merlin") == right)


def _team_chance(deal: tuple[str, ...], leader: int, dirty: bool, size: int, h: AvalonHabits) -> float:
    if deal[leader] in EVIL:
        return h.evil_on_own_team if dirty else 1 - h.evil_on_own_team
    if deal[leader] == "Merlin":
        return 1 - h.clean_team_merlin if dirty else h.clean_team_merlin
    good = sum(role not in EVIL for role in deal)
    by_chance = 0.8 * (1 - comb(good, size) / comb(len(deal), size))
    return by_chance if dirty else 1 - by_chance


def _vote_chance(role: str, dirty: bool, vote: int, h: AvalonHabits) -> float:
    if role in KNOWS_FELLOWS:
        approves = h.approve_dirty_evil if dirty else h.approve_clean_evil
    elif role == "Merlin":
        approves = h.approve_dirty_merlin if dirty else h.approve_clean_merlin
    else:
        approves = h.approve_blind
    return approves if vote else 1 - approves


def _cards_chance(evil: list[bool], fails: int, h: AvalonHabits) -> float:
    """Over all ways in which the members may have played, one by one."""
    chances = {0: 1.0}
    for is_evil in evil:
        p = h.fail if is_evil else h.good_fails
        following: dict[int, float] = {}
        for k, c in chances.items():
            following[k] = following.get(k, 0.0) + c * (1 - p)
            following[k + 1] = following.get(k + 1, 0.0) + c * p
        chances = following
    return chances.get(fails, 0.0)


def posterior(deal: tuple[str, ...], seat: int, evidence: list[tuple[Any, ...]], h: AvalonHabits) -> tuple[Any, Any]:
    """Probability of being evil, and of being Merlin, for each seat."""
    worlds = possible(deal, seat)
    weights = np.array([np.prod([chance(d, seat, e, h) for e in evidence]) for d in worlds])
    weights /= weights.sum()
    evil = np.array([[role in EVIL for role in d] for d in worlds])
    merlin = np.array([[role == "Merlin" for role in d] for d in worlds])
    return weights @ evil, weights @ merlin


def assert_exact(belief: AvalonBelief, deal: tuple[str, ...], evidence: list[tuple[Any, ...]], h: AvalonHabits) -> None:
    evil, merlin = posterior(deal, belief.seat, evidence, h)
    np.testing.assert_allclose(belief.evil_chance(), evil, rtol=0, atol=1e-9)
    np.testing.assert_allclose(belief.merlin_chance(), merlin, rtol=0, atol=1e-9)
    assert belief.weights.sum() == pytest.approx(1)


# -- evidence by itself ----------------------------------------------------------------------------------------


def see(belief: AvalonBelief, evidence: tuple[Any, ...]) -> None:
    kind, *args = evidence
    if kind == "exposed":
        belief.see_exposure(args[0], args[1], right=args[2])
    else:
        names = {"accuse": "see_accusation", "defend": "see_defence"}
        getattr(belief, names.get(kind, f"see_{kind}"))(*args)


def begin(deal: tuple[str, ...], seat: int, h: AvalonHabits, **options: Any) -> AvalonBelief:
    """The belief of a seat, or of an onlooker, after the night of this deal."""
    game = registry["avalon_v0"].raw_env(**options).game
    numbers = tuple(game.role_names.index(role) for role in deal)
    view = game.view(game.apply(game.initial(), Move("deal", (*numbers, 0))), max(seat, 0))
    return AvalonBelief(view.roles, seat, *((view.role, view.knows) if seat >= 0 else ("", ())), h)


def evidences(n: int, seat: int) -> st.SearchStrategy[tuple[Any, ...]]:
    seats, bit = st.integers(0, n - 1), st.integers(0, 1)
    teams = st.lists(seats, min_size=2, max_size=4, unique=True).map(lambda team: tuple(sorted(team)))
    return st.one_of(
        st.tuples(st.just("team"), seats, teams),
        st.tuples(st.just("votes"), teams, st.lists(bit, min_size=n, max_size=n).map(tuple)),
        teams.flatmap(lambda team: cards(team, seat)),
        st.tuples(st.just("accuse"), seats, seats),
        st.tuples(st.just("defend"), seats, seats),
    )


def cards(team: tuple[int, ...], seat: int) -> st.SearchStrategy[tuple[Any, ...]]:
    if seat not in team:
        return st.tuples(st.just("cards"), st.just(team), st.integers(0, 2), st.none())
    return st.tuples(st.integers(0, 1), st.integers(0, 1)).map(lambda c: ("cards", team, c[0] + 1 - c[1], c[1]))


@pytest.mark.parametrize("options", TABLES.values(), ids=TABLES)
@given(data=st.data())
def test_the_posterior_is_that_of_brute_force(options, data):
    """Any evidence in any order, possible or not, from the view of any seat and of an onlooker."""
    game = registry["avalon_v0"].raw_env(**options).game
    deal = tuple(data.draw(st.permutations(game.roles)))
    seat = data.draw(st.integers(-1, game.seats - 1))
    h = data.draw(st.sampled_from([HABITS, ODD_HABITS]))
    belief = begin(deal, seat, h, **options)
    evidence = data.draw(st.lists(evidences(game.seats, seat), max_size=6))
    for item in evidence:
        see(belief, item)
    assert_exact(belief, deal, evidence, h)


@pytest.mark.parametrize("options", TABLES.values(), ids=TABLES)
def test_an_exposed_assassin_is_the_assassin(options):
    """And whom he named is Merlin, or is not; every seat draws its conclusions, and an onlooker does."""
    game = registry["avalon_v0"].raw_env(**options).game
    rng = np.random.default_rng(0)
    for _ in range(6):
        deal = tuple(rng.permutation(game.roles).tolist())
        assassin = deal.index("Assassin")
        named = int(rng.choice([j for j in range(game.seats) if j != assassin]))
        evidence = [("accuse", 0, 1), ("exposed", assassin, named, deal[named] == "Merlin")]
        for seat in range(-1, game.seats):
            belief = begin(deal, seat, HABITS, **options)
            for item in evidence:
                see(belief, item)
            assert belief.evil_chance()[assassin] == pytest.approx(1)
            assert belief.merlin_chance()[named] == pytest.approx(float(deal[named] == "Merlin"))
            assert_exact(belief, deal, evidence, HABITS)


# -- evidence as it comes in play ------------------------------------------------------------------------------


def read(events: tuple[Any, ...], me: int) -> list[tuple[Any, ...]]:
    """What a record holds of evidence."""
    moves: list[tuple[Any, ...]] = []
    team: tuple[int, ...] = ()
    own = None
    for seat, (kind, args, _), _ in events:
        if kind == "propose":
            team = args
            moves.append(("team", seat, team))
        elif kind == "draw":
            team = args
        elif kind == "votes":
            moves.append(("votes", team, args[1:]))
        elif kind == "card":
            own = args[0]
        elif kind == "fails":
            moves.append(("cards", team, args[1], own if me >= 0 else None))
            own = None
        elif kind in ("accuse", "defend"):
            moves.append((kind, seat, args[0]))
        elif kind == "recommend":
            moves.append(("defend", seat, args[0]))
        elif kind == "exposed":
            moves.append(("exposed", *args[:2], bool(args[2])))
    return moves


@pytest.mark.parametrize("options", TABLES.values(), ids=TABLES)
def test_players_believe_what_brute_force_says_throughout_a_game(options, playout):
    """Each seat reads its record turn by turn, and so do the onlookers that evil and Merlin keep in mind."""
    game = registry["avalon_v0"].raw_env(**options).game
    checked = 0
    for seed in range(3, 7):
        states = playout(game, seed).states[:91]
        deal = tuple(game.role_names[role] for role in states[1].standing.roles)
        players: dict[int, AvalonPlayer] = {}
        for turn, state in enumerate(states):
            seat = game.actor(state)
            if seat < 0:
                continue
            view = game.view(state, seat)
            player = players.setdefault(seat, AvalonPlayer(view, np.random.default_rng(seat), HABITS))
            assert player.act(view) in view.legal
            if turn % 4 == 0:
                assert_exact(player.belief, deal, read(view.events, seat), HABITS)
                assert (player.onlooker is not None) == (view.role in {"Merlin", *EVIL})
                if player.onlooker is not None:
                    assert_exact(player.onlooker, deal, read(view.events, -1), HABITS)
                checked += 1
    assert checked > 8


# -- certain facts ---------------------------------------------------------------------------------------------

SIX = ("Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Morgana", "Assassin")


def test_clean_chances_of_all_teams_are_those_of_each():
    belief = begin(SIX, 2, HABITS)
    belief.see_accusation(0, 4)
    belief.see_votes((0, 4), [1, 0, 0, 1, 1, 1])
    for size in (2, 3, 4):
        game = registry["avalon_v0"].raw_env().game
        teams = [move.args for move in game.catalogue if move.kind == "propose" and len(move.args) == size]
        np.testing.assert_allclose(belief.clean_chances(size), [belief.clean_chance(team) for team in teams])


# -- playing by it ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["paper", "reference", "official"])
def test_a_team_by_heuristic_beats_a_random_team_from_either_side(rules):
    """On the same deals. A random Assassin names Merlin in about a fifth of the games, which no good team can help."""
    env, deals, random = table("avalon_v0", rules=rules), range(40), ("random", RandomPolicy)
    by_chance = evaluate.team(env, ("other", RandomPolicy), random, deals).rates["other"]["good"].value
    won = evaluate.team(env, ("heuristic", HeuristicPolicy), random, deals).rates["heuristic"]
    assert won["good"].value > max(0.55, by_chance + 0.2)
    assert won["evil"].value > 0.9
