"""What GRATR asks a model about a statement (Zhu et al. 2024, appendices 1 and 2; decisions 1.2), and what of it is used.

Asked again is what breaks the schema: another language instead of a word of the schema, a score beyond 0..10, a missing
field, a player who does not exist. Dropped, counted, and no reason to ask again is what can be left out of an answer that
is whole: what somebody does to himself, both attack and defence of the same player in one statement, and what others than
the speaker are said to do, which the observer has seen for itself. The reasons, which the published code has for each
entry, are given once and before the entries; what counts is kept with the statement.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

import numpy as np
from parlour.envs.language.english import name
from parlour.envs.werewolf.vocabulary import HUNTER, WOLVES
from parlour.policies.agents.werewolf import reading
from parlour.policies.agents.werewolf.asks import Number, others_of
from parlour.policies.agents.werewolf.gratr.statements import GraphJudgement
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.reading import MODERATOR
from parlour.policies.agents.werewolf.situation import Player, WerewolfSelfInfo, observer_of
from parlour.policies.llm.ask import Answer, Ask, Choices, Rounded
from parlour.policies.llm.reading import with_length
from pydantic import Field

TEMPERATURE: Final = 0.2
"""Temperature of both questions, as in the published code."""
LENGTH: Final = 240
"""Tokens of an answer: as in the published code, plus some for the reasons."""
_BY_WORDS: Final = "By the words of the statement."
"""The reason of the rule for whatever it finds."""


class Meant(Answer):
    """One intent of a player."""

    speaker: Player
    intent: Literal["attack", "defend", "deceive"]
    target: Player
    score: Rounded = Field(ge=0, le=reading.MOST, allow_inf_nan=False)


class Intents(Answer):
    """All intents in a statement; an empty list if there are none."""

    why: str
    """The statement's actions and their targets, in a sentence."""
    intents: list[Meant]


class AskIntent(Ask[Intents], kind="gratr.intent", max_tokens=LENGTH, temperature=TEMPERATURE):
    """The attacks, defences and deceptions in a statement. The same for whoever hears it."""

    players: int
    statement: HeardMessage

    def heuristic(self, rng: np.random.Generator) -> Intents:
        statement = reading.read(self.statement.speaker, self.statement.in_full, self.players)
        fields = [dict(zip(Meant.model_fields, intent, strict=True)) for intent in statement.intents]
        intents = [Meant.model_validate(values) for values in fields]
        return Intents(why=_BY_WORDS, intents=intents)

    def choices(self) -> Choices:
        seats = {name(seat): "" for seat in range(self.players)}
        return {"intents.speaker": seats, "intents.intent": dict.fromkeys(reading.INTENTS, ""), "intents.target": seats}

    def schema_of_answer(self) -> dict[str, Any]:
        return with_length(super().schema_of_answer(), "intents", 0, self.players)


class Seen(Answer):
    """What a player is taken for."""

    player: Player
    identity: Literal["werewolf", "not-werewolf", "villager", "witch", "seer", "guard", "hunter"]
    confidence: Rounded = Field(ge=0, le=reading.MOST, allow_inf_nan=False)


class Identities(Answer):
    """All judgements that a statement allows; an empty list if there are none."""

    why: str
    """The statement's claims about players, in a sentence."""
    judgements: list[Seen]


class AskIdentity(Ask[Identities], kind="gratr.identity", fixed=("me",), max_tokens=LENGTH, temperature=TEMPERATURE):
    """What one player takes others for after a statement."""

    me: WerewolfSelfInfo
    wolves: list[Player]
    """Players known to be werewolves, except the observer."""
    innocent: list[Player]
    """Players known not to be werewolves."""
    trust: Number
    """In the speaker; 1 in the moderator."""
    statement: HeardMessage

    def heuristic(self, rng: np.random.Generator) -> Identities:
        said, observer = self.statement, observer_of(self.me, self.wolves, self.innocent)
        statement = reading.judged_by(
            observer, said.speaker, reading.read(said.speaker, said.in_full, len(self.me.roles))
        )
        named = self._named()
        judgements = [Seen.model_validate(item._asdict()) for item in statement if item.identity in named]
        return Identities(why=_BY_WORDS, judgements=judgements)

    def _named(self) -> list[str]:
        """The identities that there are at the table."""
        return [identity for identity in reading.IDENTITIES if identity != "hunter" or HUNTER in self.me.roles]

    def choices(self) -> Choices:
        return {
            "judgements.player": others_of(self.me),
            "judgements.identity": {identity: identity.replace("-", " ") for identity in self._named()},
        }

    def schema_of_answer(self) -> dict[str, Any]:
        return with_length(super().schema_of_answer(), "judgements", 0, len(self.me.roles) - 1)


class AskRoles(AskIdentity, kind="gratr.roles"):
    """What a werewolf, who knows both sides, takes the others for after a statement."""


NO_INTENTS: Final = Intents(why="", intents=[])
NO_IDENTITIES: Final = Identities(why="", judgements=[])
"""What is held of a statement that nobody is asked about."""


class StatementEvidence(NamedTuple):
    """What of the two answers enters the graph."""

    intents: list[tuple[int, float]]
    """The player that the speaker means, and the weight in [-1, 1]."""
    judgements: list[GraphJudgement]
    identities: list[reading.ReadJudgement]
    """The same with the identity that was named."""
    dropped: int


def usable(speaker: int, intents: Intents, identities: Identities, me: WerewolfSelfInfo) -> StatementEvidence:
    """Sift two answers about a statement of `speaker`, as `reading.sift` does, and turn scores into weights.

    An attack and a deceit weigh -score/10, a defence score/10 (the published code; the paper does not say what a deceit
    weighs). A confidence counts for the observer's side or against it.
    """
    sifted = reading.sift(
        [reading.ReadIntent(*dict(meant).values()) for meant in intents.intents],
        [reading.ReadJudgement(**dict(seen)) for seen in identities.judgements],
        len(me.roles),
    )
    own = [intent for intent in sifted.intents if intent.speaker == speaker and speaker != MODERATOR]
    weights = [(b, (1 if kind == reading.DEFEND else -1) * score / reading.MOST) for _, kind, b, score in own]
    wolf = me.side == WOLVES
    judgements = [
        GraphJudgement(
            judgement.player,
            (1 if reading.is_bad(judgement.identity) == wolf else -1) * judgement.confidence / reading.MOST,
            me.roles.count(judgement.identity.capitalize()) == 1,
        )
        for judgement in sifted.judgements
    ]
    dropped = sifted.dropped + len(sifted.intents) - len(own)
    return StatementEvidence(weights, judgements, list(sifted.judgements), dropped)
