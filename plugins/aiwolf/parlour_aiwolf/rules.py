"""AIWolf's Werewolf as a pure state machine, for the tables of 5 and of 15. No text, no arrays.

A game begins with night 0, in which nobody dies. A night, in this order: the wolves, if there are two or more, whisper; from
night 1 on, they vote for a victim, and the bodyguard protects another player; the seer divines a player. In the
morning all learn who died, the seer the species of its target, and the medium that of the executed. A day: talk in turns, then
a vote. In a turn everybody living says one line, `Skip` or `Over`; all hear the lines when the turn ends. The talk ends with a
turn in which all are over. Who has most votes is executed. A tied vote is repeated once, then one of the tied is drawn.

Source: the contest's server and its default settings (`aiwolf/AIWolfServer`: `AIWolfGame`, `GameData`; `aiwolf/AIWolfCommon`:
`GameSetting`, version 0.6). Where parlour differs, no player can tell, or it is said here:

* Lines of a turn are in the order of seats. The server draws an order, but nobody hears a line of the turn before its end.
* A seat that has skipped twice running may not skip a third time. The server takes the third for `Over`.
* Who is executed is dead at once. The server asks executed wolves and seers once more, and nobody learns the result.
* The game ends as soon as it is decided. The server plays the night first, which changes nothing about who wins.
* A seat must vote for another. The server draws a vote where none is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from parlour.envs.core import NATURE, OVER, Event, IllegalMove, Move, Outcome, announcement, shuffles
from parlour.envs.hidden_roles.rules import NOTHING, HiddenRoles, Options
from parlour.envs.language import speech
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.vocabulary import WerewolfView

from parlour_aiwolf.night import AIWolfNight
from parlour_aiwolf.state import AIWolfChoices, AIWolfStanding, AIWolfState, Phase
from parlour_aiwolf.vocabulary import (
    ATTACK_VOTES,
    BODYGUARD,
    IDENTIFIED,
    MEDIUM,
    REMARK,
    TALK_OVER,
    AIWolfRules,
    side_of,
)

if TYPE_CHECKING:
    import numpy as np

_UNASKED: Final = Move(TALK_OVER)
_OF_TABLE: Final = (True, False, True, False)
"""Fields of every View: the wolves win by parity, no roles are revealed, the guard may repeat, votes are secret until the end."""


class AIWolf(HiddenRoles[AIWolfState]):
    """The rules of one table. Satisfies `parlour.envs.core.Game`.

    Args:
        rules: Its roles and limits.
        talk: Whether there is talk by day and among the wolves.
        config: What `build` makes the same rules from.
    """

    def __init__(self, *, rules: AIWolfRules, talk: bool, config: Mapping[str, Any]) -> None:
        super().__init__(rules.roles, config)
        self.rules, self.talk = rules, talk
        self.worded = (REMARK,) if talk else ()
        self.wolf = self.role_names.index(game.WEREWOLF)
        self._sorted_deck = sorted(self.deck)
        self.choices = AIWolfChoices(seats=self.seats, roles=len(self.role_names), talk=talk)
        self.catalogue = self.choices.catalogue
        self.night = AIWolfNight(rules, self.choices, talk=talk)
        wolves = rules.roles.count(game.WEREWOLF)
        votes = 1 + rules.revotes
        spoken = rules.talk_turns * (self.seats + wolves) if talk else 0
        self.max_moves = 1 + self.seats * (spoken + votes * (self.seats + wolves) + 4)
        self._quiet = ((0, 0),) * self.seats
        self._order = tuple(range(self.seats))
        self._initial = AIWolfState(
            phase=Phase.DEAL,
            actor=NATURE,
            said=self._quiet,
            standing=AIWolfStanding(alive=(True,) * self.seats),
            seen=((),) * self.seats,
        )

    def hidden_cycles(self, view: WerewolfView) -> int:
        """How many cycles the present phase lasts, if it is one of the night."""
        return self.night.hidden_cycles(view)

    def asked(self, view: WerewolfView, cycle: int) -> tuple[Move, ...]:
        """What a seat is asked in a cycle of the night."""
        return self.night.asked(view, cycle)

    # -- the contract ------------------------------------------------------------------------------------------

    def initial(self) -> AIWolfState:
        return self._initial

    def nature(self, s: AIWolfState, rng: np.random.Generator) -> Move:
        if s.phase == Phase.DEAL:
            roles = list(self.deck)
            rng.shuffle(roles)
            return Move(game.DEALT, tuple(roles))
        if s.phase in (Phase.HUNT_TIE, Phase.VOTE_TIE):
            return Move(game.DRAWN, s.secret[int(rng.integers(len(s.secret)))].args)
        raise IllegalMove("nature has no move in this state")

    def chances(self, s: AIWolfState) -> Iterator[tuple[Move, float]]:
        """Every deal of the roles, or every tied target, each as likely as the others."""
        if s.phase == Phase.DEAL:
            yield from ((Move(game.DEALT, roles), share) for roles, share in shuffles(self.deck))
        elif s.phase in (Phase.HUNT_TIE, Phase.VOTE_TIE):
            yield from ((Move(game.DRAWN, target.args), 1 / len(s.secret)) for target in s.secret)

    def outcome(self, s: AIWolfState) -> Outcome | None:
        if s.actor != OVER:
            return None
        winner = game.VILLAGE if s.standing.reason == "wolves_dead" else game.WOLVES
        returns = tuple(1.0 if side_of(self.role_names[r]) == winner else -1.0 for r in s.standing.roles)
        return Outcome(returns, winner, s.standing.reason)

    def view(self, s: AIWolfState, seat: int) -> WerewolfView:
        standing = s.standing
        role = self.role_names[standing.roles[seat]] if standing.roles else ""
        return WerewolfView(
            seat,
            s.options.legal if s.actor == seat else (),
            s.seen[seat],
            role,
            self.roles,
            self.role_names,
            side_of(role) if role else "",
            game.fellows(standing.roles, self.wolf, seat) if role == game.WEREWOLF else (),
            standing.alive,
            standing.day,
            Phase.WHISPER <= s.phase <= Phase.CHECK,
            self._order,
            None,
            None,
            standing.guarded if role == BODYGUARD else None,
            standing.checks if role == game.SEER else (),
            *_OF_TABLE,
            self.seats,
        )

    # -- the night ---------------------------------------------------------------------------------------------

    def _deal(self, s: AIWolfState, move: Move) -> AIWolfState:
        roles = move.args
        if move.kind != game.DEALT or sorted(roles) != self._sorted_deck:
            raise IllegalMove(f"{move!r} deals other roles than {', '.join(self.roles)}")
        wolves = tuple(j for j, role in enumerate(roles) if role == self.wolf)
        standing = s.standing._replace(roles=roles, living=self._order, wolves=wolves)
        return self._dusk(s._replace(standing=standing))

    def _dusk(self, s: AIWolfState) -> AIWolfState:
        """The next night falls. Wolves come first: there always are some, so nobody learns from the turns who is dead."""
        s = _announce(s, announcement(game.NIGHT, (s.standing.day,)))
        if self.talk and len(s.standing.wolves) > 1:
            return self._next_turn(s._replace(phase=Phase.WHISPER, turn=0, said=self._quiet))
        return self._whispered(s)

    def _whispered(self, s: AIWolfState) -> AIWolfState:
        return self._wake_seer(s) if s.standing.day == 0 else self._hunt_begins(s, 0)

    def _hunt_begins(self, s: AIWolfState, turn: int) -> AIWolfState:
        return self._asked(s._replace(turn=turn), Phase.HUNT, s.standing.wolves, game.KILL)

    def _hunt(self, s: AIWolfState, move: Move, _event: tuple[Event, ...]) -> AIWolfState:
        """A wolf's vote. After the last they see all; every human has a vote of its own, so that somebody is attacked."""
        secret = (*s.secret, move._replace(words=""))
        if s.queue:
            return self._goes_on(s, secret, game.KILL)
        wolves = s.standing.wolves
        s = _announce(s, announcement(ATTACK_VOTES, self._cast(wolves, secret), wolves))
        humans = [Move(game.KILL, (j,)) for j in s.standing.living if j not in wolves]
        top = _most([*(vote for vote in secret if vote.args), *humans])
        if len(top) == 1:
            return self._attacked(s, top[0].args[0])
        if s.turn < self.rules.revotes and len(wolves) > 1:
            return self._hunt_begins(s, s.turn + 1)
        return s._replace(phase=Phase.HUNT_TIE, actor=NATURE, queue=(), secret=top, options=NOTHING)

    def _attacked(self, s: AIWolfState, target: int) -> AIWolfState:
        s = _announce(s, announcement(game.CHOSEN, (target,), s.standing.wolves))
        s = s._replace(standing=s.standing._replace(attacked=target))
        guard = self._living(s.standing, BODYGUARD)
        return self._wake_seer(s) if guard is None else self._asked(s, Phase.PROTECT, (guard,), game.GUARDS)

    def _protect(self, s: AIWolfState, move: Move, event: tuple[Event, ...]) -> AIWolfState:
        guarded = move.args[0] if move.args else None
        attacked = None if guarded == s.standing.attacked else s.standing.attacked
        standing = s.standing._replace(guarded=guarded, attacked=attacked)
        return self._wake_seer(_announce(s, *event)._replace(standing=standing))

    def _wake_seer(self, s: AIWolfState) -> AIWolfState:
        seer = self._living(s.standing, game.SEER)
        return self._dawn(s) if seer is None else self._asked(s, Phase.CHECK, (seer,), game.CHECKS)

    def _check(self, s: AIWolfState, move: Move, event: tuple[Event, ...]) -> AIWolfState:
        check = (move.args[0], s.standing.roles[move.args[0]] == self.wolf) if move.args else None
        return self._dawn(_announce(s, *event)._replace(standing=s.standing._replace(check=check)))

    # -- the day -----------------------------------------------------------------------------------------------

    def _dawn(self, s: AIWolfState) -> AIWolfState:
        """Tell the death of the night to all, and their results to the seer and the medium."""
        before, dead = s.standing, s.standing.attacked
        standing = self._bury(before, dead)._replace(day=before.day + 1, attacked=None, check=None, executed=None)
        s = _announce(s, announcement(game.DAWN, (standing.day, *(() if dead is None else (dead,)))))
        seer, medium = self._living(standing, game.SEER), self._living(standing, MEDIUM)
        if before.check is not None and seer is not None:
            s = _announce(s, announcement(game.CHECKED, (before.check[0], int(before.check[1])), (seer,)))
            standing = standing._replace(checks=(*standing.checks, before.check))
        if before.executed is not None and medium is not None:
            wolf = int(standing.roles[before.executed] == self.wolf)
            s = _announce(s, announcement(IDENTIFIED, (before.executed, wolf), (medium,)))
        s = s._replace(standing=standing)
        reason = self._won(standing)
        if reason:
            return self._end(s, reason)
        s = _announce(s, announcement(game.DAY, (standing.day, standing.living[0])))
        if self.talk:
            return self._next_turn(s._replace(phase=Phase.TALK, turn=0, said=self._quiet))
        return self._vote_begins(s, 0)

    def _vote_begins(self, s: AIWolfState, turn: int) -> AIWolfState:
        return self._asked(s._replace(turn=turn), Phase.VOTE, s.standing.living, game.BALLOT)

    def _vote(self, s: AIWolfState, move: Move, _event: tuple[Event, ...]) -> AIWolfState:
        secret = (*s.secret, move._replace(words=""))
        if s.queue:
            return self._goes_on(s, secret, game.BALLOT)
        living = s.standing.living
        s = _announce(s, announcement(game.VOTES, (s.standing.day, *self._cast(living, secret))))
        top = _most(secret)
        if len(top) == 1:
            return self._executed(s, top[0].args[0])
        if s.turn < self.rules.revotes:
            return self._vote_begins(s, s.turn + 1)
        return s._replace(phase=Phase.VOTE_TIE, actor=NATURE, queue=(), secret=top, options=NOTHING)

    def _executed(self, s: AIWolfState, seat: int) -> AIWolfState:
        s = _announce(s, announcement(game.EXECUTED, (seat,)))
        s = s._replace(standing=self._bury(s.standing, seat)._replace(executed=seat))
        reason = self._won(s.standing)
        return self._end(s, reason) if reason else self._dusk(s)

    def _tie(self, s: AIWolfState, move: Move) -> AIWolfState:
        """Nature draws one of the tied targets."""
        if move.kind != game.DRAWN or move.args not in [target.args for target in s.secret]:
            raise IllegalMove(f"{move!r} draws none of the tied targets {[target.args[0] for target in s.secret]}")
        return (self._attacked if s.phase == Phase.HUNT_TIE else self._executed)(s, move.args[0])

    # -- talk, by day and among the wolves ---------------------------------------------------------------------

    def _next_turn(self, s: AIWolfState) -> AIWolfState:
        """The first of those who have lines left is asked; the talk is over if nobody has."""
        queue = tuple([j for j in self._party(s) if s.said[j][0] < self.rules.talk_lines])
        if not queue:
            return self._talked(s)
        return s._replace(actor=queue[0], queue=queue[1:], secret=(), options=self._lines(s, queue[0]))

    def _speak(self, s: AIWolfState, move: Move, _event: tuple[Event, ...]) -> AIWolfState:
        queue, secret = s.queue, (*s.secret, move)
        if queue:
            return s._replace(actor=queue[0], queue=queue[1:], secret=secret, options=self._lines(s, queue[0]))
        return self._turn_ends(s, secret)

    def _turn_ends(self, s: AIWolfState, secret: tuple[Move, ...]) -> AIWolfState:
        """All lines of the turn are heard; who has no lines left is over."""
        party, lines, said = self._party(s), iter(secret), list(s.said)
        events, goes_on = [], False
        to = None if s.phase == Phase.TALK else party
        for seat in party:
            count, skipped = said[seat]
            move = next(lines) if count < self.rules.talk_lines else _UNASKED
            events.append(Event(seat, move, to))
            if move.kind == speech.SILENT:
                said[seat] = count, skipped + 1
            elif move.kind != TALK_OVER:
                said[seat] = count + 1, 0
            goes_on = goes_on or move.kind != TALK_OVER
        s = _announce(s, *events)._replace(turn=s.turn + 1, said=tuple(said))
        if goes_on and s.turn < self.rules.talk_turns:
            return self._next_turn(s)
        return self._talked(s)

    def _talked(self, s: AIWolfState) -> AIWolfState:
        return self._vote_begins(s, 0) if s.phase == Phase.TALK else self._whispered(s)

    def _party(self, s: AIWolfState) -> tuple[int, ...]:
        """Who talks in this phase."""
        return s.standing.living if s.phase == Phase.TALK else s.standing.wolves

    def _lines(self, s: AIWolfState, seat: int) -> Options:
        may_skip = s.said[seat][1] < self.rules.skips
        if s.phase == Phase.TALK:
            return self.choices.talk(seat, may_skip)
        return self.choices.whisper(s.standing.alive, s.standing.wolves, may_skip)

    _STEPS: ClassVar = {
        Phase.WHISPER: _speak,
        Phase.HUNT: _hunt,
        Phase.PROTECT: _protect,
        Phase.CHECK: _check,
        Phase.TALK: _speak,
        Phase.VOTE: _vote,
    }
    _NATURAL: ClassVar = {Phase.DEAL: _deal, Phase.HUNT_TIE: _tie, Phase.VOTE_TIE: _tie, Phase.DONE: HiddenRoles._done}

    # -- small questions ---------------------------------------------------------------------------------------

    def _asked(self, s: AIWolfState, phase: Phase, queue: tuple[int, ...], kind: str) -> AIWolfState:
        """The first of the queue chooses a target."""
        seat, standing = queue[0], s.standing
        options = self.choices.aim(kind, seat, standing.alive, standing.wolves if kind == game.KILL else ())
        return s._replace(phase=phase, actor=seat, queue=queue[1:], secret=(), options=options)

    def _goes_on(self, s: AIWolfState, secret: tuple[Move, ...], kind: str) -> AIWolfState:
        return self._asked(s, s.phase, s.queue, kind)._replace(secret=secret)

    def _living(self, standing: AIWolfStanding, role: str) -> int | None:
        """The seat of a role of which there is one, if it lives."""
        number = self.role_names.index(role) if role in self.role_names else None
        return next((j for j in standing.living if standing.roles[j] == number), None)

    def _cast(self, voters: tuple[int, ...], votes: tuple[Move, ...]) -> tuple[int, ...]:
        """By seat: the seat voted for, `NO_VOTE`, or `DEAD` for who does not vote."""
        cast = [game.DEAD] * self.seats
        for voter, vote in zip(voters, votes, strict=True):
            cast[voter] = vote.args[0] if vote.args else game.NO_VOTE
        return tuple(cast)

    def _bury(self, standing: AIWolfStanding, dead: int | None) -> AIWolfStanding:
        if dead is None:
            return standing
        alive = tuple(lives and j != dead for j, lives in enumerate(standing.alive))
        wolves = tuple(j for j in standing.wolves if j != dead)
        return standing._replace(alive=alive, living=tuple(j for j in standing.living if j != dead), wolves=wolves)

    def _won(self, standing: AIWolfStanding) -> str:
        """Why the game is over; empty if it is not. The possessed counts as a human."""
        if not standing.wolves:
            return "wolves_dead"
        return "parity" if 2 * len(standing.wolves) >= len(standing.living) else ""

    def _end(self, s: AIWolfState, reason: str) -> AIWolfState:
        standing = s.standing._replace(reason=reason)
        return s._replace(phase=Phase.DONE, actor=OVER, queue=(), secret=(), standing=standing, options=NOTHING)


def _announce(s: AIWolfState, *events: Event) -> AIWolfState:
    """The events happen: all that may see them do."""
    seen = tuple(
        [(*before, *[e for e in events if e.to is None or seat in e.to]) for seat, before in enumerate(s.seen)]
    )
    return s._replace(log=(*s.log, *events), seen=seen)


def _most(votes: tuple[Move, ...] | list[Move]) -> tuple[Move, ...]:
    """The targets with most votes, ascending."""
    counts = Counter(votes)
    most = max(counts.values())
    return tuple(sorted(target for target, count in counts.items() if count == most))
