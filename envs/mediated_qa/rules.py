"""The rules of mediated question answering: a mediator advises three modules in private, each does as it likes.

A question takes nine moves: nature asks it (with the state that the graph's signals give), the mediator recommends a
joint action, retriever, generator and verifier choose without seeing each other's choice, and nature reveals the evidence, the
answer, the verdict of the check, and the judgement. Without modules (`modules=False`) the recommendation is
carried out as it is, and the mediator is alone with a contextual bandit.

All that a service says is in nature's moves; neither `legal` nor `apply` ever asks one. After Nguyen's GRACE, sections 3.1
to 3.3; utilities, costs and fallbacks as in the published code.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from parlour.envs.core import NATURE, OVER, Event, Game, IllegalMove, Move, Outcome, announcement
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet
from parlour.envs.mediated_qa.options import MediatedOptions
from parlour.envs.mediated_qa.service import Service, verdict_of
from parlour.envs.mediated_qa.vocabulary import (
    ADVICE,
    ADVISE,
    AGENTS,
    ANSWERED,
    CHECKED,
    CHOICES,
    JUDGED,
    MEASURED,
    QUESTION,
    RESULT,
    RETRIEVED,
    SEEN,
    SIGNAL,
    SIGNAL_FEATURES,
    Joint,
    MediatedView,
    Module,
)

if TYPE_CHECKING:
    import numpy as np


class QAStep(IntEnum):
    """Moves of a question, in their order; `MEASURE` comes after `ASK`, where the mediator sees more than the state."""

    ASK = 0
    ADVISE = 1
    RETRIEVE = 2
    GENERATE = 3
    VERIFY = 4
    FETCH = 5
    ANSWER = 6
    CHECK = 7
    JUDGE = 8
    MEASURE = 9


_DONE: Final = {
    QAStep.FETCH: ("has_evidence", "evidence"),
    QAStep.ANSWER: ("answered", "answer"),
    QAStep.CHECK: ("verdict", ""),
}
"""By step: the fields of the state that nature's number and words go to."""
_REASONS: Final = ("right", "wrong", "abstained", "abstained")


class MediatedState(NamedTuple):
    """How far the episode is. What concerns one question is reset with the next."""

    step: QAStep = QAStep.ASK
    asked: tuple[int, ...] = ()
    """Numbers of the questions so far, the present one last."""
    signal: int = -1
    """Number into `vocabulary.STATES`; -1 before a question."""
    text: str = ""
    """The question."""
    advice: tuple[int, ...] = ()
    """The joint action recommended; empty before."""
    chosen: tuple[int, ...] = ()
    """The actions that the modules have chosen so far."""
    has_evidence: int = 0
    """Whether retrieval found evidence; 0 before."""
    evidence: str = ""
    answered: int = 0
    """Whether there is an answer."""
    answer: str = ""
    verdict: int = 0
    """Number into `vocabulary.VERDICTS`."""
    done: int = 0
    """Questions finished."""
    outcome: int = -1
    """Outcome of the last finished question, as in `vocabulary.outcome_of`; -1 before."""
    earned: tuple[float, ...] = ()
    """By each seat so far."""
    log: tuple[Event, ...] = ()
    context: tuple[float, ...] = ()
    """What was measured of the question for the mediator."""


class MediatedQA(Game[MediatedState]):
    """The rules of one table.

    The service is made when nature has to move for the first time, never for a replay.
    """

    def __init__(self, options: MediatedOptions) -> None:
        self._options = options
        self.config: Mapping[str, Any] = options.stored()
        self.size, self.questions, self.modules = options.size, options.questions, options.modules
        self.actions, self.payment, self.sees = options.known, options.payment, options.mediator_sees
        self.joints, self.individual_costs = self.actions.joints(options.joint), options.pay == "own"
        actions, modules, questions = self.actions, self.modules, self.questions
        own = () if self.actions == PUBLISHED_ACTIONS else (self.actions,)
        graph = options.corpus_seed, options.size, options.difficulty, options.normalisation
        self._embedded = *graph, options.consistency, *own
        self._own = () if actions == PUBLISHED_ACTIONS else actions.names
        self.seats = len(AGENTS) if modules else 1
        self.agent_names = AGENTS[: self.seats]
        advise = tuple(Move(ADVISE, tuple(joint)) for joint in self.joints)
        choose = [
            tuple(Move(kind, (k,)) for k in range(len(names)))
            for kind, names in zip(CHOICES, actions.names, strict=True)
        ]
        self._legal = {QAStep.ADVISE: advise}
        if modules:
            self._legal |= {
                QAStep.RETRIEVE: choose[Module.RETRIEVER],
                QAStep.GENERATE: choose[Module.GENERATOR],
                QAStep.VERIFY: choose[Module.VERIFIER],
            }
        self.catalogue = tuple(move for moves in self._legal.values() for move in moves)
        self._seen = len(SEEN[self.sees])
        self.max_moves = questions * ((9 if modules else 6) + (self._seen > 0))
        self._initial = MediatedState(earned=(0.0,) * self.seats)
        self._plans: dict[tuple[tuple[int, ...], bool], Joint] = {}
        """What `actions` carries out of each choice, without and with evidence; as many as there are joint actions."""

    def initial(self) -> MediatedState:
        return self._initial

    def actor(self, s: MediatedState) -> int:
        if s.done == self.questions:
            return OVER
        return s.step - QAStep.ADVISE if s.step in self._legal else NATURE

    def legal(self, s: MediatedState) -> tuple[Move, ...]:
        return self._legal.get(s.step, ()) if s.done < self.questions else ()

    def _service(self) -> Service:
        """Who answers for nature."""
        given = self._options.service
        return _generated(*self._embedded) if given is None else given

    def nature(self, s: MediatedState, rng: np.random.Generator) -> Move:
        service = self._service()
        if s.step == QAStep.ASK:
            number = _other_than(s.asked, self.size, rng)
            question = service.ask(number)
            return Move(QUESTION, (number, question.state), question.text)
        if s.step == QAStep.MEASURE:
            features = service.context(s.asked[-1])[: self._seen]  # type: ignore[attr-defined]
            return Move(MEASURED, (), " ".join(map(repr, map(float, features))))
        number, plan = s.asked[-1], self.plan(s)
        if s.step == QAStep.FETCH:
            searches = self.actions.searches(plan.retriever)
            evidence = service.retrieve(number, plan.retriever) if searches else ""
            return Move(RETRIEVED, (plan.retriever, int(evidence != "")), evidence)
        if s.step == QAStep.ANSWER:
            refuses = self.actions.refuses(plan.generator)
            answer = "" if refuses else service.answer(number, plan.generator, s.evidence, rng)
            return Move(ANSWERED, (plan.generator, int(answer != "")), answer)
        if s.step == QAStep.CHECK:
            checks = self.actions.checks(plan.verifier) and s.answered
            arguments = (number, plan.verifier, s.evidence, s.answer)
            verdict = verdict_of(service, self.actions, *arguments) if checks else vocabulary.CheckVerdict.UNCHECKED
            return Move(CHECKED, (plan.verifier, verdict), "")
        right = answers(s) and service.right(number, s.answer)
        return Move(JUDGED, (int(right), int(service.known(number))), service.gold(number))

    def apply(self, s: MediatedState, move: Move) -> MediatedState:
        if s.done == self.questions:
            raise IllegalMove(f"{move.kind} {list(move.args)} is not accepted: the episode is over")
        if s.step in self._legal:
            return self._decide(s, move)
        if s.step == QAStep.MEASURE:
            return self._after_measured(s, move)
        _check(move, *self._accepted(s))
        return self._AFTER[s.step](self, s, move)

    def outcome(self, s: MediatedState) -> Outcome | None:
        if s.done < self.questions:
            return None
        reason = _REASONS[s.outcome] if self.questions == 1 else "questions"
        return Outcome(s.earned, "team" if s.earned[Module.MEDIATOR] > 0 else "draw", reason)

    def view(self, s: MediatedState, seat: int) -> MediatedView:
        legal = self.legal(s) if self.actor(s) == seat else ()
        events = tuple([event for event in s.log if event[2] is None or seat in event[2]])
        mediates = seat == Module.MEDIATOR
        advice = s.advice if mediates else s.advice[seat - Module.RETRIEVER : seat]
        question = s.text if mediates else ""
        return MediatedView(
            seat=seat,
            legal=legal,
            events=events,
            signal=s.signal,
            question=question,
            advice=advice,
            outcome=s.outcome,
            done=s.done,
            questions=self.questions,
            earned=s.earned[seat],
            own=self._own,
            sees=self.sees,
            signals=s.context[1 : len(SIGNAL_FEATURES)] if mediates and s.context and s.context[0] else (),
            context=s.context if mediates else (),
        )

    def plan(self, s: MediatedState) -> Joint:
        """What is carried out of the modules' choices, as far as retrieval tells by now."""
        if s.step == QAStep.FETCH:
            return Joint(*s.chosen)
        key = s.chosen, bool(s.has_evidence)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self.actions.executed(Joint(*s.chosen), bool(s.has_evidence))
        return plan

    # -- inside ------------------------------------------------------------------------------------------------

    def _decide(self, s: MediatedState, move: Move) -> MediatedState:
        plain = move if not move.words else Move(move.kind, move.args)
        if plain not in self._legal[s.step]:
            kinds = ", ".join(f"{m.kind} {list(m.args)}" for m in self._legal[s.step])
            raise IllegalMove(f"{move.kind} {list(move.args)} is not accepted; accepted: {kinds}")
        seat, args = s.step - QAStep.ADVISE, move.args
        log = (*s.log, Event(seat, plain, (seat,)))
        if seat != Module.MEDIATOR:
            return s._replace(step=QAStep(s.step + 1), chosen=(*s.chosen, *args), log=log)
        if not self.modules:
            return s._replace(step=QAStep.FETCH, advice=args, chosen=args, log=log)
        advised = (announcement(ADVICE, (j, k), (j,)) for j, k in enumerate(args, Module.RETRIEVER))
        return s._replace(step=QAStep.RETRIEVE, advice=args, log=(*log, *advised))

    def _accepted(self, s: MediatedState) -> tuple[str, tuple[range, range]]:
        """The move that nature makes now: its kind and the ranges of its arguments."""
        if s.step == QAStep.ASK:
            return QUESTION, (range(self.size), range(len(vocabulary.STATES)))
        plan = self.plan(s)
        if s.step == QAStep.FETCH:
            return RETRIEVED, (_only(plan.retriever), range(1 + self.actions.searches(plan.retriever)))
        if s.step == QAStep.ANSWER:
            return ANSWERED, (_only(plan.generator), range(1 + (not self.actions.refuses(plan.generator))))
        if s.step == QAStep.CHECK:
            checked = self.actions.checks(plan.verifier) and s.answered
            verdicts = range(vocabulary.CheckVerdict.ENTAILED, vocabulary.CheckVerdict.CONTRADICTED + 1)
            return CHECKED, (_only(plan.verifier), verdicts if checked else _only(vocabulary.CheckVerdict.UNCHECKED))
        return JUDGED, (range(1 + answers(s)), range(2))

    def _after_question(self, s: MediatedState, move: Move) -> MediatedState:
        number, signal = move.args
        if number in s.asked:
            raise IllegalMove(f"question {number} was asked before; accepted: any of the other {self.size} questions")
        signalled = announcement(SIGNAL, (signal,))
        log = (*s.log, signalled, Event(NATURE, move, (Module.MEDIATOR,)))
        return self._initial._replace(
            step=QAStep.MEASURE if self._seen else QAStep.ADVISE,
            asked=(*s.asked, number),
            signal=signal,
            text=move.words,
            done=s.done,
            outcome=s.outcome,
            earned=s.earned,
            log=log,
        )

    def _after_measured(self, s: MediatedState, move: Move) -> MediatedState:
        try:
            context = tuple(map(float, move.words.split(" ")))
        except ValueError:
            context = ()
        if move.kind != MEASURED or move.args or len(context) != self._seen or not all(map(isfinite, context)):
            accepted = f"{MEASURED} with {self._seen} finite numbers in words, a blank between them"
            raise IllegalMove(f"{move.kind} {list(move.args)} is not accepted of nature; accepted: {accepted}")
        log = (*s.log, Event(NATURE, move, (Module.MEDIATOR,)))
        return s._replace(step=QAStep.ADVISE, context=context, log=log)

    def _after_done(self, s: MediatedState, move: Move) -> MediatedState:
        """What was retrieved, answered, or found by the check."""
        result, words = _DONE[s.step]
        changes: dict[str, Any] = {result: move.args[1], **({words: move.words} if words else {})}
        return s._replace(step=QAStep(s.step + 1), log=_logged(s, move), **changes)

    def _after_judged(self, s: MediatedState, move: Move) -> MediatedState:
        right, known = map(bool, move.args)
        outcome = vocabulary.outcome_of(answered=answers(s), right=right, known=known)
        plan = self.plan(s)
        result = Event(NATURE, Move(RESULT, (outcome, *plan), s.text), None)
        earned = tuple(a + b for a, b in zip(s.earned, self._pay(outcome, plan), strict=True))
        return s._replace(
            step=QAStep.ASK, done=s.done + 1, outcome=outcome, earned=earned, log=(*_logged(s, move), result)
        )

    _AFTER: ClassVar = {
        QAStep.ASK: _after_question,
        **dict.fromkeys((QAStep.FETCH, QAStep.ANSWER, QAStep.CHECK), _after_done),
        QAStep.JUDGE: _after_judged,
    }
    """By step: what a move of nature leads to."""

    def _pay(self, outcome: int, plan: Joint) -> tuple[float, ...]:
        net = self.payment.net(plan, outcome)
        if not (self.individual_costs and self.modules):
            return (net,) * self.seats
        gross = self.payment.utilities[outcome]
        return (net, *(gross - cost for cost in self.payment.costs_of(plan)))


def answers(s: MediatedState) -> bool:
    """Whether the system gives its answer: there is one, and the check does not contradict it."""
    return bool(s.answered) and s.verdict != vocabulary.CheckVerdict.CONTRADICTED


def _logged(s: MediatedState, move: Move) -> tuple[Event, ...]:
    return (*s.log, Event(NATURE, move, None))


def _only(number: int) -> range:
    return range(number, number + 1)


def _other_than(asked: tuple[int, ...], size: int, rng: np.random.Generator) -> int:
    """One of the questions that were not asked, each as likely."""
    number = int(rng.integers(size - len(asked)))
    for earlier in sorted(asked):
        number += number >= earlier
    return number


def _check(move: Move, kind: str, ranges: tuple[range, range]) -> None:
    first, second = ranges
    fits = move.kind == kind and len(move.args) == len(ranges)
    if not fits or move.args[0] not in first or move.args[1] not in second:
        accepted = f"{kind} with {', '.join(f'{span.start}..{span.stop - 1}' for span in ranges)}"
        raise IllegalMove(f"{move.kind} {list(move.args)} is not accepted of nature; accepted: {accepted}")


@lru_cache(maxsize=8)  # an import statement costs as much as a move
def _generated(seed: int, size: int, difficulty: str, normalisation: Any, consistency: Any, *own: ActionSet) -> Service:
    """The embedded service; its parts are loaded when it is first needed."""
    from parlour.envs.mediated_qa.pipeline import generated

    return generated(seed, size, difficulty, normalisation, *own, consistency=consistency)
