"""Avalon's rules as a pure state machine, for 5-10 players. No text, no arrays, no PettingZoo.

Order of a quest: { leader announced; all speak once, leader first; the leader names a team; all vote in secret } until
a team goes; its members play cards in secret; the number of fails is shown; where the rules say so the Assassin may
name Merlin; the quest is scored. Three scored quests win. Where the rules say so, another role names Merlin. Sources and the
points where they differ: `presets.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, combinations
from typing import TYPE_CHECKING, ClassVar

from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.options import AvalonOptions
from parlour.envs.avalon.presets import PROPOSALS, QUESTS, QUESTS_TO_WIN, TEAM_SIZES
from parlour.envs.avalon.state import (
    DEAL,
    DONE,
    DRAW,
    HUNT,
    NOBODY,
    PROPOSE,
    QUEST,
    TALK,
    VOTE,
    AvalonStanding,
    AvalonState,
)
from parlour.envs.avalon.vocabulary import AvalonView, side_of
from parlour.envs.core import NATURE, OVER, Event, IllegalMove, Knowledge, Move, Outcome, shuffles
from parlour.envs.hidden_roles.rules import NOTHING, HiddenRoles, Options, seen_by, shown, told
from parlour.envs.language import speech

if TYPE_CHECKING:
    import numpy as np

# The frequent moves build their tuples without the keyword machinery of NamedTuple, at half the cost.
_new = tuple.__new__


class Avalon(HiddenRoles[AvalonState]):
    """The rules for one number of players, one set of roles and one preset. Satisfies `parlour.envs.core.Game`."""

    def __init__(self, options: AvalonOptions) -> None:
        super().__init__(options.dealt, options.replace(roles=options.dealt).plain())
        num_players, rules = options.num_players, options.points
        self.rules = rules
        self.talk = options.talk
        self.evil_roles = frozenset(k for k, name in enumerate(self.role_names) if side_of(name) == game.EVIL)
        self.sizes = rules.sizes or TEAM_SIZES[num_players]
        self.guesser = self.role_names.index(rules.guesser)
        self.fails_needed = tuple(
            2 if rules.two_fails and num_players >= 7 and quest == 3 else 1 for quest in range(QUESTS)
        )
        # a team goes with at least this many approvals
        self.carries = num_players // 2 + 1 if rules.majority == "strict" else (num_players + 1) // 2
        self.shown_points = (rules.guesser, False)
        """What every View tells of the rules at its end: its fields from `guesser` on."""
        at_end = rules.fifth_rejection == "evil_wins", rules.hunt == "end"
        self.shown_table = (self.roles, self.sizes, self.fails_needed, PROPOSALS, *at_end)
        """What it tells of the table: its fields from `roles` to `guess_at_end`."""
        self._tabulate()
        per_proposal = (num_players if self.talk else 0) + 1 + num_players + 1
        self.max_moves = 1 + QUESTS * (PROPOSALS * per_proposal + max(self.sizes) + 1)

    def _tabulate(self) -> None:
        """Lay out all moves once, so that `legal` is a look-up."""
        seats, rules = range(self.seats), self.rules
        talks = speech.speeches(game.ACTS, self.seats, len(self.role_names)) if self.talk else ()
        team_sizes = range(max(self.sizes) + 1) if rules.short_teams else sorted(set(self.sizes))
        teams = {k: tuple(Move(game.TEAM, team) for team in combinations(seats, k)) for k in team_sizes}
        guesses = (game.PASS, *(Move(game.GUESS, (j,)) for j in seats))
        cards = game.SUCCESS, game.FAIL
        decisions = (game.APPROVE, game.REJECT, *cards, *guesses)
        self.catalogue = (*talks, *chain.from_iterable(teams.values()), *decisions)
        by_quest = [
            tuple(chain.from_iterable(teams[k] for k in (range(size + 1) if rules.short_teams else (size,))))
            for size in self.sizes
        ]
        named = guesses if rules.hunt == "each_quest" else guesses[1:]
        self._talks = [shown(i, None, [m for m in talks if speech.sayable(m, i)]) for i in seats]
        self._teams = [[shown(i, None, moves) for i in seats] for moves in by_quest]
        self._ballots = Options((game.APPROVE, game.REJECT))
        self._cards = [[shown(i, (i,), hand) for i in seats] for hand in (cards, cards[: 1 + rules.good_may_fail])]
        self._guesses = [shown(i, (i,), [m for m in named if m.args != (i,)]) for i in seats]

    # -- the contract ------------------------------------------------------------------------------------------

    def initial(self) -> AvalonState:
        return AvalonState(
            DEAL, NATURE, 0, NOBODY, NOBODY, AvalonStanding(NOBODY, 0, -1, 0, 0, 0, False, ""), NOTHING, ()
        )

    def nature(self, s: AvalonState, rng: np.random.Generator) -> Move:
        if s.phase == DEAL:
            dealt = rng.permutation(self.deck).tolist()
            return Move(game.DEALT, (*dealt, int(rng.integers(self.seats))))
        if s.phase == DRAW:
            drawn = rng.choice(self.seats, size=self.sizes[s.standing.quest], replace=False).tolist()
            return Move(game.DRAWN, tuple(sorted(drawn)))
        raise IllegalMove("nature has no move in this state")

    def chances(self, s: AvalonState) -> Iterator[tuple[Move, float]]:
        """Every deal of the roles with every leader, or every team, each as likely as the others."""
        if s.phase == DEAL:
            for roles, share in shuffles(self.deck):
                yield from ((Move(game.DEALT, (*roles, leader)), share / self.seats) for leader in range(self.seats))
        elif s.phase == DRAW:
            teams = tuple(combinations(range(self.seats), self.sizes[s.standing.quest]))
            yield from ((Move(game.DRAWN, team), 1 / len(teams)) for team in teams)

    def outcome(self, s: AvalonState) -> Outcome | None:
        if s.actor != OVER:
            return None
        standing = s.standing
        good_wins = standing.good >= QUESTS_TO_WIN and standing.reason == "quests"
        returns = tuple(1.0 if (role not in self.evil_roles) == good_wins else -1.0 for role in standing.roles)
        return Outcome(returns, game.GOOD if good_wins else game.EVIL, standing.reason)

    def view(self, s: AvalonState, seat: int) -> AvalonView:
        roles, quest, leader, counted, good, evil, _, _ = s.standing
        role = self.role_names[roles[seat]] if roles else ""
        return _new(
            AvalonView,
            (
                seat,
                self.legal(s) if s.actor == seat else (),
                seen_by(seat, s.log),
                role,
                side_of(role) if role else "",
                self.night(roles, seat) if roles else (),
                *self.shown_table,
                quest,
                leader,
                counted,
                s.team,
                good,
                evil,
                *self.shown_points,
            ),
        )

    @lru_cache(maxsize=4096)  # noqa: B019 - bounded, and tables of rules live as long as their environments
    def night(self, roles: tuple[int, ...], seat: int) -> tuple[Knowledge, ...]:
        """What `seat` is shown before the first quest (rule sheet, "character roles")."""
        role = self.role_names[roles[seat]]
        roles_shown = game.shown_roles(role, self.role_names)
        if not roles_shown:
            return ()
        others = ((j, self.role_names[r]) for j, r in enumerate(roles) if j != seat)
        return (Knowledge(roles_shown, tuple(j for j, other in others if other in roles_shown)),)

    # -- the phases, in the order of play ----------------------------------------------------------------------

    def _deal(self, s: AvalonState, move: Move) -> AvalonState:
        roles, leader = move.args[:-1], move.args[-1] if move.args else -1
        if move.kind != game.DEALT or sorted(roles) != sorted(self.deck) or not 0 <= leader < self.seats:
            raise IllegalMove(f"{move!r} deals other roles than {', '.join(self.roles)} or has no leader")
        return self._open(AvalonStanding(roles, 0, leader, 0, 0, 0, False, ""), ())

    def _open(self, standing: AvalonStanding, log: tuple[Event, ...]) -> AvalonState:
        """Announce the leader and begin the discussion of a proposal."""
        _, quest, leader, counted, _, _, _, _ = standing
        log += (told(game.LEADS, (quest, leader, self.sizes[quest], counted, self.fails_needed[quest])),)
        if self.talk:
            return _new(AvalonState, (TALK, leader, 0, NOBODY, NOBODY, standing, self._talks[leader], log))
        return _new(AvalonState, (PROPOSE, leader, 0, NOBODY, NOBODY, standing, self._teams[quest][leader], log))

    def _talk(self, s: AvalonState, _move: Move, event: tuple[Event, ...]) -> AvalonState:
        _, _, turn, _, _, standing, _, log = s
        turn += 1
        leader = standing.leader
        if turn == self.seats:
            options = self._teams[standing.quest][leader]
            return _new(AvalonState, (PROPOSE, leader, 0, NOBODY, NOBODY, standing, options, log + event))
        speaker = (leader + turn) % self.seats
        return _new(AvalonState, (TALK, speaker, turn, NOBODY, NOBODY, standing, self._talks[speaker], log + event))

    def _propose(self, s: AvalonState, move: Move, event: tuple[Event, ...]) -> AvalonState:
        team, standing = move.args, s.standing
        # a short team counts twice (published code)
        weight = 2 if len(team) < self.sizes[standing.quest] else 1
        standing, log = standing._replace(counted=standing.counted + weight), s.log + event
        return _new(AvalonState, (VOTE, 0, 0, team, NOBODY, standing, self._ballots, log))

    def _vote(self, s: AvalonState, move: Move, _event: tuple[Event, ...]) -> AvalonState:
        _, _, turn, team, votes, standing, options, log = s
        votes += move.args
        turn += 1
        if turn == self.seats:
            return self._count(s, votes)
        return _new(AvalonState, (VOTE, turn, turn, team, votes, standing, options, log))

    def _count(self, s: AvalonState, votes: tuple[int, ...]) -> AvalonState:
        """All votes are in: show them, then send the team, open the next proposal, or end the game."""
        team, standing, log = s.team, s.standing, s.log
        at_limit = standing.counted >= PROPOSALS
        goes = sum(votes) >= self.carries or (at_limit and self.rules.fifth_rejection == "team_goes")
        log += (_new(Event, (NATURE, Move(game.VOTES, (int(goes), *votes)), None)),)
        if goes:
            return self._send(team, standing, log)
        if at_limit:
            return self._end(s, standing, "rejections", log)
        return self._open(standing._replace(leader=(standing.leader + 1) % self.seats), log)

    def _send(self, team: tuple[int, ...], standing: AvalonStanding, log: tuple[Event, ...]) -> AvalonState:
        """The team goes on the quest; in place of a short one nature draws another."""
        if len(team) < self.sizes[standing.quest]:
            return _new(AvalonState, (DRAW, NATURE, 0, team, NOBODY, standing, NOTHING, log))
        options = self._hand(standing, team[0])
        return _new(AvalonState, (QUEST, team[0], 0, team, NOBODY, standing, options, log))

    def _draw(self, s: AvalonState, move: Move) -> AvalonState:
        """Nature names a whole team in place of a short one; the named seats are dropped (published code)."""
        team, size = move.args, self.sizes[s.standing.quest]
        fits = len(set(team)) == size and all(0 <= j < self.seats for j in team)
        if move.kind != game.DRAWN or not fits or list(team) != sorted(team):
            raise IllegalMove(f"{move!r} draws no team of {size} different seats in ascending order")
        options = self._hand(s.standing, team[0])
        log = (*s.log, Event(NATURE, move, None))
        return s._replace(phase=QUEST, actor=team[0], team=team, options=options, log=log)

    def _card(self, s: AvalonState, move: Move, event: tuple[Event, ...]) -> AvalonState:
        _, _, turn, team, cards, standing, _, log = s
        cards += move.args
        turn += 1
        log = log + event
        if turn < len(team):
            options = self._hand(standing, team[turn])
            return _new(AvalonState, (QUEST, team[turn], turn, team, cards, standing, options, log))
        quest = standing.quest
        fails = cards.count(0)
        success = int(fails < self.fails_needed[quest])
        log += (told(game.FAILS, (quest, fails, success)),)
        if self.rules.hunt == "each_quest" and not standing.guessed:
            return self._hunt(team, success, standing, log)
        return self._score(s, success, standing, log)

    def _score(self, s: AvalonState, success: int, standing: AvalonStanding, log: tuple[Event, ...]) -> AvalonState:
        """Score the quest; then the end, the guess at the end, or the next quest."""
        good, evil = standing.good + success, standing.evil + 1 - success
        log += (told(game.SCORE, (good, evil)),)
        if good == QUESTS_TO_WIN and self.rules.hunt == "end":
            return self._hunt(s.team, success, standing._replace(good=good, evil=evil), log)
        if QUESTS_TO_WIN in (good, evil):
            return self._end(s, standing._replace(good=good, evil=evil), "quests", log)
        roles, quest, leader, _, _, _, guessed, _ = standing
        leader = (leader + 1) % self.seats
        return self._open(_new(AvalonStanding, (roles, quest + 1, leader, 0, good, evil, guessed, "")), log)

    def _hunt(
        self, team: tuple[int, ...], success: int, standing: AvalonStanding, log: tuple[Event, ...]
    ) -> AvalonState:
        actor = standing.roles.index(self.guesser)
        return _new(AvalonState, (HUNT, actor, 0, team, (success,), standing, self._guesses[actor], log))

    def _guess(self, s: AvalonState, move: Move, event: tuple[Event, ...]) -> AvalonState:
        log = s.log + event
        if not move.args:
            return self._score(s, s.secret[0], s.standing, log)
        right = s.standing.roles[move.args[0]] == self.role_names.index(game.MERLIN)
        log = (*log, told(game.EXPOSED, (s.actor, move.args[0], int(right))))
        standing = s.standing._replace(guessed=True)
        if right or self.rules.hunt == "end":
            return self._end(s, standing, "assassination" if right else "quests", log)
        return self._score(s, s.secret[0], standing, log)

    def _end(self, s: AvalonState, standing: AvalonStanding, reason: str, log: tuple[Event, ...]) -> AvalonState:
        return AvalonState(DONE, OVER, 0, s.team, NOBODY, standing._replace(reason=reason), NOTHING, log)

    _STEPS: ClassVar = {TALK: _talk, PROPOSE: _propose, VOTE: _vote, QUEST: _card, HUNT: _guess}
    _NATURAL: ClassVar = {DEAL: _deal, DRAW: _draw, DONE: HiddenRoles._done}

    def _worded(self, s: AvalonState, move: Move) -> tuple[Event, ...]:
        """As for all games; words that nobody can hear are left out."""
        return super()._worded(s, move if move.kind in game.ACTS else Move(move.kind, move.args))

    # -- small questions ---------------------------------------------------------------------------------------

    def options(self, phase: int, seat: int, *, quest: int = 0, good: bool = True) -> Options:
        """What a seat may do when it is asked in a phase, on a quest (0-4), if it is good; see `state.py` for the phases."""
        if phase == VOTE:
            return self._ballots
        tables = {TALK: self._talks, PROPOSE: self._teams[quest], QUEST: self._cards[good], HUNT: self._guesses}
        return tables[phase][seat]

    def _hand(self, standing: AvalonStanding, seat: int) -> Options:
        """The cards that a member of a team may play."""
        return self._cards[standing.roles[seat] not in self.evil_roles][seat]

    def _refusal(self, s: AvalonState, move: Move) -> str:
        if move.kind == game.TEAM == s.options.legal[0].kind:
            size = self.sizes[s.standing.quest]
            return f"team {list(move.args)} is not accepted; accepted: {size} different seats, ascending"
        return super()._refusal(s, move)
