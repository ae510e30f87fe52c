"""The exact belief of AIWolf's Werewolf, by hand and against Bayes' rule over all deals; its habits, counted."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from aiwolf_games import played
from hypothesis import given, settings, strategies as st
from parlour.envs.core import Event, Knowledge, Move, ParlourError
from parlour_aiwolf import GAME
from parlour_aiwolf.assignments import assigned
from parlour_aiwolf.belief import AIWolfBeliefs
from parlour_aiwolf.habits import POWERS, AIWolfHabits

from tests.envs.hidden_roles.played_by_hand import announced, said

H = AIWolfHabits(aims_weight=0.7)
W, P, S, M, G, V = "Werewolf", "Possessed", "Seer", "Medium", "Bodyguard", "Villager"
SEVEN = (W, W, P, S, M, G, V)
"""A table of its own: all roles, and few enough deals (2,520) to list them."""


# -- the sum over the seats of single roles ----------------------------------------------------------------------


def test_assignments_are_summed_over_different_seats():
    # two roles, three seats: 1 * 5 + 1 * 6 + 2 * 4 + 2 * 6 + 3 * 4 + 3 * 5 = 58
    weights = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])[:, :, None]
    total, parts = assigned(weights)
    assert total == pytest.approx([58])
    assert parts[0, :, 0] == pytest.approx([11, 20, 27])
    assert parts[1, :, 0] == pytest.approx([20, 20, 18])


# -- by hand -------------------------------------------------------------------------------------------------------


def seen_by(seat: int, role: str, players: int = 5, wolves: tuple[int, ...] = ()) -> Any:
    """The View of a seat after the deal."""
    rules_of = GAME.build(GAME.options(num_players=players))
    knows = (Knowledge((W,), tuple(j for j in wolves if j != seat)),) if role == W else ()
    return rules_of.view(rules_of.initial(), seat)._replace(role=role, knows=knows)


def followed(view: Any, *events: Event) -> AIWolfBeliefs:
    beliefs = AIWolfBeliefs(view, H)
    for event in events:
        beliefs.see(event, view)
    return beliefs


NIGHT = announced("night", 1)
PACK = (2, 5, 9)


def all_of(chance: float, seats: int = 15, **others: float) -> list[float]:
    """The same chance for all but some seats."""
    return [others.get(f"s{seat}", chance) for seat in range(seats)]


@pytest.mark.parametrize(
    ("view", "events", "role", "expected"),
    [
        # before the first word all deals are equally likely
        *((seen_by(0, V), (), role, all_of(1 / 4, 5, s0=0)) for role in (W, P, S)),
        # a wolf knows the wolves, and doubts who has the other roles
        (seen_by(2, W, 15, PACK), (), W, all_of(0, s2=1, s5=1, s9=1)),
        (seen_by(2, W, 15, PACK), (), S, all_of(1 / 12, s2=0, s5=0, s9=0)),
        # a result of the seer or of the medium settles who is a werewolf
        (seen_by(0, S), (announced("checked", 3, 1, to=(0,)),), W, all_of(0, 5, s3=1)),
        (seen_by(0, S), (announced("checked", 3, 0, to=(0,)),), W, all_of(1 / 3, 5, s0=0, s3=0)),
        (seen_by(0, M, 15), (announced("identified", 3, 1, to=(0,)),), W, all_of(2 / 13, s0=0, s3=1)),
        # a game of five that goes on after an execution did not execute the werewolf; the attacked is none
        (seen_by(0, V), (announced("executed", 3), NIGHT), W, all_of(1 / 3, 5, s0=0, s3=0)),
        (seen_by(0, V), (announced("dawn", 2, 3),), W, all_of(1 / 3, 5, s0=0, s3=0)),
        # nobody dies only if the bodyguard lives; in night 0 nobody is attacked
        (
            seen_by(0, V, 15),
            (announced("executed", 3), NIGHT, announced("dawn", 2)),
            G,
            all_of(1 / 13, s0=0, s3=0),
        ),
        (seen_by(0, V, 15), (announced("dawn", 1),), G, all_of(1 / 14, s0=0)),
        # whom the bodyguard saved is no werewolf; whom the wolves did not kill is not the bodyguard, and dead nobody
        (
            seen_by(0, G, 15),
            (NIGHT, Event(0, Move("protect", (4,)), (0,)), announced("dawn", 2)),
            W,
            all_of(3 / 13, s0=0, s4=0),
        ),
        (
            seen_by(2, W, 15, PACK),
            (NIGHT, announced("wolves", 4, to=PACK), announced("dawn", 2)),
            G,
            all_of(1 / 11, s2=0, s4=0, s5=0, s9=0),
        ),
    ],
)  # fmt: skip
def test_chances_by_hand(view, events, role, expected):
    assert followed(view, *events).own.chances()[role] == pytest.approx(expected)


def test_events_against_the_rules_are_refused_in_one_line():
    killed = (announced("dawn", j + 2, j) for j in range(1, 5))
    with pytest.raises(ParlourError, match="contradict the rules"):
        followed(seen_by(0, V), *killed).own.chances()


# -- Bayes' rule written down plainly ------------------------------------------------------------------------------


class Plain:
    """The likelihood of a story under one deal, act after act, as the fields of `AIWolfHabits` say."""

    def __init__(self, deal: tuple[str, ...], me: int) -> None:
        self.deal, self.me, self.n = deal, me, len(deal)
        self.alive = [True] * self.n
        self.executed: set[int] = set()
        self.claimed: dict[int, str] = {}
        self.said: set[Any] = set()
        self.aims: dict[Any, int] = {}
        self.spoke: set[int] = set()
        self.lied: set[tuple[int, str]] = set()
        self.day = 1
        self.likelihood = 1.0

    def _times(self, actor: int, chance: float) -> None:
        self.likelihood *= 1.0 if actor == self.me else chance

    def _rate(self, actor: int, village: float, wolf: float, possessed: float) -> float:
        return {W: wolf, P: possessed}.get(self.deal[actor], village)

    def _chosen(self, seats: list[int], target: int, rate: float) -> float:
        """A werewolf among the seats at a rate, then any of that side; of one side alone, any."""
        side = [j for j in seats if (self.deal[j] == W) == (self.deal[target] == W)]
        if len(side) == len(seats):
            return 1 / len(side)
        return (rate if self.deal[target] == W else 1 - rate) / len(side)

    def aim(self, kind: str, actor: int, target: int) -> None:
        if self.aims.get((kind, actor)) == target or not self.alive[target]:
            return
        self.aims[kind, actor] = target
        rates = {
            "accuse": (H.accuses_wolf, H.wolf_accuses_wolf, H.possessed_accuses_wolf),
            "defend": (H.defends_wolf, H.wolf_defends_wolf, H.possessed_defends_wolf),
            "vote": (H.votes_wolf, H.wolf_votes_wolf, H.possessed_votes_wolf),
        }[kind]
        seats = [j for j in range(self.n) if self.alive[j] and j != actor]
        self._times(actor, self._chosen(seats, target, self._rate(actor, *rates)) ** H.aims_weight)

    def claim(self, speaker: int, role: str) -> None:
        if role in POWERS and (speaker, role) not in self.said:
            self.said.add((speaker, role))
            self.claimed[speaker] = role
            self._times(speaker, H.comes_out(self.deal[speaker], role, first=self.day == 1))

    def report(self, speaker: int, target: int, evil: int) -> None:
        if (speaker, target, evil) in self.said:
            return
        if speaker not in self.claimed:
            self.claim(speaker, S)
        self.said.add((speaker, target, evil))
        true = (self.deal[target] == W) == bool(evil)
        share = self._rate(speaker, 0.5, H.wolf_reports_evil, H.possessed_reports_evil)
        share = share if evil or self.deal[speaker] not in (W, P) else 1 - share
        everybody = [j for j in range(self.n) if j != speaker]
        if self.claimed[speaker] == M and target in self.executed:
            chance = self._honest(M, speaker, true, 1.0, 0.5) if self.deal[speaker] == M else share
        elif self.deal[speaker] == S:
            honest = self._chosen(everybody, target, H.seer_reports_wolf)
            chance = self._honest(S, speaker, true, honest, share / len(everybody))
        elif self.deal[speaker] == W:
            fellow = H.wolf_reports_fellow if evil else H.wolf_clears_fellow
            chance = share * self._chosen(everybody, target, fellow)
        else:
            chance = share / len(everybody)
        self._times(speaker, chance)

    def _honest(self, role: str, speaker: int, true: bool, honest: float, liar: float) -> float:
        """Of the seer or the medium; who has reported against the truth once is a liar."""
        if (speaker, role) in self.lied:
            return liar
        if not true:
            self.lied.add((speaker, role))
        return honest if true else 1e-9

    def vote_begins(self) -> None:
        for seat in sorted(self.spoke):
            if self.alive[seat] and seat not in self.claimed:
                powers = [power for power in POWERS if power in self.deal]
                claims = sum(H.comes_out(self.deal[seat], power, first=self.day == 1) for power in powers)
                self._times(seat, max(1 - claims, 1e-9))
        self.spoke.clear()

    def dies(self, seat: int) -> None:
        self.alive[seat] = False

    def goes_on(self) -> None:
        wolves = sum(self.alive[j] and self.deal[j] == W for j in range(self.n))
        if not 0 < 2 * wolves < sum(self.alive):
            self.likelihood = 0.0

    def dawn(self, dead: tuple[int, ...]) -> None:
        self.day += 1
        guard = self.deal.index(G) if G in self.deal else -1
        living_guard = guard >= 0 and self.alive[guard]
        if dead:
            humans = [j for j in range(self.n) if self.alive[j] and self.deal[j] != W]
            self.likelihood *= 1 / len(humans) if dead[0] in humans else 0.0
            # what the bodyguard did, it knows; what it chose was not this seat
            saves = living_guard and guard not in (dead[0], self.me)
            self.likelihood *= 1 - H.guard_saves if saves else 1.0
            self.dies(dead[0])
        else:
            self.likelihood *= 1.0 if living_guard else 0.0
        self.spoke.clear()
        self.aims = {key: value for key, value in self.aims.items() if key[0] != "vote"}

    def see(self, event: Event, names: tuple[str, ...]) -> None:
        seat, (kind, args, _), to = event
        if to is not None:
            return
        if seat >= 0:
            self.spoke.add(seat)
        if kind in ("accuse", "defend"):
            self.aim(kind, seat, args[0])
        elif kind == "claim_role":
            self.claim(seat, names[args[0]])
        elif kind == "report":
            self.report(seat, *args)
        elif kind == "votes":
            self.vote_begins()
            for voter, target in enumerate(args[1:]):
                if target >= 0:
                    self.aim("vote", voter, target)
        elif kind == "executed":
            self.executed.add(args[0])
            self.dies(args[0])
        elif kind in ("night", "day"):
            self.goes_on()
        elif kind == "dawn" and args[0] > 1:
            self.dawn(args[1:])


NAMES = (W, P, S, V, M, G)


@st.composite
def stories(draw: Any, seats: int) -> list[Event]:
    """Public events of up to three days among some seats, in which seat 0 lives."""
    alive, events = list(range(seats)), [announced("dawn", 1), announced("day", 1, 0)]
    for day in range(1, draw(st.integers(1, 3)) + 1):
        for _ in range(draw(st.integers(0, 8))):
            a, b = draw(st.permutations(alive))[:2]
            kind = draw(st.sampled_from(["accuse", "defend", "report", "claim_role", "over"]))
            target = draw(st.sampled_from([j for j in range(seats) if j != a])) if kind == "report" else b
            args = {"report": (target, draw(st.integers(0, 1))), "claim_role": (draw(st.integers(0, 5)),), "over": ()}
            events.append(said(a, kind, *args.get(kind, (target,))))
        votes = [draw(st.sampled_from([k for k in alive if k != j])) if j in alive else -2 for j in range(seats)]
        out = draw(st.sampled_from(alive[1:]))
        alive.remove(out)
        events += [announced("votes", day, *votes), announced("executed", out)]
        if len(alive) < 5:
            break
        dead = draw(st.sampled_from([None, *alive[1:]]))
        alive = [j for j in alive if j != dead]
        gone = () if dead is None else (dead,)
        events += [announced("night", day), announced("dawn", day + 1, *gone), announced("day", day + 1, alive[0])]
    return events


def listed(deals: list[tuple[str, ...]], me: int, events: list[Event]) -> dict[str, Any]:
    """By role: the chance of each seat, from the likelihood of every deal; empty if none is possible."""
    chances = {role: np.zeros(len(deals[0])) for role in dict.fromkeys(deals[0])}
    for deal in deals:
        plain = Plain(deal, me)
        for event in events:
            plain.see(event, NAMES)
        for seat, role in enumerate(deal):
            chances[role][seat] += plain.likelihood
    whole = chances[W].sum() / deals[0].count(W)
    return {role: chance / whole for role, chance in chances.items()} if whole else {}


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(stories(7), st.sampled_from([V, W, P, S, M, G]))
def test_the_chances_are_those_of_bayes_rule_over_all_deals(story, role):
    every = sorted(set(permutations(SEVEN)))
    fellow = 3
    deals = [deal for deal in every if deal[0] == role and (role != W or deal[fellow] == W)]
    view = seen_by(0, role, 15, (0, fellow))._replace(roles=SEVEN, role_names=NAMES)
    for me, possible in ((0, deals), (-1, every)):
        truth = listed(possible, me, story)
        if not truth:
            with pytest.raises(ParlourError):
                _chances(followed(view, *story), me)
            continue
        chances = _chances(followed(view, *story), me)
        for player in (W, P, S, M, G):
            assert chances[player] == pytest.approx(truth[player], abs=1e-9), player


def _chances(beliefs: AIWolfBeliefs, me: int) -> dict[str, Any]:
    belief = beliefs.onlooker if me < 0 else beliefs.own
    assert belief is not None
    return belief.chances()


@pytest.mark.parametrize("deal", range(6))
def test_an_onlooker_of_whole_games_of_five_believes_as_the_sixty_deals_say(deal):
    game, state = played(5, deal)
    deals = sorted(set(permutations(game.roles)))
    assert len(deals) == 60
    public = [event for event in state.log if event.to is None]
    view = game.view(state, 0)
    truth = listed(deals, -1, public)
    chances = followed(view, *public).onlooker.chances()
    for role in (W, P, S):
        assert chances[role] == pytest.approx(truth[role], abs=1e-9)
