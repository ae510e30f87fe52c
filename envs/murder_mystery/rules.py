"""The rules of a murder mystery as a pure state machine. No text, no arrays, no PettingZoo, and no chance: the case is all.

Order of play: all introduce themselves; in each round every seat in turn, for every victim in turn, chooses a character, asks,
and is answered; after each round but the last every seat reports its main suspect for each victim; after the last
one all vote in secret, and the votes are counted. Zhu et al., PLAYER* (section 2), and Questum (section 3.1, appendix A:
rules 1 to 6, stages 1 to 5); points where they differ: the package's card.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from parlour.envs.core import OVER, Event, Game, IllegalMove, Move, Outcome, announcement
from parlour.envs.hidden_roles.rules import NOTHING, Options, SeenEvents, why_illegal
from parlour.envs.murder_mystery import vocabulary
from parlour.envs.murder_mystery.cases.case import Case
from parlour.envs.murder_mystery.legal_moves import Table
from parlour.envs.murder_mystery.options import RULES, MysteryOptions
from parlour.envs.murder_mystery.vocabulary import (
    ANYBODY,
    CIVILIANS,
    MURDERERS,
    TOLD,
    WITH_WORDS,
    MysteryPhase,
    MysteryView,
)

if TYPE_CHECKING:
    import numpy as np

_VERDICTS: Final = {1: vocabulary.Verdict.SOLVED, -1: vocabulary.Verdict.MISSED, 0: vocabulary.Verdict.NO_PLAYER}


class Exchange(NamedTuple):
    """One seat's questions about one victim."""

    asker: int
    victim: int
    asked: tuple[int, ...] = ()
    """Who has been chosen so far, the present target last."""
    question: int = 0
    """Number of the question to this target, from 0."""
    topic: int = -1
    """Topic of the question that is being answered; -1 without a question."""
    about: int = ANYBODY
    facts: int = 0
    """Facts told in this answer."""


_IDLE: Final = Exchange(-1, -1)


class MysteryState(NamedTuple):
    """Everything about a game in progress. Hashable; never changed."""

    phase: MysteryPhase = MysteryPhase.INTRODUCTIONS
    actor: int = 0
    """The seat to move, or `OVER`."""
    round: int = 0
    turn: int = 0
    """How many have moved in this phase; in the rounds, how many pairs of asker and victim are done."""
    exchange: Exchange = _IDLE
    stated: tuple[int, ...] = ()
    """For each target, or each pair of target and asker where only two hear: the facts told, a bit for each `tell`."""
    suspects: tuple[int, ...] = ()
    """The last report of each seat on each victim, seat after seat; -1 before."""
    votes: tuple[int, ...] = ()
    """Given so far, seat after seat and victim after victim; shown to nobody until all are in."""
    options: Options = NOTHING
    """Options of the seat to move; `NOTHING` if there is none."""
    log: tuple[Event, ...] = ()


class MurderMystery(Game[MysteryState]):
    """The rules for one case and one setting.

    Args:
        case: The case; its characters are the seats, in turn order.
        options: How it is played.

    Raises:
        ParlourError: A character knows a fact that cannot be stated.
    """

    worded = WITH_WORDS

    def __init__(self, case: Case, options: MysteryOptions) -> None:
        self.case, self.options = case, options
        self.config: Mapping[str, Any] = options.plain()
        self.seats, self.victims = case.seats, len(case.victims)
        self.rounds, self.questions, self.hearing = options.rounds, options.questions, options.hearing
        self.majority = RULES[options.rules]
        self.targets = min(options.targets or self.seats - 1, self.seats - 1)
        self.vocabulary = case.vocabulary
        self.language = case.language
        self.table = Table(case)
        self.catalogue = self.table.catalogue
        self._seen = SeenEvents()
        self._views = tuple(map(self._first_view, range(self.seats)))
        self._cycles_each = 1 + (TOLD if self.table.tells else 1)
        pairs = self.seats * self.victims
        asking = pairs * self.targets * (1 + self.questions * (1 + TOLD))
        self.max_moves = self.seats + self.rounds * (asking + pairs)

    # -- the contract ------------------------------------------------------------------------------------------

    def initial(self) -> MysteryState:
        return MysteryState(
            stated=(0,) * (self.seats if self.hearing == "all" else self.seats * self.seats),
            suspects=(-1,) * (self.seats * self.victims),
            options=self.table.introduction,
        )

    def actor(self, s: MysteryState) -> int:
        return s.actor

    def legal(self, s: MysteryState) -> tuple[Move, ...]:
        return s.options.legal

    def nature(self, s: MysteryState, rng: np.random.Generator) -> Move:
        raise IllegalMove("nature has no move in this game: the case is all there is")

    def apply(self, s: MysteryState, move: Move) -> MysteryState:
        plain = move if not move.words else Move(move.kind, move.args)
        if plain not in s.options.events:
            raise IllegalMove(self._refusal(s, move))
        return self._STEPS[move.kind](self, s, move if move.kind in WITH_WORDS else plain)

    def outcome(self, s: MysteryState) -> Outcome | None:
        if s.actor != OVER:
            return None
        scores = [self._score(s.votes, k) for k in range(self.victims)]
        counted = [score for score in scores if score]
        civilians = sum(counted) / len(counted) if counted else 0.0
        winner = "draw" if civilians == 0 else CIVILIANS if civilians > 0 else MURDERERS
        returns = []
        for character in self.case.characters:
            own = [-score for score, murdered in zip(scores, character.murders, strict=True) if murdered]
            returns.append(sum(own) / len(own) if own else civilians)
        return Outcome(tuple(map(float, returns)), winner, "votes")

    def view(self, s: MysteryState, seat: int) -> MysteryView:
        phase, actor, number, turn, exchange, _, suspects, _, options, log = s
        asker, victim, asked, _, topic, about, _ = exchange
        if phase in (MysteryPhase.SUSPICION, MysteryPhase.VOTING):
            victim = turn % self.victims if actor == seat else -1
        target = asked[-1] if asked and phase in (MysteryPhase.QUESTION, MysteryPhase.REPLY) else -1
        if self.hearing == "two" and seat not in (asker, target):
            topic, about, phase = -1, ANYBODY, min(phase, MysteryPhase.QUESTION) if target >= 0 else phase
        return self._views[seat]._replace(
            legal=options.legal if actor == seat else (),
            events=self._seen(seat, log),
            phase=phase,
            round=number,
            asker=asker,
            victim=victim,
            target=target,
            topic=topic,
            about=about,
            suspects=suspects[seat * self.victims : (seat + 1) * self.victims],
        )

    def _first_view(self, seat: int) -> MysteryView:
        """What a seat knows before anything has happened."""
        case, me = self.case, self.case.characters[seat]
        role, side = ("murderer", MURDERERS) if any(me.murders) else ("civilian", CIVILIANS)
        return MysteryView(
            seat=seat,
            legal=(),
            events=(),
            name=me.name,
            role=role,
            side=side,
            murders=me.murders,
            script=me.script,
            objectives=me.objectives,
            facts=me.facts,
            lies=me.lies,
            names=case.names,
            victims=self.vocabulary.persons[self.seats :],
            title=case.title,
            briefing=case.briefing,
            public=case.public,
            language=self.language,
            vocabulary=self.vocabulary,
            rounds=self.rounds,
            questions=self.questions,
            targets=self.targets,
            hearing=self.hearing,
            majority=self.majority,
            phase=MysteryPhase.INTRODUCTIONS,
            round=0,
            asker=-1,
            victim=-1,
            target=-1,
            topic=-1,
            about=ANYBODY,
            suspects=(),
            liars=case.liars,
        )

    def hidden_cycles(self, view: MysteryView) -> int:
        """Number of cycles of a private talk: an answer has one for each possible fact."""
        return self.questions * self._cycles_each if self.hearing == "two" and view.target >= 0 else 0

    def asked(self, view: MysteryView, cycle: int) -> tuple[Move, ...]:
        """Each question and each part of an answer has its cycle (`parlour.envs.adapters.moment`)."""
        asks = cycle % self._cycles_each == 0
        return view.legal if asks == (view.seat == view.asker) else ()

    # -- the moves, in the order of play -----------------------------------------------------------------------

    def _introduce(self, s: MysteryState, move: Move) -> MysteryState:
        log = (*s.log, Event(s.actor, move, None))
        if s.turn + 1 < self.seats:
            return s._replace(actor=s.actor + 1, turn=s.turn + 1, log=log)
        return self._open_round(s._replace(log=log), 0)

    def _open_round(self, s: MysteryState, number: int) -> MysteryState:
        log = (*s.log, announcement(vocabulary.ROUND, (number,)))
        return self._open_turn(s._replace(round=number, log=log), 0)

    def _open_turn(self, s: MysteryState, turn: int) -> MysteryState:
        """The next pair of asker and victim chooses; after the last one come the reports or the vote."""
        if turn == self.seats * self.victims:
            return self._open_reports(s)
        asker, victim = divmod(turn, self.victims)
        log = (*s.log, announcement(vocabulary.TURN, (asker, victim)))
        return s._replace(
            phase=MysteryPhase.CHOICE,
            actor=asker,
            turn=turn,
            exchange=Exchange(asker, victim),
            options=self.table.choices(asker, ()),
            log=log,
        )

    def _choose(self, s: MysteryState, move: Move) -> MysteryState:
        s = s._replace(log=(*s.log, Event(s.actor, move, None)))
        if not move.args:
            return self._open_turn(s, s.turn + 1)
        exchange = s.exchange._replace(asked=s.exchange.asked + move.args, question=0, topic=-1, about=ANYBODY, facts=0)
        return s._replace(phase=MysteryPhase.QUESTION, exchange=exchange, options=self._questions(exchange))

    def _ask(self, s: MysteryState, move: Move) -> MysteryState:
        topic, about = move.args
        exchange = s.exchange._replace(topic=topic, about=about, facts=0)
        return s._replace(
            phase=MysteryPhase.REPLY,
            actor=exchange.asked[-1],
            exchange=exchange,
            options=self._replies(s, exchange),
            log=(*s.log, Event(s.actor, move, self._hears(exchange))),
        )

    def _tell(self, s: MysteryState, move: Move) -> MysteryState:
        exchange = s.exchange._replace(facts=s.exchange.facts + 1)
        place = self._place(exchange)
        bit = 1 << self.table.bits[Move(move.kind, move.args) if move.words else move]
        stated = (*s.stated[:place], s.stated[place] | bit, *s.stated[place + 1 :])
        log = (*s.log, Event(s.actor, move, self._hears(exchange)))
        s = s._replace(exchange=exchange, stated=stated, log=log)
        if exchange.facts == TOLD:
            return self._answered(s)
        return s._replace(options=self._replies(s, exchange))

    def _answer(self, s: MysteryState, move: Move) -> MysteryState:
        return self._answered(s._replace(log=(*s.log, Event(s.actor, move, self._hears(s.exchange)))))

    def _finish(self, s: MysteryState, move: Move) -> MysteryState:
        if not s.exchange.facts:  # else the facts are the answer
            s = s._replace(log=(*s.log, Event(s.actor, move, self._hears(s.exchange))))
        return self._answered(s)

    def _answered(self, s: MysteryState) -> MysteryState:
        """The next question to the same target, the next target, or the next pair."""
        exchange = s.exchange._replace(question=s.exchange.question + 1, topic=-1, about=ANYBODY, facts=0)
        asker = exchange.asker
        if exchange.question < self.questions:
            return s._replace(
                phase=MysteryPhase.QUESTION, actor=asker, exchange=exchange, options=self._questions(exchange)
            )
        if len(exchange.asked) == self.targets:
            return self._open_turn(s, s.turn + 1)
        options = self.table.choices(asker, tuple(sorted(exchange.asked)))
        return s._replace(phase=MysteryPhase.CHOICE, actor=asker, exchange=exchange, options=options)

    def _open_reports(self, s: MysteryState) -> MysteryState:
        voting = s.round + 1 == self.rounds
        s = s._replace(phase=MysteryPhase.VOTING if voting else MysteryPhase.SUSPICION, exchange=_IDLE)
        if voting:
            s = s._replace(round=self.rounds, log=(*s.log, announcement(vocabulary.ROUND, (self.rounds,))))
        return self._want(s, 0)

    def _want(self, s: MysteryState, turn: int) -> MysteryState:
        """Ask one seat about one victim, in private."""
        seat, victim = divmod(turn, self.victims)
        voting = s.phase == MysteryPhase.VOTING
        wanted = announcement(vocabulary.WANTED, (int(voting), victim), (seat,))
        return s._replace(actor=seat, turn=turn, options=self.table.names[voting][seat], log=(*s.log, wanted))

    def _suspect(self, s: MysteryState, move: Move) -> MysteryState:
        turn = s.turn
        s = s._replace(
            suspects=(*s.suspects[:turn], *move.args, *s.suspects[turn + 1 :]),
            log=(*s.log, Event(s.actor, move, (s.actor,))),
        )
        if turn + 1 < self.seats * self.victims:
            return self._want(s, turn + 1)
        return self._open_round(s, s.round + 1)

    def _vote(self, s: MysteryState, move: Move) -> MysteryState:
        s = s._replace(votes=s.votes + move.args, log=(*s.log, Event(s.actor, move, (s.actor,))))
        if s.turn + 1 < self.seats * self.victims:
            return self._want(s, s.turn + 1)
        result: list[Event] = []
        for k in range(self.victims):
            verdict = (k, self.found(s.votes, k), _VERDICTS[self._score(s.votes, k)])
            result.append(announcement(vocabulary.VOTES, (k, *self._counts(s.votes, k))))
            result.append(announcement(vocabulary.VERDICT, verdict))
        return s._replace(phase=MysteryPhase.DONE, actor=OVER, turn=0, options=NOTHING, log=(*s.log, *result))

    _STEPS: ClassVar = {
        vocabulary.INTRODUCE: _introduce,
        vocabulary.CHOOSE: _choose,
        vocabulary.ASK: _ask,
        vocabulary.TELL: _tell,
        vocabulary.ANSWER: _answer,
        vocabulary.FINISH: _finish,
        vocabulary.SUSPECT: _suspect,
        vocabulary.VOTE: _vote,
    }

    # -- small questions ---------------------------------------------------------------------------------------

    def found(self, votes: tuple[int, ...], victim: int) -> int:
        """The player that the vote finds guilty of a victim's death; -1 for nobody.

        The seat with more votes than any other, with `majority="half"` only if these are at least half of all votes
        (Questum, section 4.2; appendix A says "over 50 %", PLAYER* plurality).
        """
        counts = self._counts(votes, victim)
        most = max(counts)
        if counts.count(most) > 1 or (self.majority == "half" and 2 * most < self.seats):
            return -1
        return counts.index(most)

    def _counts(self, votes: tuple[int, ...], victim: int) -> tuple[int, ...]:
        """Votes for each seat."""
        cast = votes[victim :: self.victims]
        return tuple(cast.count(j) for j in range(self.seats))

    def _score(self, votes: tuple[int, ...], victim: int) -> int:
        """1 if a murderer of the victim is found, -1 if none is; 0 if no player murdered it."""
        murderers = self.case.murderers(victim)
        return 0 if not murderers else 1 if self.found(votes, victim) in murderers else -1

    def _hears(self, exchange: Exchange) -> tuple[int, ...] | None:
        """Who hears what is said in this exchange; None for everybody."""
        return None if self.hearing == "all" else (exchange.asker, exchange.asked[-1])

    def _place(self, exchange: Exchange) -> int:
        """Where `MysteryState.stated` keeps what the target has told to those who hear."""
        target = exchange.asked[-1]
        return target if self.hearing == "all" else target * self.seats + exchange.asker

    def _questions(self, exchange: Exchange) -> Options:
        return self.table.questions(exchange.asker, exchange.asked[-1], exchange.victim)

    def _replies(self, s: MysteryState, exchange: Exchange) -> Options:
        stated = s.stated[self._place(exchange)]
        return self.table.replies(exchange.asked[-1], exchange.topic, exchange.about, exchange.victim, stated)

    def _refusal(self, s: MysteryState, move: Move) -> str:
        """Why a move is not legal, in one line."""
        if s.actor == OVER:
            return f"{move.kind} {list(move.args)} is not accepted: the game is over"
        if move.kind in (vocabulary.ASK, vocabulary.TELL) and move.kind in {m.kind for m in s.options.legal}:
            return f"{move.kind} {list(move.args)} is not accepted; accepted: one of the {len(s.options.legal)} options"
        return why_illegal(s.options.legal, move)
