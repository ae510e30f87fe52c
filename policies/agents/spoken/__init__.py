"""The question what a statement claims, in the kinds of `parlour.envs.claims`; its heuristic is that reader.

A model is asked for one statement at a time, so that its answers do not depend on what else is asked. The question refers to
players by name. What it answers of players who are not there, or of itself as an accuser of itself, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, Self

import numpy as np
from parlour.envs.claims import Claim, claims as read_offline
from parlour.envs.english import name
from parlour.envs.speech import ACCUSE, CLAIM_ROLE, PROMISE
from parlour.policies.agents.seat import InputPart
from parlour.policies.llm.ask import Answer, Ask, Choices
from parlour.policies.llm.model import Model, RequestContext
from parlour.policies.llm.noise import MisreadingModel

__all__ = ["ClaimsOfStatement", "ReadClaims", "claims_by", "reader_by"]


ClaimKind = Literal["accuse", "defend", "propose", "claim_role", "promise", "defer"]
_VOTES: Final = ("reject", "approve")
READER: Final = RequestContext("reader")
_CONTRARY: Final[dict[ClaimKind, ClaimKind]] = {"accuse": "defend", "defend": "accuse"}


class WrittenClaim(InputPart):
    """One claim as a model writes it."""

    kind: ClaimKind
    players: tuple[str, ...]
    """The player it is about; empty if the kind needs no player."""
    some_of_them: bool
    """Whether it is about some of these players only."""
    role: str
    """The role claimed; empty for other kinds."""
    vote: Literal["", "approve", "reject"]
    """The vote promised; empty for other kinds."""


class ClaimsOfStatement(Answer):
    """What a statement claims."""

    claims: tuple[WrittenClaim, ...]

    def read(self, roles: Sequence[str]) -> tuple[Claim, ...]:
        """The same as the offline reader gives it: each claim once, seats ascending."""
        return tuple(dict.fromkeys(_of(claim, roles) for claim in self.claims))


class ReadClaims(Ask[ClaimsOfStatement], kind="claims.read_claims", max_tokens=600):
    """What does a statement claim?"""

    speaker: str
    players: tuple[str, ...]
    """Everyone at the table, the speaker among them."""
    roles: tuple[str, ...]
    """That may be claimed, by number."""
    words: str

    def heuristic(self, rng: np.random.Generator) -> ClaimsOfStatement:
        me = self.players.index(self.speaker) if self.speaker in self.players else -1
        offline = read_offline(self.words, me, len(self.players), self.roles)
        return ClaimsOfStatement(claims=tuple(_written(claim, self.roles) for claim in offline))

    def misheard(self, ear: MisreadingModel) -> Self:
        """Words that are missed say nothing; those that are misread change in the answer."""
        if self.speaker == name(ear.seat) or not ear.misses(self._statement):
            return self
        ear.hears(self.words, "")
        return self.model_copy(update={"words": ""})

    def restated(self, answer: ClaimsOfStatement, ear: MisreadingModel) -> ClaimsOfStatement:
        """The claims of misread words: of another player, or to the contrary."""
        if self.speaker == name(ear.seat) or not ear.misreads(self._statement):
            return answer
        return ClaimsOfStatement(claims=tuple(self._misread(claim, ear) for claim in answer.claims))

    @property
    def _statement(self) -> str:
        return f"{self.speaker}: {self.words}"

    def _misread(self, claim: WrittenClaim, ear: MisreadingModel) -> WrittenClaim:
        others = [who for who in self.players if who not in (self.speaker, *claim.players)]
        if claim.players and others and ear.pick(self._statement, "whom or how", (True, claim.kind not in _CONTRARY)):
            gone = ear.pick(self._statement, "target", claim.players)
            taken = ear.pick(self._statement, "other", others)
            players = tuple(taken if who == gone else who for who in claim.players)
            return claim.model_copy(update={"players": players})
        return claim.model_copy(update={"kind": _CONTRARY.get(claim.kind, claim.kind)})

    def choices(self) -> Choices:
        roles = dict.fromkeys(("", *self.roles), "")
        return {"claims.players": dict.fromkeys(self.players, ""), "claims.role": roles}

    def check(self, answer: ClaimsOfStatement) -> None:
        for claim in answer.claims:
            if claim.kind == CLAIM_ROLE and not claim.role:
                raise ValueError("a claim of a role names none; accepted: one of the roles")
            if claim.kind == PROMISE and not claim.vote:
                raise ValueError("a promise tells no vote; accepted: approve or reject")
            if claim.kind == ACCUSE and claim.players == (self.speaker,):
                raise ValueError("the speaker accuses itself; accepted: claims about others")


def claims_by(
    model: Model,
    statements: Iterable[tuple[str, int]],
    players: int,
    roles: Sequence[str],
    context: RequestContext = READER,
) -> list[tuple[Claim, ...]]:
    """What statements claim, as a model reads them; an offline model reads as `parlour.envs.claims` does.

    Args:
        model: Who is asked.
        statements: Words with `player_N` for names, and who speaks.
        players: How many sit at the table.
        roles: The roles' names by number.
        context: On whose behalf, in which game; a reader that errs (`parlour.policies.llm.noise`) errs by both.
    """
    everyone, named = tuple(name(seat) for seat in range(players)), tuple(roles)
    asked = [
        (ReadClaims(speaker=name(seat), players=everyone, roles=named, words=words), context)
        for words, seat in statements
    ]
    return [answered.value.read(named) for answered in model.answer_all(asked)]


def reader_by(
    model: Model, roles: Sequence[str], context: RequestContext = READER
) -> Callable[[str, int, int], tuple[Claim, ...]]:
    """A model as the reader of a belief (`AvalonBelief(..., reader=...)`): words, speaker, players -> claims."""

    def read(words: str, speaker: int, players: int) -> tuple[Claim, ...]:
        return claims_by(model, [(words, speaker)], players, roles, context)[0]

    return read


def _of(claim: WrittenClaim, roles: Sequence[str]) -> Claim:
    if claim.kind == CLAIM_ROLE:
        return Claim(CLAIM_ROLE, (), value=list(roles).index(claim.role))
    if claim.kind == PROMISE:
        return Claim(PROMISE, (), value=_VOTES.index(claim.vote))
    seats = tuple(sorted({int(player.removeprefix("player_")) for player in claim.players}))
    return Claim(claim.kind, seats, claim.some_of_them)


def _written(claim: Claim, roles: Sequence[str]) -> WrittenClaim:
    return WrittenClaim.model_validate(
        {
            "kind": claim.kind,
            "players": tuple(map(name, claim.seats)),
            "some_of_them": claim.some,
            "role": roles[claim.value] if claim.kind == CLAIM_ROLE else "",
            "vote": _VOTES[claim.value] if claim.kind == PROMISE else "",
        }
    )
