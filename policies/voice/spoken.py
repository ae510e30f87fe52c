"""A voice for players that speak by number: their claims in words of their own, with reasons from their exact belief.

`Spoken` seats any such player. It makes the player's own claims, except where a question asks for another. The words of a claim are drawn from the patterns of
a language file, by a generator that follows from the seed of the game. What it says:

- It answers who asked it something, accused it or spoke for it since its last words. A question is read for what it wants to
  know (`parlour.envs.language.questions`); the answer is a claim about a player, or says why it voted so, what it saw, what it is.
- It gives reasons: facts of the record that moved its belief in the direction of its claim (`evidence`). A seat that knows
  a secret speaks from the belief of an onlooker, so its reasons do not give the secret away.
- It says no fact twice. A claim that it has made before, with no new fact and with nobody to answer, it leaves out: it is
  silent, if the rules allow silence.

A role says what is not true only where it needs to (`Mind.invents`); each such fact is marked in the transcript.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.envs.common import dotted
from parlour.envs.core import Event, Move, View, check_one_of
from parlour.envs.language import speech
from parlour.envs.language.entries import TextAction
from parlour.envs.language.questions import ANYTHING, Question, questions
from parlour.envs.plugins import Places
from parlour.envs.spec import GameSpec
from parlour.policies.base import Policy
from parlour.policies.llm.model import Model
from parlour.policies.registry import make_policy
from parlour.policies.voice.evidence import Ledger, Mind, SeatFact, SeatReply, percent_of, reply_to
from parlour.policies.voice.phrases import SeatPhrases

__all__ = ["CLAIMS", "WORDS", "Spoken", "checked_talk", "make_player", "mind_of", "talk_setting", "with_voice"]

WORDS, CLAIMS = "words", "claims"
"""How players that answer by number speak."""

MOVES: Final = 0.1
"""Least difference in log-odds that a fact must have made to be a reason."""
NEWS: Final = 0.4
"""Least difference that makes a claim worth repeating."""
SECOND: Final = 0.5
"""How often two reasons are given where there are two."""
PLAIN: Final = 0.3
"""How often an answer in its own defence cites a fact that is no evidence, such as the card it played, where there is one."""
APART: Final = 0.1
"""By how much a probability differs at least from that before the game where words say "looks good to me"."""
_REMARKS: Final = ("spoke_against", "spoke_for", "doubted_by", "backed_by", "voted")
"""Facts that mean something only with an opinion of the other player."""
_BY_OTHERS: Final = ("doubted_by", "backed_by", "evil_by_report", "good_by_report")
"""Facts that are no reason if it was the seat itself that spoke."""
_DEEDS: Final = ("voted_wolf",)
"""Facts about others that speak for oneself."""
_STREAM: Final = 0x7A1C  # keeps the words apart from all else that follows from the same seed
_AGAINST: Final = (speech.ACCUSE,)
_FOR: Final = (speech.DEFEND, speech.RECOMMEND)
_NEUTRAL: Final = "nothing_yet"


VOICES: Final = Places(
    "parlour.voices",
    {
        "avalon_v0": "parlour.policies.voice.avalon:AvalonMind",
        "werewolf_v0": "parlour.policies.voice.werewolf:WerewolfMind",
    },
)
"""Game -> dotted name of `(view, habits=None) -> parlour.policies.voice.evidence.Mind`, with a file of habits or without: the exact
belief of a seat and the facts behind it, from which players give reasons."""


def mind_of(game: str, view: View) -> Mind[Any] | None:
    """What a seat of a game believes and why; None for a game without a voice."""
    return _mind(VOICES.get(game, ""), view)


def _mind(voice: str, view: View, habits: Any = None) -> Mind[Any] | None:
    if not voice:
        return None
    made: Callable[..., Mind[Any]] = dotted.load(voice, "voice")
    return made(view) if habits is None else made(view, habits)


def checked_talk(given: str | None, usual: str) -> str:
    """The way of talking that was asked for. Raises `ParlourError` for another one."""
    talk = usual if given is None else given
    check_one_of("talk", talk, (WORDS, CLAIMS))
    return talk


def talk_setting(talk: str) -> dict[str, str]:
    """What the settings of stored games hold of it: nothing of `claims`, as those that were stored before it could be set."""
    return {} if talk == CLAIMS else {"talk": talk}


def make_player(name: str, spec: GameSpec, config: Mapping[str, Any], model: Model, talk: str) -> Policy:
    """As `make_policy`, with a voice where players are to speak in words. Raises as `make_policy`."""
    made = make_policy(name, spec.id, config, model)
    return with_voice(made, spec) if talk == WORDS else made


def with_voice(policy: Policy, spec: GameSpec) -> Policy:
    """A player that says its claims in words, at tables of a game. Agents with a model and people speak for themselves."""
    speaks = policy.wants == "text" or hasattr(policy, "model")
    return policy if speaks else Spoken(policy, VOICES.get(spec.id, ""))


class Spoken(Policy):
    """Plays as another player, and says its claims in words.

    Args:
        policy: The player.
        voice: One of `VOICES`; empty: no reasons.
    """

    def __init__(self, policy: Policy, voice: str) -> None:
        super().__init__()
        self.policy, self._voice = policy, voice
        self.name, self.wants = policy.name, policy.wants  # type: ignore[misc]  # those of the player
        self.reset(0, 0)

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.policy.reset(seat, seed)
        self._sentences = SeatPhrases(np.random.default_rng((seed, seat, _STREAM)), seat)
        self._draws = np.random.default_rng((seed, seat, _STREAM, 1))
        self._mind: Mind[Any] | None = None
        self._claimed: set[tuple[str, tuple[int, ...]]] = set()
        self._told: set[tuple[Any, ...]] = set()
        """The parts of facts that it has cited."""
        self._heard = 0
        """Events up to its last words."""
        self._reasons: dict[str, Any] = {}

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        self._reasons = {}
        answer = self.policy.act(observation, info)
        if "view" not in info or not info.get("free_words") or isinstance(answer, str | TextAction):
            return answer
        view, options = info["view"], dict(zip(info["view"].legal, info["options"], strict=True))
        move = self._spoken(view, view.legal[info["legal"].index(answer)], options)
        return answer if move is None else TextAction(move, None)

    def notes(self) -> dict[str, Any]:
        """The player's own notes, and the facts that its words cite."""
        return {**self.policy.notes(), **({"reasons": self._reasons} if self._reasons else {})}

    def settings(self) -> dict[str, Any]:
        return self.policy.settings()

    # -- inside ------------------------------------------------------------------------------------------------

    def _spoken(self, view: View, move: Move, options: Mapping[Move, str]) -> Move | None:
        """The move with its words: None if it takes none, silence if there is nothing new to say."""
        mind = self._mind_of(view)
        addressed = _addressed(view.events[self._heard :], view.seat)
        is_talk = Move(speech.SILENT) in options and any(
            option.kind == speech.ACCUSE for option in options
        )  # all hear it
        if addressed is not None and addressed.question is not None and mind is not None and is_talk:
            reply = reply_to(addressed.question, view, mind)
            if reply is not None and (reply.facts or any(move in options for move in reply.moves)):
                return self._replied(view, mind, move, options, addressed, reply)
        claim = self._sentences.claim(move, options[move])
        if claim is None:
            return None
        reasons = [] if mind is None else self._facts_for(mind, view, move)
        new = self._untold(reasons)
        if self._is_news(move, mind, view, new, addressed) or Move(speech.SILENT) not in options:
            self._heard = len(view.events)
            words = self._said(view, mind, move, claim, new, addressed)
            return None if words == options[move] else move._replace(words=words)
        return Move(speech.SILENT)

    def _replied(
        self, view: View, mind: Mind[Any], own: Move, options: Mapping[Move, str], asked: _Addressed, reply: SeatReply
    ) -> Move | None:
        """The answer to a question: a claim with its reasons, or facts, then the player's own claim if it is news."""
        assert asked.question is not None
        self._heard = len(view.events)
        topic, move = asked.question.topic, next((move for move in reply.moves if move in options), own)
        claim = self._sentences.claim(move, options[move])
        reasons = self._facts_for(mind, view, move)
        new = self._untold(reasons)
        words = self._sentences.reply(topic, asked.by, [self._sentences.fact(fact) for fact in reply.facts])
        if reply.facts and (claim is None or not self._is_news(move, mind, view, new, None)):
            move, claim = Move(speech.SILENT), None
        if claim is None:
            self._keep(view, mind, [], reply.facts, topic)
            return Move(speech.SILENT, (), words)
        chosen = self._chosen(new if reply.facts else new or reasons)
        self._claimed.add((move.kind, move.args))
        self._keep(view, mind, chosen, reply.facts, topic)
        return move._replace(words=f"{words} {self._with_reasons(claim, chosen)}")

    def _mind_of(self, view: View) -> Mind[Any] | None:
        if self._mind is None:
            self._mind = _mind(self._voice, view, self.policy.habits)
        if self._mind is not None:
            self._mind.see(view)
        return self._mind

    def _is_news(
        self, move: Move, mind: Mind[Any] | None, view: View, new: Sequence[SeatFact], addressed: _Addressed | None
    ) -> bool:
        if addressed is not None or (move.kind, move.args) not in self._claimed:
            return True
        return mind is not None and any(abs(mind.shown(view).lift(fact)) >= NEWS for fact in new if fact.pieces)

    def _facts_for(self, mind: Mind[Any], view: View, move: Move) -> list[SeatFact]:
        """The facts that support a claim about a seat, the strongest first."""
        sign = _direction(move)
        if sign == 0:
            return []
        about = move.args[0]
        ledger = mind.public if about == view.seat else mind.shown(view)
        facts = _of_seat(mind, about, view.seat)
        supporting = _supporting(facts, ledger, sign, view.seat, mind.invents(view))
        if move.kind == speech.REPORT:  # the check itself is why it is sure
            return supporting
        neutral = [fact for fact in facts if fact.kind == _NEUTRAL and sign < 0]
        return supporting or [*self._count(mind, ledger, about, sign), *neutral]

    def _count(self, mind: Mind[Any], ledger: Ledger, about: int, sign: int) -> list[SeatFact]:
        """The probability itself as a reason, where it is on the side of the claim."""
        if about == self.seat:
            return []
        chance, before = float(ledger.chance()[about]), float(ledger.hostile.mean())
        return [percent_of(ledger, mind, about)] if sign * (chance - before) > MOVES else []

    def _said(
        self,
        view: View,
        mind: Mind[Any] | None,
        move: Move,
        claim: str,
        new: Sequence[SeatFact],
        addressed: _Addressed | None,
    ) -> str:
        """The whole utterance; what it cites goes to the notes."""
        parts: list[str] = []
        cited: list[SeatFact] = []
        if addressed is not None:
            cited += [] if mind is None else self._in_defence(mind, view)
            reason = self._sentences.fact(cited[0]) if cited else ""
            parts.append(self._sentences.answer(addressed.how, addressed.by, reason))
        chosen = self._chosen([fact for fact in new if fact not in cited])
        parts.append(self._with_reasons(claim, chosen))
        self._claimed.add((move.kind, move.args))
        if mind is not None:
            self._keep(view, mind, [*cited, *chosen])
        return " ".join(parts)

    def _with_reasons(self, claim: str, chosen: Sequence[SeatFact]) -> str:
        """A claim with its reasons, as a sentence."""
        sentences = [self._sentences.fact(fact) for fact in chosen]
        early = any(fact.kind == _NEUTRAL for fact in chosen)
        return self._sentences.because(claim, sentences, early=early) if sentences else self._sentences.alone(claim)

    def _keep(
        self,
        view: View,
        mind: Mind[Any],
        reasons: Sequence[SeatFact],
        answers: Sequence[SeatFact] = (),
        topic: str = "",
    ) -> None:
        """Remember what was cited, and note it for the transcript: reasons of a claim, and answers to a question."""
        self._told |= {part for fact in (*reasons, *answers) for part in fact.parts}
        if reasons or answers or topic:
            belief = "own" if mind.shown(view) is mind.own else "public"
            asked = {"asked": topic, "answers": [fact.as_json() for fact in answers]} if topic else {}
            self._reasons = {"belief": belief, "facts": [fact.as_json() for fact in reasons], **asked}

    def _chosen(self, facts: Sequence[SeatFact]) -> list[SeatFact]:
        """One fact, or two of different kinds; of facts that tell the same, one is drawn."""
        if not facts:
            return []
        same = [fact for fact in facts if fact.parts == facts[0].parts]
        first = same[int(self._draws.integers(len(same)))] if len(same) > 1 else facts[0]
        second = [
            fact for fact in facts[1:] if fact.pieces and fact.kind != first.kind and not fact.parts & first.parts
        ]
        two = bool(second) and bool(first.pieces) and self._draws.random() < SECOND
        return [first, *second[:two]]

    def _untold(self, facts: Sequence[SeatFact]) -> list[SeatFact]:
        return [fact for fact in facts if not fact.parts <= self._told]

    def _in_defence(self, mind: Mind[Any], view: View) -> list[SeatFact]:
        """What speaks most for the seat itself, to the others, and was not said yet: at most one fact."""
        facts = _of_seat(mind, view.seat, view.seat)
        good = _supporting(facts, mind.public, -1, view.seat, mind.invents(view))
        left = self._untold(good)
        plain = [fact for fact in left if not fact.pieces]
        if plain and self._draws.random() < PLAIN:
            return [plain[int(self._draws.integers(len(plain)))]]
        return left[:1]


class _Addressed(NamedTuple):
    """Somebody has spoken to the seat or of it."""

    how: str
    """`"asked"`, `"accused"` or `"defended"`."""
    by: int
    question: Question | None = None
    """What was asked, where the answer depends on it."""


def _direction(move: Move) -> int:
    """Whether a claim speaks against the seat that it names (1), for it (-1), or neither (0)."""
    if move.kind == speech.REPORT:
        return 1 if move.args[1] else -1
    return 1 if move.kind in _AGAINST else -1 if move.kind in _FOR else 0


def _supporting(
    facts: Sequence[SeatFact], ledger: Ledger, sign: int, me: int, invents: frozenset[str]
) -> list[SeatFact]:
    """The facts that moved a belief in a direction (1: evil), the strongest first, then those that are no evidence.

    Facts that are not true stay only if they are of the kinds `invents`.
    """
    said = [fact for fact in facts if not fact.lie or fact.kind in invents]
    opinions = filter(None, (_with_opinion(fact, ledger, me) for fact in said if fact.pieces))
    weighed = [(sign * ledger.lift(fact), fact) for fact in opinions if fact.points != -sign]
    strong = sorted((reason for reason in weighed if reason[0] >= MOVES), key=lambda reason: -reason[0])
    plain = [fact for fact in said if not fact.pieces and fact.kind != _NEUTRAL and fact.points == sign]
    return [fact for _, fact in strong] + plain


def _of_seat(mind: Mind[Any], about: int, me: int) -> list[SeatFact]:
    """The facts about a seat; of those about the speaker itself, what it did."""
    facts = mind.facts(about)
    return [
        fact for fact in facts if about != me or "other" not in fact.slots or fact.kind in _DEEDS or not fact.pieces
    ]


def _with_opinion(fact: SeatFact, ledger: Ledger, me: int) -> SeatFact | None:
    """A remark about somebody with what the belief says of that player; None where it says too little."""
    other = fact.slots.get("other")
    if other == me and fact.kind in _BY_OTHERS:
        return None
    if other in (me, None) or fact.kind not in _REMARKS:
        return fact
    apart = float(ledger.chance()[other] - ledger.hostile.mean())
    return None if abs(apart) < APART else replace(fact, kind=f"{fact.kind}_{'bad' if apart > 0 else 'good'}")


def _addressed(events: Sequence[Event], me: int) -> _Addressed | None:
    """How somebody has spoken to or of the seat, and who; the latest question, else accusation, else good word."""
    addressed: dict[str, _Addressed] = {}
    for seat, (kind, args, words), to in events:
        if seat in (me, -1) or to is not None or kind not in speech.ACTS:
            continue
        for question in questions(words):
            if question.to is None or me in question.to:
                addressed["asked"] = _Addressed("asked", seat, None if question.topic == ANYTHING else question)
        if kind in (speech.ACCUSE, speech.REPORT) and args[0] == me and args[1:] != (0,):
            addressed["accused"] = _Addressed("accused", seat)
        elif kind in (speech.DEFEND, speech.RECOMMEND) and args[0] == me:
            addressed["defended"] = _Addressed("defended", seat)
    return next((addressed[how] for how in ("asked", "accused", "defended") if how in addressed), None)
