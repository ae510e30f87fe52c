"""What the heuristic states when it is asked who is evil: it plays as if all others kept to its habits, but doubts that they do.

In Avalon each other seat keeps to the habits for the whole game, or tells nothing, each as likely as the other. A seat that tells nothing
does everything as often as the habits expect of a seat whose role is unknown:

    P(acts of a seat | deal)  ~  product of p(act | deal)  +  product of (mean over all deals of p(act | deal))

In Werewolf, where many seats name the same one, two more doubts are added. Half of the seats that tell something hide: a werewolf accuses,
defends and votes as one of the village does. And who accuses or votes for a seat that somebody else has named on that day follows, which
tells nothing.

Acts are votes, teams and claims. Cards of quests, checks and deaths are facts, which count as in play. Given the deal, seats act
independently, so the posterior is exact for these mixtures. Nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.avalon.belief import Array, AvalonBelief, AvalonHabits, LearnedHabits, chance_clean
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import NATURE, Event
from parlour.envs.language import speech
from parlour.envs.werewolf import vocabulary as werewolf
from parlour.envs.werewolf.belief import NO_TARGET, SeatBeliefs, WerewolfHabits, WolfBelief
from parlour.envs.werewolf.vocabulary import WerewolfView

_NAMES_A_SEAT: Final = (speech.ACCUSE, speech.DEFEND, speech.RECOMMEND)
_SAID: Final = (speech.ACCUSE, speech.DEFEND, speech.REPORT, speech.CLAIM_ROLE)


class Doubts:
    """What the acts of seats tell, if each seat is of one of some kinds or tells nothing.

    Args:
        seats: How many play.
        hypotheses: H, how many deals are possible.
        kinds: How many kinds of seats tell something, together as likely as a seat that tells nothing.
    """

    def __init__(self, seats: int, hypotheses: int, kinds: int = 1) -> None:
        self._telling = np.zeros((kinds, seats, hypotheses))
        """Log-likelihood of the acts of each seat by each kind, over that of a seat that tells nothing."""

    def see(self, seat: int, *log_likelihoods: Array) -> None:
        """A seat acts; how likely the act is by each kind under each hypothesis, each (H,)."""
        for kind, log_likelihood in enumerate(log_likelihoods):
            self._telling[kind, seat] += log_likelihood - np.log(np.exp(log_likelihood).mean())

    def log_likelihood(self) -> Array:
        """The log-likelihood of all acts, up to a constant, shape (H,)."""
        telling = np.logaddexp.reduce(self._telling, axis=0) - np.log(len(self._telling))
        summed: Array = np.logaddexp(telling, 0.0).sum(axis=0)
        return summed


def stated_in_avalon(view: AvalonView, habits: AvalonHabits | None = None) -> list[float]:
    """How likely each seat is to be evil. Learned habits are not doubted: they are of the players that are expected."""
    belief = AvalonBelief(view.roles, view.seat, view.role, view.knows, habits, view.guesser)
    doubts = None if isinstance(habits, LearnedHabits) else Doubts(len(view.roles), len(belief.evil))
    for event in view.events:
        if doubts is None or not _acts_in_avalon(belief, event, doubts):
            belief.see(event.seat, *event.move)
    if doubts is not None:
        belief.add(doubts.log_likelihood())
    return [float(chance) for chance in belief.evil_chance()]


def _acts_in_avalon(belief: AvalonBelief, event: Event, doubts: Doubts) -> bool:
    """Whether an event is acts of seats; if so, they are weighed."""
    seat, (kind, args, words), _ = event
    if kind == avalon.VOTES:
        for voter in range(len(args) - 1):
            others = [other for other in range(len(args) - 1) if other != voter]
            doubts.see(voter, belief.told_by(partial(belief.see_votes, belief.team, args[1:], others)))
        return True
    if kind != avalon.TEAM and kind not in _NAMES_A_SEAT:
        return False
    log_chances = belief.told_by(partial(belief.see, seat, kind, args, words))
    if log_chances.any():
        doubts.see(seat, log_chances - np.log(_share_of_kind(belief.evil, seat, kind, args)))
    return True


def _share_of_kind(evil: Array, seat: int, kind: str, args: tuple[int, ...]) -> Array:
    """Share of all teams that are clean or dirty as this one is, or of all others who are of the side of the seat that is named.

    The habits say how often a team is clean and how often an evil seat is accused; which team and which seat of that kind is chance.
    """
    seats, members = evil.shape[1], evil[0].sum()
    if kind == avalon.TEAM:
        clean = chance_clean(seats, int(members), len(args))
        return np.where(evil[:, list(args)].any(axis=1), 1 - clean, clean)
    same = np.where(evil[:, args[0]] == 1, members - evil[:, seat], seats - members - (1 - evil[:, seat]))
    share: Array = same / (seats - 1)
    return share


def stated_in_werewolf(view: WerewolfView, habits: WerewolfHabits | None = None) -> list[float]:
    """How likely each seat is to be a werewolf."""
    beliefs = SeatBeliefs(view, habits, onlooker=False)
    belief = beliefs.own
    usual = belief.habits
    hiding = replace(  # werewolves accuse, defend and vote as the village does
        usual,
        wolf_accuses_wolf=usual.accuses_wolf,
        wolf_defends_wolf=usual.defends_wolf,
        wolf_votes_wolf=usual.votes_wolf,
    )
    kinds = usual, hiding
    doubts = Doubts(len(view.roles), len(belief.wolf), len(kinds))
    named: set[tuple[int, int]] = set()  # who was named today, and by whom
    for event in view.events:
        acts = list(_acts_in_werewolf(beliefs, event, view))
        for act in acts:
            others = [target for target, seat in named if seat != act.seat]
            if act.knows or act.named == NO_TARGET or act.named not in others:  # else it follows
                doubts.see(act.seat, *(_by_habits(belief, habits, act.weigh) for habits in kinds))
        named |= {(act.named, act.seat) for act in acts}
        if event.move.kind == werewolf.NIGHT:
            named.clear()
        if not acts:
            beliefs.see(event, view)
    belief.add(doubts.log_likelihood())
    return [float(chance) for chance in belief.wolf_chance()]


class WeighedAct(NamedTuple):
    """A statement or a vote of a seat."""

    seat: int
    weigh: Callable[[], None]
    """Lets the belief take it in."""
    named: int = NO_TARGET
    """The seat that it names as a werewolf: accused, voted for, or reported."""
    knows: bool = False
    """Whether it reports a check, and so has a reason of its own."""


def _by_habits(belief: WolfBelief, habits: WerewolfHabits, weigh: Callable[[], None]) -> Array:
    """The log-likelihood of an act of a seat with these habits, (H,)."""
    usual, belief.habits = belief.habits, habits
    log_likelihood = belief.told_by(weigh)
    belief.habits = usual
    return log_likelihood


def _acts_in_werewolf(beliefs: SeatBeliefs, event: Event, view: WerewolfView) -> Iterator[WeighedAct]:
    """The acts of seats that an event is: all votes of a hidden ballot, one statement, or one public vote."""
    seat, (kind, args, _), to = event
    if seat == NATURE and kind == werewolf.VOTES and not view.public_votes:
        for voter, target in enumerate(args[1:]):
            if target >= 0:
                yield WeighedAct(voter, partial(beliefs.own.see_vote, voter, target), target)
    elif to is None and (kind in _SAID or (kind == werewolf.BALLOT and args)) and not _is_certain(event, view):
        names = kind in (speech.ACCUSE, werewolf.BALLOT) or (kind == speech.REPORT and args[1])
        yield WeighedAct(
            seat, partial(beliefs.see, event, view), args[0] if names else NO_TARGET, kind == speech.REPORT
        )


def _is_certain(event: Event, view: WerewolfView) -> bool:
    """Whether somebody else claims the own role, of which there is one: no habit is needed to know that it lies."""
    kind, args, _ = event.move
    return kind == speech.CLAIM_ROLE and view.role_names[args[0]] == view.role != werewolf.VILLAGER
