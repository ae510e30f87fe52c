"""Mediated question answering in words. Whatever comes from outside, questions and evidence too, is quoted in one line.

Words that cannot be used count as the fallback of the published code for the mediator (retrieve shallowly and refuse) and
as obedience for a module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from parlour.envs.core import NATURE, Event, IllegalMove, Move, Outcome
from parlour.envs.language.speech import quote
from parlour.envs.language.text import MODERATOR, AmbiguousMove, MoveSentences, UnreadableMove, clean, read_choice
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet
from parlour.envs.mediated_qa.rules import MediatedQA
from parlour.envs.mediated_qa.vocabulary import ADVISE, AGENTS, CHOICES, STATES, VERDICTS, Joint, MediatedView, Module

if TYPE_CHECKING:
    import numpy as np

_SEAT_OF: Final = {kind: seat for seat, kind in enumerate(CHOICES) if kind}
_TASKS: Final = (
    "You see each question and the state of the graph around it. You recommend an action to each module, in private.",
    "You search the graph for evidence: shallowly{}, deeply{}, or not at all{}.",
    "You answer from the evidence{}, by several answers that must agree{}, from memory{}, or not at all{}.",
    "You check the answer against the evidence{}, or let it pass{}.",
)
"""By seat; behind each way, the name of the published action."""
_LEVELS: Final = dict(zip(vocabulary.LEVELS, ("low", "medium", "high"), strict=True))
_OUTCOMES: Final = ("answered right", "answered wrong", "rightly no answer", "no answer, though memory knew it")
_REASONS: Final = {
    "right": "the answer was right",
    "wrong": "the answer was wrong",
    "abstained": "no answer was given",
    "questions": "all questions were asked",
}
_Meanings = Mapping[int, Mapping[Move, re.Pattern[str]]]
# Words for an action besides its name, by seat and action.
_PHRASES: Final[Mapping[int, Sequence[str]]] = {
    1: (r"shallow\w*", r"deep\w*", r"(?:skip|no)[ _]retrieval"),
    2: (r"generate(?!\w)|from (?:the )?evidence", r"\w*consisten\w+", r"\w*parametric|from memory", r"\w*refus\w+"),
    3: (r"run[ _]nli(?:[ _]check)?|nli", r"(?:skip|no)[ _]check"),
}


def _pattern(name: str, phrase: str = "") -> re.Pattern[str]:
    words = f"{re.escape(name)}|{phrase}" if phrase else re.escape(name)
    return re.compile(rf"(?<!\w)(?P<word>{words})(?!\w)", re.IGNORECASE)


def _meanings(actions: ActionSet) -> _Meanings:
    """Seat -> choice -> the words that mean it: for the published actions phrases too, for others the names."""
    phrases = _PHRASES if actions == PUBLISHED_ACTIONS else {}
    return {
        seat: {
            Move(CHOICES[seat], (k,)): _pattern(name, phrases[seat][k] if phrases else "")
            for k, name in enumerate(actions.names[seat])
        }
        for seat in range(1, len(AGENTS))
    }


_PUBLISHED: Final = _meanings(PUBLISHED_ACTIONS)


class MediatedText(MoveSentences[MediatedView]):
    """Satisfies `parlour.envs.core.GameText`."""

    def __init__(self, game: MediatedQA) -> None:
        self._payment, self._joints = game.payment, game.joints
        self._modules, self._own = game.modules, game.individual_costs and game.modules
        self._actions = game.actions
        self._meanings = _PUBLISHED if game.actions == PUBLISHED_ACTIONS else _meanings(game.actions)
        self._who: dict[int, str] = {}  # by seat: nothing else in the first section differs
        self._results: dict[tuple[int, ...], str] = {}

    def who(self, view: MediatedView) -> str:
        if view.seat not in self._who:
            self._who[view.seat] = self._who_and_prices(view)
        return self._who[view.seat]

    def _who_and_prices(self, view: MediatedView) -> str:
        right, wrong, silent, missed = map(_number, self._payment.utilities)
        costs = iter(map(_number, self._payment.costs))
        prices = "; ".join(", ".join(f"{name} {next(costs)}" for name in names) for names in self._actions.names[1:])
        whose = (
            "You pay only for your own action"
            if self._own and view.seat != Module.MEDIATOR
            else "You pay for all actions"
        )
        number = f"There are {view.questions} questions." if view.questions > 1 else "There is one question."
        obeyed = "" if self._modules else " The modules do what you recommend."
        task, names = _TASKS[view.seat], self._actions.names[view.seat]
        published = self._actions == PUBLISHED_ACTIONS
        task = task.format(*(f" ({name})" for name in names)) if published else task.replace("{}", "")
        return (
            f"You are the {AGENTS[view.seat]}. {task}{obeyed}\n"
            f"{number} A right answer pays {right} points, a wrong one {wrong}. No answer pays {silent} if memory alone would "
            f"have been wrong, and {missed} if it would have been right.\n"
            f"Costs in points: {prices}. {whose}.\n"
        )

    def why(self, outcome: Outcome) -> str:
        """Why a game ended as it did, a clause."""
        return _REASONS.get(outcome.reason, outcome.reason)

    def end(self, outcome: Outcome) -> str:
        """How a game ended, in one line."""
        why = self.why(outcome)
        paid = f" The mediator earned {_number(outcome.returns[Module.MEDIATOR])}." if outcome.returns else ""
        return f"{why[:1].upper()}{why[1:]}.{paid}"

    def line(self, event: Event) -> str:
        seat, move, _ = event
        if seat == NATURE:
            return f"{MODERATOR}{self._announcement(move)}\n"
        return f"Privately, {AGENTS[seat]}: {self.say(move)}\n"

    def ask(self, legal: tuple[Move, ...]) -> str:
        kind = legal[0].kind
        if kind == ADVISE:
            return "Recommend one action to each module."
        return f"Choose what you, the {AGENTS[_SEAT_OF[kind]]}, do. You need not follow the recommendation."

    def say(self, move: Move) -> str:
        if move.kind == ADVISE:
            return f"I recommend {', '.join(self._actions.names_of(move.args))}."
        return f"I choose {self._actions.names[_SEAT_OF[move.kind]][move.args[0]]}."

    def parse(self, text: str, view: MediatedView) -> Move:
        exact = self.exact(text, view.legal)
        if exact is not None:
            return exact
        return (
            self._recommendation(text) if view.seat == Module.MEDIATOR else read_choice(text, self._meanings[view.seat])
        )

    def default(self, text: str, view: MediatedView, rng: np.random.Generator) -> Move:
        wanted = (
            Move(ADVISE, self._actions.fallback)
            if view.seat == Module.MEDIATOR
            else Move(CHOICES[view.seat], view.advice)
        )
        return wanted if wanted in view.legal else view.legal[0]

    # -- inside ------------------------------------------------------------------------------------------------

    def _recommendation(self, text: str) -> Move:
        """The joint action that free words name: one action of each module."""
        named: list[int] = []
        for seat in range(1, len(AGENTS)):
            try:
                named += read_choice(text, self._meanings[seat]).args
            except (UnreadableMove, AmbiguousMove) as error:
                names = ", ".join(self._actions.names[seat])
                raise type(error)(f"{text!r} must name one action of the {AGENTS[seat]}; accepted: {names}") from None
        if Joint(*named) not in self._joints:
            raise IllegalMove(
                f"{text!r} names {', '.join(self._actions.names_of(named))}; accepted: one of the joint actions listed"
            )
        return Move(ADVISE, tuple(named))

    def _announcement(self, move: Move) -> str:
        kind, args, words = move
        if kind == vocabulary.SIGNAL:
            return f"A question is asked. {_signals(STATES[args[0]])}"
        if kind == vocabulary.MEASURED:
            pairs = zip(vocabulary.FEATURES, words.split(" "), strict=False)  # as many as it sees
            return f"Measured: {', '.join(f'{name} {float(value):.3g}' for name, value in pairs)}."
        quoted = _quoted(words)
        if kind == vocabulary.QUESTION:
            return f"Question {args[0]}: {quoted}"
        if kind == vocabulary.ADVICE:
            return f"The mediator recommends to you: {self._actions.names[args[0]][args[1]]}."
        if kind == vocabulary.RETRIEVED:
            return f"{self._actions.names[vocabulary.Module.RETRIEVER][args[0]]}: " + (
                f"evidence {quoted}" if args[1] else "no evidence."
            )
        if kind == vocabulary.ANSWERED:
            return f"{self._actions.names[vocabulary.Module.GENERATOR][args[0]]}: " + (
                f"answer {quoted}" if args[1] else "no answer."
            )
        if kind == vocabulary.CHECKED:
            return f"{self._actions.names[vocabulary.Module.VERIFIER][args[0]]}: verdict {VERDICTS[args[1]]}."
        if kind == vocabulary.JUDGED:
            book = "right" if args[1] else "wrong"
            return f"The final answer is {quoted}. The answer from memory alone is {book}."
        return f"{self._result(args)} The question was {quoted}"

    def _result(self, args: tuple[int, ...]) -> str:
        """How a question ended and what it paid; said once for each outcome of each joint action."""
        sentence = self._results.get(args)
        if sentence is None:
            outcome, plan = args[0], Joint(*args[1:])
            pay, cost = self._payment.utilities[outcome], sum(self._payment.costs_of(plan))
            net = _number(self._payment.net(plan, outcome))
            sentence = f"{_OUTCOMES[outcome].capitalize()}: {_number(pay)} minus costs of {_number(cost)} is {net}."
            self._results[args] = sentence
        return sentence


@lru_cache(maxsize=2048)  # questions, evidence and answers come again; of the longest words, 16 MB
def _quoted(words: str) -> str:
    """Words from outside in one line, between quotation marks."""
    return quote(clean(words))


@lru_cache(maxsize=len(STATES))
def _signals(state: str) -> str:
    """What the graph says about a question, in a sentence.

    >>> _signals("T:mid_Q:high")
    'In the graph, trust in its documents is medium, and the quality of their evidence is high.'
    """
    if state == vocabulary.NO_SIGNAL:
        return "The graph says nothing about it."
    trust, quality = (_LEVELS[part.partition(":")[2]] for part in state.split("_"))
    return f"In the graph, trust in its documents is {trust}, and the quality of their evidence is {quality}."


def _number(value: float) -> str:
    return f"{value:g}"
