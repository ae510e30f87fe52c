"""Who is who in AIWolf's Werewolf: the exact posterior over all deals, as one seat sees it or an onlooker.

A deal is a set W of werewolves, and the seats of the possessed p, the seer s, the medium m and the bodyguard g among the others:
5.4 million at the table of 15. They are summed without being listed, under these assumptions (`AIWolfHabits` has the rates):

* Given the deal, acts are independent. How likely an act is depends on the role of who does it, and on which seats are
  werewolves; not on who else is the possessed, the seer, the medium or the bodyguard. An act that a seat repeats tells nothing.
  Accusations, defences and votes count with a power of their likelihood (`AIWolfHabits.aims_weight`).
* All deals are equally likely before the game. Nobody learns from what he does himself.
* The rules hold: the attacked is no werewolf; nobody dies only if the bodyguard lives; while a game lasts, werewolves live, and
  they are fewer than half of the living. These facts exclude deals; reports of a seer or medium against the truth nearly do.

Then the weight of a deal is a product of a factor of W and one factor for each single role:

    attacks[W] * product over seats j of acts[j, W] * ratio[p, p's seat, W] * ratio[s, ...] * ratio[m, ...] * ratio[g, ...]

`acts[j, W]` is the likelihood of all acts of seat j, as a werewolf if it is in W, else as a villager. `ratio[r, j, W]` is how much
more likely they are in the role r than as a villager; it is 0 for j in W. For each of the 455 sets the roles are summed over all
different seats by `parlour_aiwolf.assignments`. A seat leaves out its own acts and its own role, and adds what it
alone has learnt: results of its own checks, a player that it saved, fellow werewolves, a failed attack of its side.
"""

from __future__ import annotations

import numpy as np
from parlour.envs.core import NATURE, Event, Move
from parlour.envs.language import speech
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.vocabulary import SEER, WEREWOLF, WerewolfView

from parlour_aiwolf.assignments import Array, assigned
from parlour_aiwolf.evidence import AIWolfEvidence, Flags, impossible
from parlour_aiwolf.habits import AIWolfHabits, usual_habits
from parlour_aiwolf.vocabulary import BODYGUARD, IDENTIFIED

_AIMS = {speech.ACCUSE: "accuse", speech.DEFEND: "defend"}
_ONLOOKER = -1


class AIWolfBelief:
    """What one seat believes, or an onlooker.

    Args:
        evidence: What everybody sees; it changes during the game.
        view: The seat's View, after the deal; None for an onlooker.
    """

    def __init__(self, evidence: AIWolfEvidence, view: WerewolfView | None = None) -> None:
        self._evidence = evidence
        self._me = _ONLOOKER if view is None else view.seat
        self._role = "" if view is None else view.role
        self._known: dict[int, bool] = {}
        """Seats of which the seat knows whether they are werewolves."""
        self._no_guard: set[int] = set()
        """Seats that the seat knows not to be the bodyguard."""
        if view is not None:
            fellows = {seat for fact in view.knows for seat in fact.seats}
            everybody = range(evidence.seats) if view.role == WEREWOLF else ()
            self._known = {seat: seat in fellows for seat in everybody} | {view.seat: view.role == WEREWOLF}
        self._chances: dict[str, Array] | None = None

    def wolf_chance(self) -> Array:
        """Probability that each seat is a werewolf, shape (n,)."""
        return self.chances()[WEREWOLF]

    def seer_chance(self) -> Array:
        """Probability that each seat is the seer, shape (n,)."""
        return self.chances()[SEER]

    def know_side(self, seat: int, *, wolf: bool) -> None:
        """The seat has learnt whether another is a werewolf."""
        self._known[seat] = wolf
        self.forget()

    def know_no_guard(self, seat: int) -> None:
        """The seat has learnt that another is not the bodyguard."""
        self._no_guard.add(seat)
        self.forget()

    def forget(self) -> None:
        """There is new evidence."""
        self._chances = None

    def chances(self) -> dict[str, Array]:
        """By role, except the villager: the probability that each seat has it, shape (n,)."""
        if self._chances is None:
            self._chances = self._sum()
        return self._chances

    def sets(self) -> tuple[Flags, Array]:
        """The possible sets of werewolves, shape (n, H), and the probability of each, shape (H,)."""
        sets, _, weights, total, _ = self._summed()
        of_sets = weights * total
        return sets, of_sets / of_sets.sum()

    def _sum(self) -> dict[str, Array]:
        sets, roles, weights, total, parts = self._summed()
        of_sets = weights * total
        whole = of_sets.sum()
        chances: dict[str, Array] = {WEREWOLF: sets @ of_sets / whole}
        for number, role in enumerate(roles):
            chances[role] = parts[number] @ weights / whole
        if self._role in self._evidence.single:
            chances[self._role] = np.eye(1, self._evidence.seats, self._me)[0]
        return chances

    def _summed(self) -> tuple[Flags, list[str], Array, Array, Array]:
        """Possible sets, single roles of others, factors of the sets, and the sums over the seats of these roles."""
        evidence, me = self._evidence, self._me
        possible = self._possible()
        if not possible.any():
            raise impossible()
        sets = evidence.sets[:, possible]
        logs = evidence.common[possible] + evidence.acts[:, possible].sum(axis=0)
        if me >= 0:
            logs = logs - evidence.acts[me, possible]
        numbers = [number for number, role in enumerate(evidence.single) if role != self._role]
        ratio = evidence.ratio[numbers][:, :, possible] * ~sets
        if me >= 0:
            ratio[:, me] = 0.0
        roles = [evidence.single[number] for number in numbers]
        if self._no_guard:
            ratio[roles.index(BODYGUARD), list(self._no_guard)] = 0.0
        total, parts = assigned(ratio)
        if not total.any():
            raise impossible()
        return sets, roles, np.exp(logs - logs.max()), total, parts

    def _possible(self) -> Flags:
        """Which sets agree with what the seat knows."""
        sets = self._evidence.sets
        possible: Flags = np.ones(sets.shape[1], dtype=bool)
        for seat, wolf in self._known.items():
            possible &= sets[seat] == wolf
        return possible


class AIWolfBeliefs:
    """What one seat believes, and what an onlooker would who hears only what everybody hears; read from its View.

    Args:
        view: The seat's View, after the deal.
        habits: How seats behave; None for the usual habits of the table.
        onlooker: Whether to follow what an onlooker believes, too.
    """

    def __init__(self, view: WerewolfView, habits: AIWolfHabits | None = None, *, onlooker: bool = True) -> None:
        self._me, self._role = view.seat, view.role
        self.evidence = AIWolfEvidence(view.roles, habits or usual_habits(len(view.roles)))
        self.own = AIWolfBelief(self.evidence, view)
        self.onlooker = AIWolfBelief(self.evidence) if onlooker else None
        self._day = 0
        self._target = _ONLOOKER
        """Whom the seat, or its fellows and it, have chosen tonight: the bodyguard to protect, the wolves to attack."""

    def see(self, event: Event, view: WerewolfView) -> None:
        """Weigh one event that the seat saw; `view` is a View of the seat that holds it."""
        if event.seat == NATURE:
            self._hear(event.move)
        elif event.to is None:
            self._listen(event, view)
        elif event.seat == self._me and event.move.kind == game.GUARDS and event.move.args:
            self._target = event.move.args[0]
        self.own.forget()
        if self.onlooker is not None:
            self.onlooker.forget()

    def _hear(self, move: Move) -> None:
        """The moderator speaks."""
        kind, args, _ = move
        if kind in (game.CHECKED, IDENTIFIED):
            self.own.know_side(args[0], wolf=bool(args[1]))
        elif kind == game.CHOSEN:
            self._target = args[0]
        elif kind == game.NIGHT:
            self._target = _ONLOOKER
            self.evidence.goes_on()
        elif kind == game.DAWN:
            self._dawn(args[0], args[1:])
        elif kind == game.DAY:
            self.evidence.goes_on()
        elif kind == game.VOTES:
            self.evidence.see_hidden(self._day)
            for voter, target in enumerate(args[1:]):
                if target >= 0:
                    self.evidence.see_aim("vote", voter, target)
        elif kind == game.EXECUTED:
            self.evidence.see_executed(args[0])

    def _dawn(self, day: int, dead: tuple[int, ...]) -> None:
        self._day = day
        if dead:
            self.evidence.see_killed(dead[0])
        elif day > 1:  # nobody is attacked in night 0
            self.evidence.see_saved()
            if self._target >= 0 and self._role == BODYGUARD:
                self.own.know_side(self._target, wolf=False)
            elif self._target >= 0:
                self.own.know_no_guard(self._target)
        self.evidence.begin_day()

    def _listen(self, event: Event, view: WerewolfView) -> None:
        """A player speaks."""
        seat, (kind, args, _), _ = event
        self.evidence.see_line(seat)
        if kind in _AIMS:
            self.evidence.see_aim(_AIMS[kind], seat, args[0])
        elif kind == speech.CLAIM_ROLE:
            self.evidence.see_claim(seat, view.role_names[args[0]], self._day)
        elif kind == speech.REPORT:
            self.evidence.see_report(seat, args[0], self._day, wolf=bool(args[1]))
