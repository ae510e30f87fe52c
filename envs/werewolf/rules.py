"""Werewolf's rules as a pure state machine, for 4-15 players. No text, no arrays, no PettingZoo.

Order of a night: the wolves speak among themselves, then vote for a victim; the guard protects; the witch hears of the
victim, may save, may poison; the seer checks. At dawn the deaths are announced. By day all speak once, then vote; who has
most votes is executed after last words. Sources and the points where they differ: `presets.py`.

A hunter who dies by the wolves or by execution may take a living seat along. Order: the death is announced; the executed
speaks last words; the roles of the dead are shown as the preset says; the hunter shows the card and shoots, or passes, before
everybody; the role of who was shot is shown likewise, on the first morning as of those who died in the first night; then the end is
checked. Who was poisoned does not shoot, even if the wolves killed as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from parlour.envs.core import NATURE, OVER, Event, IllegalMove, Move, Outcome, announcement, shuffles
from parlour.envs.hidden_roles.rules import HiddenRoles
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.choices import Choices, Night
from parlour.envs.werewolf.options import WerewolfOptions
from parlour.envs.werewolf.state import CALM, NOBODY, Darkness, Living, WerewolfPhase, WerewolfStanding, WerewolfState
from parlour.envs.werewolf.vocabulary import WerewolfView, side_of

if TYPE_CHECKING:
    import numpy as np

_BY_NIGHT: Final = frozenset(phase for phase in WerewolfPhase if WerewolfPhase.WHISPER <= phase <= WerewolfPhase.CHECK)


class Werewolf(HiddenRoles[WerewolfState]):
    """The rules for one number of players, one set of roles and one preset. Satisfies `parlour.envs.core.Game`."""

    def __init__(self, options: WerewolfOptions) -> None:
        super().__init__(options.dealt, options.replace(roles=options.dealt).plain())
        num_players, roles, talk, max_days = options.num_players, options.dealt, options.talk, options.max_days
        self.rules = rules = options.points
        self.talk = talk
        self.max_days = max_days
        self.added_rules = options.in_words()
        self.wolf = self.role_names.index(game.WEREWOLF)
        self._sorted_deck, self._every = sorted(self.deck), list(range(num_players))
        self._powers = tuple(
            self.role_names.index(role) if role in roles else -1
            for role in (game.GUARD, game.WITCH, game.SEER, game.HUNTER)
        )
        self.seer_sees_roles = options.seer == "character"
        self._secret_ballot = rules.votes_shown == "together"
        parity, reveals_all = rules.wolves_win == "parity", rules.reveals == "all"
        self._of_table = (parity, reveals_all, rules.guard_may_repeat, not self._secret_ballot, max_days)
        """The last fields of every View."""
        hunter = game.HUNTER in roles
        self._choices = Choices(seats=num_players, roles=len(self.role_names), rules=rules, talk=talk, hunter=hunter)
        self._night = Night(roles, rules, talk, self._choices)
        self.catalogue = self._choices.catalogue
        self._initial = WerewolfState(
            phase=WerewolfPhase.DEAL, actor=NATURE, standing=WerewolfStanding(alive=(True,) * num_players)
        )
        wolves = roles.count(game.WEREWOLF)
        night = wolves * (1 + talk) + 1 + len((game.GUARD, game.WITCH, game.WITCH, game.SEER))
        self.max_moves = 1 + max_days * (night + num_players * (1 + talk) + talk) + hunter

    # -- the contract ------------------------------------------------------------------------------------------

    def initial(self) -> WerewolfState:
        return self._initial

    def nature(self, s: WerewolfState, rng: np.random.Generator) -> Move:
        if s.phase == WerewolfPhase.DEAL:
            roles, order = list(self.deck), self._every[:]
            rng.shuffle(roles)
            rng.shuffle(order)
            return Move(game.DEALT, (*roles, *order))
        if s.phase == WerewolfPhase.TIE:
            return Move(game.DRAWN, _aimed_at(s.secret[int(rng.integers(len(s.secret)))]))
        raise IllegalMove("nature has no move in this state")

    def chances(self, s: WerewolfState) -> Iterator[tuple[Move, float]]:
        """Every deal of the roles with every order of talk, or every tied target, each as likely as the others."""
        if s.phase == WerewolfPhase.DEAL:
            for roles, dealt in shuffles(self.deck):
                for order, drawn in shuffles(tuple(range(self.seats))):
                    yield Move(game.DEALT, (*roles, *order)), dealt * drawn
        elif s.phase == WerewolfPhase.TIE:
            yield from ((Move(game.DRAWN, _aimed_at(target)), 1 / len(s.secret)) for target in s.secret)

    def outcome(self, s: WerewolfState) -> Outcome | None:
        if s.actor != OVER:
            return None
        reason = s.standing.reason
        if reason == "days":
            return Outcome((0.0,) * self.seats, game.DRAW, reason)
        village_wins = reason == "wolves_dead"
        returns = tuple(1.0 if (role != self.wolf) == village_wins else -1.0 for role in s.standing.roles)
        return Outcome(returns, game.VILLAGE if village_wins else game.WOLVES, reason)

    def view(self, s: WerewolfState, seat: int) -> WerewolfView:
        standing = s.standing
        roles = standing.roles
        role = self.role_names[roles[seat]] if roles else ""
        witch = role == game.WITCH
        return WerewolfView(
            seat,
            s.options.legal if s.actor == seat else (),
            self.seen(seat, s.log),
            role,
            self.roles,
            self.role_names,
            side_of(role) if role else "",
            game.fellows(roles, self.wolf, seat) if role == game.WEREWOLF else (),
            standing.alive,
            standing.day,
            s.phase in _BY_NIGHT,
            standing.order,
            standing.antidote if witch else None,
            standing.poison if witch else None,
            standing.guarded if role == game.GUARD else None,
            standing.checks if role == game.SEER else (),
            *self._of_table,
        )

    def asked(self, view: WerewolfView, cycle: int) -> tuple[Move, ...]:
        """What a seat is asked in a cycle of the night."""
        return self._night.asked(view, cycle)

    def hidden_cycles(self, view: WerewolfView) -> int:
        """How many cycles a night lasts, see `choices.py`; 0 by day."""
        return self._night.cycles if view.night else 0

    # -- the night ---------------------------------------------------------------------------------------------

    def _deal(self, s: WerewolfState, move: Move) -> WerewolfState:
        roles, order = move.args[: self.seats], move.args[self.seats :]
        if move.kind != game.DEALT or sorted(roles) != self._sorted_deck or sorted(order) != self._every:
            raise IllegalMove(f"{move!r} deals other roles than {', '.join(self.roles)} or has no order of all seats")
        wolves = tuple([j for j, role in enumerate(roles) if role == self.wolf])
        guard, witch, seer, hunter = [(roles.index(role),) if role >= 0 else NOBODY for role in self._powers]
        living = Living(speakers=order, wolves=wolves, guard=guard, witch=witch, seer=seer, hunter=hunter)
        return self._dusk(s.standing._replace(roles=roles, order=order, living=living), ())

    def _dusk(self, standing: WerewolfStanding, log: tuple[Event, ...]) -> WerewolfState:
        """The next night falls; the wolves are woken."""
        standing = standing._replace(day=standing.day + 1)
        log += (announcement(game.NIGHT, (standing.day,)),)
        wolves = standing.living.wolves
        return self._turn(
            WerewolfPhase.WHISPER if self.talk and len(wolves) > 1 else WerewolfPhase.HUNT, wolves, standing, log
        )

    def _whisper(self, s: WerewolfState, _move: Move, event: tuple[Event, ...]) -> WerewolfState:
        log = s.log + event
        if s.queue:
            return self._turn(WerewolfPhase.WHISPER, s.queue, s.standing, log)
        return self._turn(WerewolfPhase.HUNT, s.standing.living.wolves, s.standing, log)

    def _hunt(self, s: WerewolfState, move: Move, event: tuple[Event, ...]) -> WerewolfState:
        standing, votes, log = s.standing, s.secret + (move.args or (game.NO_VOTE,)), s.log + event
        if s.queue:
            return self._turn(WerewolfPhase.HUNT, s.queue, standing, log, secret=votes)
        tied = self._most(votes)
        if len(tied) == 1:
            return self._chosen(tied[0], standing, log)
        if self.rules.hunt_tie == "nobody":
            return self._chosen(game.NO_VOTE, standing, log)
        return WerewolfState(phase=WerewolfPhase.TIE, actor=NATURE, secret=tied, standing=standing, log=log)

    def _tie(self, s: WerewolfState, move: Move) -> WerewolfState:
        target = move.args[0] if move.args else game.NO_VOTE
        if move.kind != game.DRAWN or len(move.args) > 1 or target not in s.secret:
            raise IllegalMove(f"{move!r} draws none of the tied targets {list(s.secret)} ({game.NO_VOTE}: nobody)")
        return self._chosen(target, s.standing, s.log)

    def _chosen(self, target: int, standing: WerewolfStanding, log: tuple[Event, ...]) -> WerewolfState:
        """The wolves are told; the guard is woken."""
        living = standing.living
        log += (announcement(game.CHOSEN, _aimed_at(target), living.wolves),)
        dark = Darkness(victim=None if target == game.NO_VOTE else target)
        if living.guard:
            return self._turn(WerewolfPhase.PROTECT, living.guard, standing, log, dark=dark)
        return self._wake_witch(dark, standing, log)

    def _protect(self, s: WerewolfState, move: Move, event: tuple[Event, ...]) -> WerewolfState:
        protected = move.args[0] if move.args else None
        standing = s.standing._replace(guarded=protected)
        return self._wake_witch(s.dark._replace(protected=protected), standing, s.log + event)

    def _wake_witch(self, dark: Darkness, standing: WerewolfStanding, log: tuple[Event, ...]) -> WerewolfState:
        """While she has the antidote she is told whom the wolves would kill, the guard's work counted in."""
        witch = standing.living.witch
        if not witch or not standing.antidote:
            return self._wake_poisoner(dark, standing, log)
        dying = dark.killed
        log += (announcement(game.ATTACKED, NOBODY if dying is None else (dying,), witch),)
        if dying is None:
            return self._wake_poisoner(dark, standing, log)
        return self._turn(WerewolfPhase.SAVE, witch, standing, log, dark=dark)

    def _save(self, s: WerewolfState, move: Move, event: tuple[Event, ...]) -> WerewolfState:
        dark, standing = s.dark, s.standing
        if move.args[0]:
            dark, standing = dark._replace(saved=True), standing._replace(antidote=False)
        return self._wake_poisoner(dark, standing, s.log + event)

    def _wake_poisoner(self, dark: Darkness, standing: WerewolfStanding, log: tuple[Event, ...]) -> WerewolfState:
        witch = standing.living.witch
        acts = standing.poison and (
            (dark.killed,) != witch or (self.rules.dying_witch_poisons and not standing.antidote)
        )
        if witch and acts:
            return self._turn(WerewolfPhase.POISON, witch, standing, log, dark=dark)
        return self._wake_seer(dark, standing, log)

    def _poison(self, s: WerewolfState, move: Move, event: tuple[Event, ...]) -> WerewolfState:
        dark, standing = s.dark, s.standing
        if move.args:
            dark, standing = dark._replace(poisoned=move.args[0]), standing._replace(poison=False)
        return self._wake_seer(dark, standing, s.log + event)

    def _wake_seer(self, dark: Darkness, standing: WerewolfStanding, log: tuple[Event, ...]) -> WerewolfState:
        seer = standing.living.seer
        if seer and seer[0] not in (dark.killed, dark.poisoned):
            return self._turn(WerewolfPhase.CHECK, seer, standing, log, dark=dark)
        return self._dawn(dark, standing, log)

    def _check(self, s: WerewolfState, move: Move, event: tuple[Event, ...]) -> WerewolfState:
        standing, log = s.standing, s.log + event
        if move.args:
            target = move.args[0]
            role = standing.roles[target]
            wolf = role == self.wolf
            learnt = (target, int(wolf), role)[: 2 + self.seer_sees_roles]
            log += (announcement(game.CHECKED, learnt, (s.actor,)),)
            standing = standing._replace(checks=(*standing.checks, (target, wolf)))
        return self._dawn(s.dark, standing, log)

    # -- the day -----------------------------------------------------------------------------------------------

    def _dawn(self, dark: Darkness, standing: WerewolfStanding, log: tuple[Event, ...]) -> WerewolfState:
        """Tell the deaths of the night, in seat order, so that the order says nothing of their causes."""
        dead, hunter = dark.dead, standing.living.hunter
        log += (announcement(game.DAWN, (standing.day, *dead)),)
        if dead:
            standing = _bury(standing, dead)
            log += self._cards(dead, standing, by_night=True)
        if hunter and hunter == (dark.killed,) != (dark.poisoned,):
            return self._last_shot(hunter, standing, log, dark)
        return self._morning(standing, log)

    def _cards(self, dead: tuple[int, ...], standing: WerewolfStanding, *, by_night: bool) -> tuple[Event, ...]:
        """The roles of the dead, where the preset shows them."""
        if self.rules.reveals != "all" and not (by_night and standing.day == 1):
            return ()
        return tuple(announcement(game.REVEALED, (j, standing.roles[j])) for j in dead)

    def _morning(self, standing: WerewolfStanding, log: tuple[Event, ...]) -> WerewolfState:
        reason = self._won(standing)
        if reason:
            return self._end(standing, reason, log)
        speakers = standing.living.speakers
        log += (announcement(game.DAY, (standing.day, speakers[0])),)
        return self._turn(WerewolfPhase.TALK if self.talk else WerewolfPhase.VOTE, speakers, standing, log)

    def _speak(self, s: WerewolfState, _move: Move, event: tuple[Event, ...]) -> WerewolfState:
        queue, standing, log = s.queue, s.standing, s.log + event
        if queue:
            options = self._choices.talks[queue[0]]
            return WerewolfState(
                phase=s.phase, actor=queue[0], queue=queue[1:], standing=standing, options=options, log=log
            )
        return self._turn(WerewolfPhase.VOTE, standing.living.speakers, standing, log)

    def _vote(self, s: WerewolfState, move: Move, event: tuple[Event, ...]) -> WerewolfState:
        queue, votes, log = s.queue, s.secret + (move.args or (game.NO_VOTE,)), s.log + event
        if queue and self._secret_ballot:  # the same options for every voter
            return WerewolfState(
                phase=s.phase,
                actor=queue[0],
                queue=queue[1:],
                secret=votes,
                standing=s.standing,
                options=s.options,
                log=log,
            )
        if queue:
            return self._turn(WerewolfPhase.VOTE, queue, s.standing, log, secret=votes)
        return self._count(votes, s.standing, log)

    def _count(self, votes: tuple[int, ...], standing: WerewolfStanding, log: tuple[Event, ...]) -> WerewolfState:
        """All votes are in: show them; most votes execute, a tie or most passes nobody."""
        cast = [game.DEAD] * self.seats
        for voter, vote in zip(standing.living.speakers, votes, strict=True):
            cast[voter] = vote
        log += (announcement(game.VOTES, (standing.day, *cast)),)
        top = self._most(votes)
        if len(top) > 1 or top[0] == game.NO_VOTE:
            log += (announcement(game.EXECUTED, NOBODY),)
            return self._evening(standing, log)
        executed = top[0]
        log += (announcement(game.EXECUTED, (executed,)),)
        standing = _bury(standing, top)
        if self.talk:
            return self._turn(WerewolfPhase.LAST, (executed,), standing, log)
        return self._buried(executed, standing, log)

    def _last_words(self, s: WerewolfState, _move: Move, event: tuple[Event, ...]) -> WerewolfState:
        return self._buried(s.actor, s.standing, s.log + event)

    def _buried(self, seat: int, standing: WerewolfStanding, log: tuple[Event, ...]) -> WerewolfState:
        log += self._cards((seat,), standing, by_night=False)
        if standing.roles[seat] == self._powers[-1]:
            return self._last_shot((seat,), standing, log, CALM)
        return self._funeral(standing, log)

    def _last_shot(
        self, hunter: tuple[int, ...], standing: WerewolfStanding, log: tuple[Event, ...], dark: Darkness
    ) -> WerewolfState:
        """The card is shown first: that somebody is waited for tells it anyway."""
        log += (announcement(game.HUNTER_SHOWN, hunter),)
        return self._turn(WerewolfPhase.SHOOT, hunter, standing, log, dark=dark)

    def _shoot(self, s: WerewolfState, move: Move, event: tuple[Event, ...]) -> WerewolfState:
        standing, by_night = _bury(s.standing, move.args), s.dark != CALM
        log = s.log + event + self._cards(move.args, standing, by_night=by_night)
        return self._morning(standing, log) if by_night else self._funeral(standing, log)

    def _funeral(self, standing: WerewolfStanding, log: tuple[Event, ...]) -> WerewolfState:
        reason = self._won(standing)
        return self._end(standing, reason, log) if reason else self._evening(standing, log)

    def _evening(self, standing: WerewolfStanding, log: tuple[Event, ...]) -> WerewolfState:
        if standing.day >= self.max_days:
            return self._end(standing, "days", log)
        return self._dusk(standing, log)

    def _won(self, standing: WerewolfStanding) -> str:
        """Why the game is over; empty if it is not. If nobody lives, the wolves are dead as well."""
        living, wolves = len(standing.living.speakers), len(standing.living.wolves)
        if not wolves:
            return "wolves_dead"
        if wolves == living:
            return "village_dead"
        return "parity" if self.rules.wolves_win == "parity" and 2 * wolves >= living else ""

    def _end(self, standing: WerewolfStanding, reason: str, log: tuple[Event, ...]) -> WerewolfState:
        return WerewolfState(phase=WerewolfPhase.DONE, actor=OVER, standing=standing._replace(reason=reason), log=log)

    _STEPS: ClassVar = {
        WerewolfPhase.WHISPER: _whisper,
        WerewolfPhase.HUNT: _hunt,
        WerewolfPhase.PROTECT: _protect,
        WerewolfPhase.SAVE: _save,
        WerewolfPhase.POISON: _poison,
        WerewolfPhase.CHECK: _check,
        WerewolfPhase.TALK: _speak,
        WerewolfPhase.VOTE: _vote,
        WerewolfPhase.LAST: _last_words,
        WerewolfPhase.SHOOT: _shoot,
    }
    _NATURAL: ClassVar = {WerewolfPhase.DEAL: _deal, WerewolfPhase.TIE: _tie, WerewolfPhase.DONE: HiddenRoles._done}

    # -- small questions ---------------------------------------------------------------------------------------

    def _turn(
        self,
        phase: WerewolfPhase,
        queue: tuple[int, ...],
        standing: WerewolfStanding,
        log: tuple[Event, ...],
        *,
        secret: tuple[int, ...] = NOBODY,
        dark: Darkness = CALM,
    ) -> WerewolfState:
        """The first of the queue is asked."""
        seat = queue[0]
        return WerewolfState(
            phase=phase,
            actor=seat,
            queue=queue[1:],
            secret=secret,
            dark=dark,
            standing=standing,
            options=self._choices.of(phase, seat, standing),
            log=log,
        )

    def _most(self, votes: tuple[int, ...]) -> tuple[int, ...]:
        """The targets with most votes, ascending; nobody is a target like any other."""
        counts = [0] * (self.seats + 1)  # of each seat, and at -1 of nobody
        for vote in votes:
            counts[vote] += 1
        most = max(counts)
        if counts.count(most) == 1:
            return (counts.index(most),) if counts[game.NO_VOTE] < most else (game.NO_VOTE,)
        tied = tuple([seat for seat in range(self.seats) if counts[seat] == most])
        return (game.NO_VOTE, *tied) if counts[game.NO_VOTE] == most else tied


def _bury(standing: WerewolfStanding, dead: tuple[int, ...]) -> WerewolfStanding:
    alive = tuple([lives and seat not in dead for seat, lives in enumerate(standing.alive)])
    return standing._replace(alive=alive, living=standing.living.of(alive))


def _aimed_at(target: int) -> tuple[int, ...]:
    return NOBODY if target == game.NO_VOTE else (target,)
