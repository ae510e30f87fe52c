"""The Bayesian heuristic of Werewolf: its inference by hand and against Bayes' rule written down plainly; its play."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import NATURE, Event, Knowledge, Move
from parlour.envs.werewolf import GAME, vocabulary as game
from parlour.envs.werewolf.belief import SeatBeliefs, WerewolfHabits, WolfBelief
from parlour.envs.werewolf.vocabulary import WerewolfView
from parlour.policies import HeuristicPolicy, RandomPolicy
from parlour.policies.heuristic.werewolf import WerewolfPlayer
from parlour.training.measure import evaluate
from parlour.training.play import rollout

from tests.envs.hidden_roles.played_by_hand import announced, said

ROLES = ("Werewolf", "Werewolf", "Werewolf", "Witch", "Guard", "Seer", "Villager", "Villager")
SMALL = ("Werewolf", "Werewolf", "Witch", "Guard", "Seer", "Villager")
H = WerewolfHabits()


# -- the hypotheses --------------------------------------------------------------------------------------------


def test_the_hypotheses_of_the_table_of_eight():
    # sets of wolves times seats of the seer: an onlooker C(8,3) * 5, a villager C(7,3) * 4, the seer C(7,3), a wolf 5
    sizes = [
        len(WolfBelief(ROLES, seat, role, wolves).weights)
        for seat, role, wolves in ((-1, "", ()), (0, "Villager", ()), (0, "Seer", ()), (0, "Werewolf", (0, 1, 2)))
    ]
    assert sizes == [280, 140, 35, 5]


# -- evidence by hand ------------------------------------------------------------------------------------------


def test_the_witch_does_not_take_whom_she_poisoned_for_the_wolves_victim():
    """Before: 3 wolves among 7 others. Her own dead tell nothing; the other of two is the wolves' (as found alone).

    Odds of 3 to 4, times 0.06, are 0.045; the three wolves are then expected among the six others.
    """
    for dead, killed in (((3,), None), ((2, 3), 2)):
        belief = beliefs_of_a_witch(poisoned=3, dead=dead)
        wolf = belief.own.wolf_chance()
        other = 3 / 7 if killed is None else (3 - 0.045 / 1.045) / 6
        assert wolf[3] == pytest.approx(other)
        assert belief.own.alive[3] == 0
        if killed is not None:
            assert wolf[killed] == pytest.approx(0.045 / 1.045)
    assert belief.onlooker.wolf_chance()[3] < 3 / 8  # who does not know takes either for a victim


def beliefs_of_a_witch(poisoned, dead):
    """Player 0 is the witch and poisons; the morning tells who is found dead."""
    rules = GAME.build(GAME.options(num_players=8))
    view = rules.view(rules.initial(), 0)._replace(role="Witch", roles=ROLES)
    belief = SeatBeliefs(view)
    belief.see(Event(0, Move(game.POISONS, (poisoned,)), (0,)), view)
    belief.see(Event(NATURE, Move(game.DAWN, (1, *dead)), None), view)
    return belief


# -- Bayes' rule written down plainly --------------------------------------------------------------------------


def likelihood(
    kind: str, args: tuple[int, ...], wolves: set[int], seer: int, alive: list[bool], me: int, n: int
) -> float:
    """How likely an event is on a hypothesis, as the fields of `WerewolfHabits` say."""

    def aimed(actor: int, target: int, village: float, wolf: float) -> float:
        if actor == me:
            return 1.0
        others = [j for j in range(n) if alive[j] and j != actor]
        of_side = [j for j in others if (j in wolves) == (target in wolves)]
        hits = wolf if actor in wolves else village
        return (hits if target in wolves else 1 - hits) / len(of_side)

    if kind == "accuse":
        return aimed(*args, H.accuses_wolf, H.wolf_accuses_wolf)
    if kind == "defend":
        return aimed(*args, H.defends_wolf, H.wolf_defends_wolf)
    if kind == "vote":
        return aimed(*args, H.votes_wolf, H.wolf_votes_wolf)
    if kind == "shot":  # the hunter is shown: no werewolf, not the seer, and dead; the shot counts as a vote
        hunter, target = args
        certain = (1e-9 if hunter in wolves else 1.0) * (1e-9 if hunter == seer else 1.0)
        return certain * aimed(hunter, target, H.votes_wolf, H.wolf_votes_wolf)
    if kind == "dead":
        alone = H.wolf_dies_at_night if len(args) == 1 else H.both_wolves
        return alone if wolves.issuperset(args) else 1.0
    if kind == "known":
        seat, wolf = args
        return 1.0 if (seat in wolves) == bool(wolf) else 1e-9
    if kind == "shown the seer":
        return 1.0 if seer == args[0] else 1e-9 * (1e-9 if args[0] in wolves else 1.0)
    if kind == "claim":
        (speaker,) = args
        rate = {True: H.wolf_claims, False: H.seer_claims if speaker == seer else H.other_claims}[speaker in wolves]
        return 1.0 if speaker == me else rate
    speaker, target, evil = args
    if speaker == me:
        return 1.0
    hit = target in wolves
    if speaker in wolves:
        on_wolf = H.wolf_accuses_wolf if evil else H.clears_wolf
        share = H.wolf_reports_evil if evil else 1 - H.wolf_reports_evil
        return H.wolf_reports * share * (on_wolf if hit else 1 - on_wolf)
    if speaker == seer:
        return H.seer_reports if hit == bool(evil) else 1e-9
    return H.other_reports


@st.composite
def stories(draw: Any) -> list[tuple[str, tuple[int, ...]]]:
    """Events among the living of six; at most three die, and one is told to be a werewolf or none, or to be the seer."""
    alive, events = list(range(6)), []
    for _ in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(["accuse", "defend", "vote", "report", "claim", "dead", "shot"]))
        a, b = draw(st.permutations(alive))[:2]
        args = {"claim": (a,), "report": (a, b, draw(st.integers(0, 1)))}.get(kind, (a, b))
        if kind in ("dead", "shot"):
            args = (a, b) if kind == "shot" else draw(st.sampled_from([(a,), (a, b)]))
            if len(alive) < 5 or 0 in args:
                continue
            alive = [seat for seat in alive if seat not in args]
        events.append((kind, args))
    told = st.tuples(st.just("known"), st.tuples(st.integers(1, 5), st.integers(0, 1)))
    shown = st.tuples(st.just("shown the seer"), st.tuples(st.integers(1, 5)))
    return [*events, *draw(st.just([]) | st.lists(told | shown, min_size=1, max_size=1))]


@given(stories(), st.sampled_from([(0, "Villager"), (0, "Seer"), (-1, "")]))
def test_the_chances_are_those_of_bayes_rule(story, who):
    me, role = who
    belief = WolfBelief(SMALL, me, role, ())
    weights: dict[tuple[tuple[int, ...], int], float] = {
        (wolves, seer): 1.0
        for wolves in combinations(range(6), 2)
        for seer in range(6)
        if seer not in wolves and me not in wolves and (me < 0 or (seer == me) == (role == "Seer"))
    }
    alive = [True] * 6
    for kind, args in story:
        if kind == "shot":
            alive[args[0]] = False
            belief.bury(args[:1])
        for (wolves, seer), weight in list(weights.items()):
            weights[wolves, seer] = weight * likelihood(kind, args, set(wolves), seer, alive, me, 6)
        if kind in ("dead", "shot"):
            alive = [seat not in args and lives for seat, lives in enumerate(alive)]
        if kind == "dead":
            belief.see_dead(args)
        elif kind == "shot":
            belief.know_role(args[0], "Hunter")
            belief.see_shot(args[0], args[1:])
        elif kind == "known":
            belief.know_side(args[0], wolf=bool(args[1]))
        elif kind == "shown the seer":
            belief.know_role(args[0], "Seer")
        elif kind == "claim":
            belief.see_claim(args[0], "Seer")
        elif kind == "report":
            belief.see_report(args[0], args[1], wolf=bool(args[2]))
        else:
            {"accuse": belief.see_accusation, "defend": belief.see_defence, "vote": belief.see_vote}[kind](*args)
    total = sum(weights.values())
    wolf = [sum(w for (wolves, _), w in weights.items() if j in wolves) / total for j in range(6)]
    seer = [sum(w for (_, candidate), w in weights.items() if candidate == j) / total for j in range(6)]
    assert belief.wolf_chance() == pytest.approx(wolf, abs=1e-9)
    assert belief.seer_chance() == pytest.approx(seer, abs=1e-9)


# -- its play --------------------------------------------------------------------------------------------------

GAME_OF_EIGHT = GAME.build(GAME.options())
DAYLIGHT = [Move("silent")] + [
    m for m in GAME_OF_EIGHT.catalogue if m.kind in ("accuse", "defend", "report", "claim_role")
]


def view(role: str, legal: list[Move], *events: Event, **more: Any) -> WerewolfView:
    """What the seat 0 of eight sees on the second day."""
    wolf = role == "Werewolf"
    knows = (Knowledge(("Werewolf",), (1, 2)),) if wolf else ()
    seen = GAME_OF_EIGHT.view(GAME_OF_EIGHT.initial(), 0)._replace(
        legal=tuple(legal), events=events, role=role, side="werewolf" if wolf else "village", knows=knows, day=2
    )
    return seen._replace(speakers=tuple(range(8)), **more)


def moves(kind: str) -> list[Move]:
    return [m for m in GAME_OF_EIGHT.catalogue if m.kind == kind]


def chosen(seen: WerewolfView, seed: int = 0) -> Move:
    return WerewolfPlayer(seen, np.random.default_rng(seed)).act(seen)


FOUND = announced("checked", 4, 1, to=(0,))
SEER_CLAIM, WITCH_CLAIM = said(6, "claim_role", 3), said(3, "claim_role", 1)
ATTACKED = announced("attacked", 3, to=(0,))
WHISPERS = [Move("silent"), *moves("recommend")]
SHOTS = [Move("shoot"), *(Move("shoot", (seat,)) for seat in range(1, 8))]
KNOWS = {"checks": ((4, True),)}


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        # the seer votes for and reports the wolf it found, once
        (view("Seer", moves("vote"), FOUND, **KNOWS), Move("vote", (4,))),
        (view("Seer", DAYLIGHT, FOUND, **KNOWS), Move("report", (4, 1))),
        (view("Seer", DAYLIGHT, FOUND, said(0, "report", 4, 1), **KNOWS), Move("accuse", (4,))),
        # the witch poisons who claims to be the witch, and saves whom she does not take for a wolf, attacked or not
        (view("Witch", moves("poison"), WITCH_CLAIM), Move("poison", (3,))),
        (view("Witch", moves("poison")), Move("poison")),
        (view("Witch", moves("save"), ATTACKED), Move("save", (1,))),
        (view("Witch", moves("save"), WITCH_CLAIM, ATTACKED), Move("save", (0,))),
        # the hunter shoots whom a seer reported, and nobody where nobody stands out
        (view("Hunter", SHOTS, said(6, "report", 4, 1)), Move("shoot", (4,))),
        (view("Hunter", SHOTS), Move("shoot")),
        # the guard protects a seer who was not contradicted
        (view("Guard", moves("protect"), said(6, "report", 3, 1)), Move("protect", (6,))),
        # werewolves hunt the seer or whom a fellow named
        (view("Werewolf", moves("hunt"), SEER_CLAIM), Move("hunt", (6,))),
        (view("Werewolf", moves("hunt"), SEER_CLAIM, Event(1, Move("recommend", (7,)), (0, 1, 2))), Move("hunt", (7,))),
        (view("Werewolf", WHISPERS, SEER_CLAIM), Move("recommend", (6,))),
    ],
)
def test_what_it_does(seen, expected):
    assert chosen(seen) == expected


@pytest.mark.parametrize("seed", range(20))
def test_werewolves_neither_vote_for_nor_accuse_fellows(seed):
    accused = [said(seat, "accuse", 1) for seat in (3, 4, 5)]
    assert chosen(view("Werewolf", moves("vote"), *accused), seed).args[0] > 2
    assert chosen(view("Werewolf", DAYLIGHT, *accused), seed).args[0] > 2


def test_votes_seen_as_cast_count_once():
    votes = (said(3, "vote", 4), announced("votes", 1, -1, -1, -1, 4, -1, -1, -1, -1))
    once = WerewolfPlayer(view("Villager", moves("vote")), np.random.default_rng(0))
    once._read(view("Villager", moves("vote"), votes[1]))
    for public in (True, False):
        shown = view("Villager", moves("vote"), *(votes if public else votes[1:]), public_votes=public)
        player = WerewolfPlayer(shown, np.random.default_rng(0))
        player._read(shown)
        assert player.belief.wolf_chance() == pytest.approx(once.belief.wolf_chance())


def test_it_beats_chance_on_both_sides():
    # on 30 deals each; the rule wins 94 % as the village and 100 % as the werewolves of 300 (`parlour evaluate`)
    env = rollout.table("werewolf_v0")
    won = evaluate.team(env, ("heuristic", HeuristicPolicy), ("random", RandomPolicy), range(30)).rates["heuristic"]
    assert won["village"].hits >= 22
    assert won["werewolf"].hits >= 27
