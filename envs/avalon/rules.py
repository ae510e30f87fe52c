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
from typing import TYPE_CHECKING, Any, ClassVar

from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.options import AvalonOptions
from parlour.envs.avalon.presets import PROPOSALS, QUESTS, QUESTS_TO_WIN, TEAM_SIZES
from parlour.envs.avalon.state import AvalonPhase, AvalonStanding, AvalonState
from parlour.envs.avalon.vocabulary import AvalonView, side_of
from parlour.envs.core import NATURE, OVER, Event, IllegalMove, Knowledge, Move, Outcome, announcement, shuffles
from parlour.envs.hidden_roles.rules import HiddenRoles, Options, shown
from parlour.envs.language import speech

if TYPE_CHECKING:
    import numpy as np


class Avalon(HiddenRoles[AvalonState]):
    """The rules for one number of players, one set of roles and one preset. Satisfies `parlour.envs.core.Game`."""

    def __init__(self, options: AvalonOptions) -> None:
        super().__init__(options.dealt, options.replace(roles=options.dealt).plain())
        num_players, rules = options.num_players, options.points
        self.rules = rules
        self.talk = options.talk
        self.added_rules = options.in_words()
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
        return AvalonState(phase=AvalonPhase.DEAL, actor=NATURE, standing=AvalonStanding())

    def nature(self, s: AvalonState, rng: np.random.Generator) -> Move:
        if s.phase == AvalonPhase.DEAL:
            dealt = rng.permutation(self.deck).tolist()
            return Move(game.DEALT, (*dealt, int(rng.integers(self.seats))))
        if s.phase == AvalonPhase.DRAW:
            drawn = rng.choice(self.seats, size=self.sizes[s.standing.quest], replace=False).tolist()
            return Move(game.DRAWN, tuple(sorted(drawn)))
        raise IllegalMove("nature has no move in this state")

    def chances(self, s: AvalonState) -> Iterator[tuple[Move, float]]:
        """Every deal of the roles with every leader, or every team, each as likely as the others."""
        if s.phase == AvalonPhase.DEAL:
            for roles, share in shuffles(self.deck):
                yield from ((Move(game.DEALT, (*roles, leader)), share / self.seats) for leader in range(self.seats))
        elif s.phase == AvalonPhase.DRAW:
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
        standing = s.standing
        own = seat, s.options.legal if s.actor == seat else (), self.seen(seat, s.log)
        table = standing.quest, standing.leader, standing.counted, s.team, standing.good, standing.evil
        return AvalonView._make((*own, *self._fixed(standing.roles, seat), *table, *self.shown_points))

    @lru_cache(maxsize=4096)  # noqa: B019 - bounded, and tables of rules live as long as their environments
    def _fixed(self, roles: tuple[int, ...], seat: int) -> tuple[Any, ...]:
        """The fields of a View from `role` to `guess_at_end`."""
        if not roles:
            return "", "", (), *self.shown_table
        role = self.role_names[roles[seat]]
        return role, side_of(role), self.night(roles, seat), *self.shown_table

    @lru_cache(maxsize=4096)  # noqa: B019
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
        return self._open(AvalonStanding(roles=roles, leader=leader), ())

    def _open(self, standing: AvalonStanding, log: tuple[Event, ...]) -> AvalonState:
        """Announce the leader and begin the discussion of a proposal."""
        quest, leader = standing.quest, standing.leader
        log += (
            announcement(game.LEADS, (quest, leader, self.sizes[quest], standing.counted, self.fails_needed[quest])),
        )
        return AvalonState(
            phase=AvalonPhase.TALK if self.talk else AvalonPhase.PROPOSE,
            actor=leader,
            standing=standing,
            options=self._talks[leader] if self.talk else self._teams[quest][leader],
            log=log,
        )

    def _talk(self, s: AvalonState, _move: Move, event: tuple[Event, ...]) -> AvalonState:
        turn, standing, log = s.turn + 1, s.standing, s.log + event
        leader = standing.leader
        if turn == self.seats:
            options = self._teams[standing.quest][leader]
            return AvalonState(phase=AvalonPhase.PROPOSE, actor=leader, standing=standing, options=options, log=log)
        speaker = (leader + turn) % self.seats
        options = self._talks[speaker]
        return AvalonState(phase=s.phase, actor=speaker, turn=turn, standing=standing, options=options, log=log)

    def _propose(self, s: AvalonState, move: Move, event: tuple[Event, ...]) -> AvalonState:
        team, standing = move.args, s.standing
        # a short team counts twice (published code)
        weight = 2 if len(team) < self.sizes[standing.quest] else 1
        standing, log = standing._replace(counted=standing.counted + weight), s.log + event
        return AvalonState(
            phase=AvalonPhase.VOTE, actor=0, team=team, standing=standing, options=self._ballots, log=log
        )

    def _vote(self, s: AvalonState, move: Move, _event: tuple[Event, ...]) -> AvalonState:
        votes, turn = s.secret + move.args, s.turn + 1
        if turn == self.seats:
            return self._count(s, votes)
        return AvalonState(
            phase=s.phase,
            actor=turn,
            turn=turn,
            team=s.team,
            secret=votes,
            standing=s.standing,
            options=s.options,
            log=s.log,
        )

    def _count(self, s: AvalonState, votes: tuple[int, ...]) -> AvalonState:
        """All votes are in: show them, then send the team, open the next proposal, or end the game."""
        team, standing, log = s.team, s.standing, s.log
        at_limit = standing.counted >= PROPOSALS
        goes = sum(votes) >= self.carries or (at_limit and self.rules.fifth_rejection == "team_goes")
        log += (announcement(game.VOTES, (int(goes), *votes)),)
        if goes:
            return self._send(team, standing, log)
        if at_limit:
            return self._end(s, standing, "rejections", log)
        return self._open(standing._replace(leader=(standing.leader + 1) % self.seats), log)

    def _send(self, team: tuple[int, ...], standing: AvalonStanding, log: tuple[Event, ...]) -> AvalonState:
        """The team goes on the quest; in place of a short one nature draws another."""
        if len(team) < self.sizes[standing.quest]:
            return AvalonState(phase=AvalonPhase.DRAW, actor=NATURE, team=team, standing=standing, log=log)
        options = self._hand(standing, team[0])
        return AvalonState(
            phase=AvalonPhase.QUEST, actor=team[0], team=team, standing=standing, options=options, log=log
        )

    def _draw(self, s: AvalonState, move: Move) -> AvalonState:
        """Nature names a whole team in place of a short one; the named seats are dropped (published code)."""
        team, size = move.args, self.sizes[s.standing.quest]
        fits = len(set(team)) == size and all(0 <= j < self.seats for j in team)
        if move.kind != game.DRAWN or not fits or list(team) != sorted(team):
            raise IllegalMove(f"{move!r} draws no team of {size} different seats in ascending order")
        options = self._hand(s.standing, team[0])
        log = (*s.log, Event(NATURE, move, None))
        return s._replace(phase=AvalonPhase.QUEST, actor=team[0], team=team, options=options, log=log)

    def _card(self, s: AvalonState, move: Move, event: tuple[Event, ...]) -> AvalonState:
        team, standing = s.team, s.standing
        cards, turn, log = s.secret + move.args, s.turn + 1, s.log + event
        if turn < len(team):
            options = self._hand(standing, team[turn])
            return s._replace(actor=team[turn], turn=turn, secret=cards, options=options, log=log)
        quest = standing.quest
        fails = cards.count(0)
        success = int(fails < self.fails_needed[quest])
        log += (announcement(game.FAILS, (quest, fails, success)),)
        if self.rules.hunt == "each_quest" and not standing.guessed:
            return self._hunt(team, success, standing, log)
        return self._score(s, success, standing, log)

    def _score(self, s: AvalonState, success: int, standing: AvalonStanding, log: tuple[Event, ...]) -> AvalonState:
        """Score the quest; then the end, the guess at the end, or the next quest."""
        standing = standing._replace(good=standing.good + success, evil=standing.evil + 1 - success)
        score = standing.good, standing.evil
        log += (announcement(game.SCORE, score),)
        if standing.good == QUESTS_TO_WIN and self.rules.hunt == "end":
            return self._hunt(s.team, success, standing, log)
        if QUESTS_TO_WIN in score:
            return self._end(s, standing, "quests", log)
        leader = (standing.leader + 1) % self.seats
        return self._open(standing._replace(quest=standing.quest + 1, leader=leader, counted=0), log)

    def _hunt(
        self, team: tuple[int, ...], success: int, standing: AvalonStanding, log: tuple[Event, ...]
    ) -> AvalonState:
        actor = standing.roles.index(self.guesser)
        return AvalonState(
            phase=AvalonPhase.HUNT,
            actor=actor,
            team=team,
            success=success,
            standing=standing,
            options=self._guesses[actor],
            log=log,
        )

    def _guess(self, s: AvalonState, move: Move, event: tuple[Event, ...]) -> AvalonState:
        log = s.log + event
        if not move.args:
            return self._score(s, s.success, s.standing, log)
        right = s.standing.roles[move.args[0]] == self.role_names.index(game.MERLIN)
        log = (*log, announcement(game.EXPOSED, (s.actor, move.args[0], int(right))))
        standing = s.standing._replace(guessed=True)
        if right or self.rules.hunt == "end":
            return self._end(s, standing, "assassination" if right else "quests", log)
        return self._score(s, s.success, standing, log)

    def _end(self, s: AvalonState, standing: AvalonStanding, reason: str, log: tuple[Event, ...]) -> AvalonState:
        return AvalonState(
            phase=AvalonPhase.DONE, actor=OVER, team=s.team, standing=standing._replace(reason=reason), log=log
        )

    _STEPS: ClassVar = {
        AvalonPhase.TALK: _talk,
        AvalonPhase.PROPOSE: _propose,
        AvalonPhase.VOTE: _vote,
        AvalonPhase.QUEST: _card,
        AvalonPhase.HUNT: _guess,
    }
    _NATURAL: ClassVar = {AvalonPhase.DEAL: _deal, AvalonPhase.DRAW: _draw, AvalonPhase.DONE: HiddenRoles._done}

    def _worded(self, s: AvalonState, move: Move) -> tuple[Event, ...]:
        """As for all games; words that nobody can hear are left out."""
        return super()._worded(s, move if move.kind in game.ACTS else Move(move.kind, move.args))

    # -- small questions ---------------------------------------------------------------------------------------

    def options(self, phase: int, seat: int, *, quest: int = 0, good: bool = True) -> Options:
        """What a seat may do when it is asked in a phase, on a quest (0-4), if it is good; see `state.py` for the phases."""
        if phase == AvalonPhase.VOTE:
            return self._ballots
        tables: dict[int, list[Options]] = {
            AvalonPhase.TALK: self._talks,
            AvalonPhase.PROPOSE: self._teams[quest],
            AvalonPhase.QUEST: self._cards[good],
            AvalonPhase.HUNT: self._guesses,
        }
        return tables[phase][seat]

    def _hand(self, standing: AvalonStanding, seat: int) -> Options:
        """The cards that a member of a team may play."""
        return self._cards[standing.roles[seat] not in self.evil_roles][seat]

    def _refusal(self, s: AvalonState, move: Move) -> str:
        if move.kind == game.TEAM == s.options.legal[0].kind:
            size = self.sizes[s.standing.quest]
            return f"team {list(move.args)} is not accepted; accepted: {size} different seats, ascending"
        return super()._refusal(s, move)
