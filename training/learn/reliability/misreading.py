"""Werewolf agents that misread statements at a known rate, so that reliabilities are learned with errors of reading.

A misread statement is taken for another statement: half of the errors name another player, half reverse the statement. A claimed
role becomes another role. The moderator's words, observed actions and the
reader's own words are never misread. Whether a statement is misread is drawn from the game, the reader's seat and the statement,
so that one seat misreads it alike in all questions, and the same sentence is not misread alike in every game.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, ClassVar, Final, TypeVar

from parlour.envs.language.english import name
from parlour.policies.agents.werewolf import reading
from parlour.policies.agents.werewolf.asks import HeardAsk
from parlour.policies.agents.werewolf.gratr.asks import AskIdentity, AskIntent
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.model import Answered, Model, RequestContext

T = TypeVar("T")
_ROLES: Final = ("villager", "witch", "seer", "guard")
_BRANCH: Final = " ".join(("whom", "or", "how"))
"""Key of a draw, not prose: other bytes would draw other games."""


class MisreadingModel(Model):
    """A model to which the questions of Werewolf agents come as their readers take them.

    Args:
        inner: Who answers.
        rate: Probability that a statement is misread.
    """

    asks_alone: ClassVar[bool] = True

    def __init__(self, inner: Model, rate: float) -> None:
        self._inner, self._rate, self.name = inner, rate, inner.name
        self.is_language_model = inner.is_language_model  # type: ignore[misc]  # whatever the inner one is
        self.concurrency = inner.concurrency

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        reader = Misreading(self._rate, context.game, int(context.seat.removeprefix("player_")))
        misread = _misread(question, reader)
        return self._inner.answer(question.model_copy(update=misread) if misread else question, context)

    def settings(self) -> dict[str, Any]:
        return {**self._inner.settings(), "misread": self._rate}


def _misread(question: Ask[Any], reader: Misreading) -> dict[str, Any]:
    """The inputs that hold statements of players, as the reader takes them."""
    if isinstance(question, AskIntent):
        return {"statement": reader.taken(question.statement, question.players)}
    if isinstance(question, AskIdentity):
        return {"statement": reader.taken(question.statement, len(question.me.roles))}
    if not isinstance(question, HeardAsk):
        return {}
    shown = {part: getattr(question, part) for part in ("messages", "found") if part in type(question).model_fields}
    players = len(question.me.roles)
    return {part: [reader.taken(message, players) for message in messages] for part, messages in shown.items()}


class Misreading:
    """How one seat misreads in one game. Draws depend on their keys, not on their order.

    Args:
        rate: Probability that a statement is misread.
        game: The game's seed.
        seat: The reader's number.
    """

    def __init__(self, rate: float, game: int, seat: int) -> None:
        self._rate, self._seat, self._whose = rate, seat, f"{game} {seat}"

    def taken(self, message: HeardMessage, players: int) -> HeardMessage:
        """A message as the reader takes it."""
        if not message.said or message.speaker == self._seat:
            return message
        if self._draw(message.line(), "misread") >= self._rate:
            return message
        return message.model_copy(update={"text": self._misread(message, players)})

    def _misread(self, message: HeardMessage, players: int) -> str:
        """The words that are read; the same ones where nothing can be read in them."""
        said, statement = message.line(), reading.read(message.speaker, message.text, players)
        acts = [intent for intent in statement.intents if intent.speaker == message.speaker]
        claims = [
            judgement
            for judgement in statement.judgements
            if judgement.player == message.speaker and judgement.identity in _ROLES
        ]
        targets = list(dict.fromkeys(act.target for act in acts))
        others = [seat for seat in range(players) if seat not in (message.speaker, *targets)]
        about_another: bool = self._pick(said, _BRANCH, (True, False))
        if targets and others and about_another:
            target, other = self._pick(said, "target", targets), self._pick(said, "other", others)
            return re.sub(rf"\bplayer[\s_]*{target}(?!\d)", name(other), message.text, flags=re.IGNORECASE)
        if acts:
            return " ".join(_contrary(act) for act in acts)
        if claims:
            roles: Sequence[str] = [role for role in _ROLES if role != claims[0].identity]
            return f"I am {self._pick(said, 'role', roles).capitalize()}."
        return message.text

    def _pick(self, statement: str, what: str, options: Sequence[T]) -> T:
        """Draw an option uniformly."""
        return options[int(self._draw(statement, f"pick {what}") * len(options))]

    def _draw(self, statement: str, what: str) -> float:
        """A number in [0, 1)."""
        digest = sha256("\0".join((self._whose, what, statement, "")).encode()).digest()
        return (int.from_bytes(digest[:8]) >> 11) / 2**53


def _contrary(act: reading.ReadIntent) -> str:
    good = act.kind != reading.DEFEND
    if act.score == reading.CHECK:
        return f"I checked {name(act.target)}: {'good' if good else 'evil'}."
    return f"I trust that {name(act.target)} is good." if good else f"I accuse {name(act.target)} of being evil."
