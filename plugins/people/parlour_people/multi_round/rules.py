"""The rules of the published games of GPT-5.1, on top of Avalon's.

More than half of the votes approve a team; one fail card fails a quest; Merlin is guessed once, after three good quests. Besides:

- All speak once a quest, before its first proposal, from seat 0 on.
- The leader may give reasons for a team, which all hear, and a voter may write a comment, which nobody else reads.
- The fifth team of a quest goes without a vote.
- Before the guess all evil seats, Oberon too, are told who they are, and each speaks once to them, by number.
- The number of players decides the roles. Without an Assassin, Mordred (six players) or Morgana (seven) guesses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Final

from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.options import AvalonOptions
from parlour.envs.avalon.presets import PROPOSALS, AvalonRules
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.state import AvalonPhase, AvalonStanding, AvalonState
from parlour.envs.avalon.vocabulary import ASSASSIN, MERLIN, MINION, MORDRED, MORGANA, OBERON, PERCIVAL, SERVANT
from parlour.envs.core import Event, Move, announcement
from parlour.envs.hidden_roles.rules import HiddenRoles, shown

CONSULT: Final = (
    "consult"  # args: (seat,) held for Merlin, or () without a name; among the evil seats, before the guess
)
GATHERS: Final = "gathers"  # args: the evil seats, who alone are told, before they consult
GOES: Final = "goes"  # args: (); the fifth team goes without a vote
CONSULTATION: Final = 8
"""The phase before `HUNT`."""
ROLES: Final = {
    5: (MERLIN, SERVANT, SERVANT, ASSASSIN, MINION),
    6: (MERLIN, PERCIVAL, SERVANT, SERVANT, MORGANA, MORDRED),
    7: (MERLIN, PERCIVAL, SERVANT, SERVANT, MORGANA, MORDRED, OBERON),
    8: (MERLIN, PERCIVAL, *(SERVANT,) * 3, MORGANA, ASSASSIN, MORDRED),
    9: (MERLIN, PERCIVAL, *(SERVANT,) * 4, MORGANA, ASSASSIN, MORDRED),
    10: (MERLIN, PERCIVAL, *(SERVANT,) * 4, MORGANA, ASSASSIN, MORDRED, OBERON),
}
"""By number of players."""
GUESSERS: Final = {6: MORDRED, 7: MORGANA}
"""Who names Merlin where there is no Assassin, by number of players."""


class _Table(AvalonOptions):
    """A table whose fifth team goes."""

    @property
    def points(self) -> AvalonRules:
        return replace(super().points, fifth_rejection="team_goes")


class MultiRoundAvalon(Avalon):
    """The rules of one table. Satisfies `parlour.envs.core.Game`."""

    worded = (game.TEAM, game.GUESS, game.BALLOT, CONSULT)
    """Kinds of moves that take words, besides speeches."""

    def __init__(self, num_players: int) -> None:
        roles, guesser = ROLES[num_players], GUESSERS.get(num_players, ASSASSIN)
        super().__init__(
            _Table(num_players=num_players, rules="official", roles=roles, two_fails=False, guesser=guesser)
        )
        self.config = {"num_players": num_players}
        seats = range(num_players)
        holds = (Move(CONSULT), *(Move(CONSULT, (j,)) for j in seats))
        self.catalogue = (*self.catalogue, *holds)
        self._holds = [tuple(move for move in holds if move.args != (i,)) for i in seats]
        self.max_moves += sum(role in self.evil_roles for role in self.deck)

    def _open(self, standing: AvalonStanding, log: tuple[Event, ...]) -> AvalonState:
        opened = super()._open(standing, log)
        if not standing.counted:
            return opened._replace(actor=0, options=self._talks[0])
        return opened._replace(phase=AvalonPhase.PROPOSE, options=self._teams[standing.quest][standing.leader])

    def _spoken(self, s: AvalonState, move: Move, event: tuple[Event, ...]) -> AvalonState:
        after = self._talk(s, move, event)
        turn = after.turn
        return after if after.phase == AvalonPhase.PROPOSE else after._replace(actor=turn, options=self._talks[turn])

    def _named(self, s: AvalonState, move: Move, event: tuple[Event, ...]) -> AvalonState:
        after = self._propose(s, move, event)
        if after.standing.counted < PROPOSALS:
            return after
        return self._send(after.team, after.standing, (*after.log, announcement(GOES, ())))

    def _voted(self, s: AvalonState, move: Move, event: tuple[Event, ...]) -> AvalonState:
        """The voter reads its own comment at once."""
        if move.words:
            s = s._replace(log=(*s.log, Event(s.actor, move, (s.actor,))))
        return self._vote(s, move, event)

    def _hunt(
        self, team: tuple[int, ...], success: int, standing: AvalonStanding, log: tuple[Event, ...]
    ) -> AvalonState:
        """The evil seats are told who they are, and speak among themselves before the guess."""
        evil = tuple(j for j, role in enumerate(standing.roles) if role in self.evil_roles)
        log = (*log, announcement(GATHERS, evil, evil))
        options = shown(evil[0], evil, self._holds[evil[0]])
        return AvalonState(
            phase=CONSULTATION,
            actor=evil[0],
            team=team,
            success=success,
            standing=standing,
            options=options,
            log=log,
        )

    def _consult(self, s: AvalonState, _move: Move, event: tuple[Event, ...]) -> AvalonState:
        turn, log, evil = s.turn + 1, s.log + event, event[0].to
        assert evil is not None  # see `_hunt`
        if turn == len(evil):
            return super()._hunt(s.team, s.success, s.standing, log)
        speaker = evil[turn]
        return s._replace(actor=speaker, turn=turn, options=shown(speaker, evil, self._holds[speaker]), log=log)

    def _worded(self, s: AvalonState, move: Move) -> tuple[Event, ...]:
        if move.kind in self.worded:
            return HiddenRoles._worded(self, s, move)
        return super()._worded(s, move)

    _STEPS: ClassVar = {
        **Avalon._STEPS,
        AvalonPhase.TALK: _spoken,
        AvalonPhase.PROPOSE: _named,
        AvalonPhase.VOTE: _voted,
        CONSULTATION: _consult,
    }
