"""The four questions that are put about an utterance, each with a heuristic (`stances`, `roles`).

Players stand in them by name (`player_2`), as in the words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from parlour.envs.english import name
from parlour.policies.llm.ask import Answer, Ask
from parlour.training.avalon.social import roles, stances


class Attitudes(Answer):
    """How an utterance meets the other players; who is in neither list is met neutrally."""

    trusts: tuple[str, ...]
    distrusts: tuple[str, ...]


class Proposal(Answer):
    """Whether the speaker proposes to go on the quest."""

    proposes_self: bool


class Told(Answer):
    """What an utterance does with the speaker's identity."""

    identity: roles.Identity


class Facts(Answer):
    """The players that an utterance names for what the night showed them to be."""

    told: tuple[str, ...]


class Attitude(Ask[Attitudes]):
    """Whom does the speaker trust, whom not?"""

    kind: ClassVar[str] = "social.attitude"
    max_tokens: ClassVar[int] = 200

    speaker: str
    others: tuple[str, ...]
    words: str

    def heuristic(self, rng: np.random.Generator) -> Attitudes:
        found = stances.stances(self.words, seat(self.speaker))
        others = set(self.others)
        return Attitudes(trusts=_names(found.trust, others), distrusts=_names(found.distrust, others))

    def check(self, answer: Attitudes) -> None:
        _known(answer.trusts + answer.distrusts, self.others)


class SelfProposal(Ask[Proposal]):
    """Does the speaker propose to go on the quest?"""

    kind: ClassVar[str] = "social.self_proposal"
    max_tokens: ClassVar[int] = 100

    speaker: str
    words: str

    def heuristic(self, rng: np.random.Generator) -> Proposal:
        return Proposal(proposes_self=stances.proposes_self(self.words, seat(self.speaker)))


class Disclosure(Ask[Told]):
    """Does the speaker tell its identity, feign another, or keep it back?"""

    kind: ClassVar[str] = "social.identity"
    max_tokens: ClassVar[int] = 100

    speaker: str
    role: str
    """The speaker's true role."""
    side: str
    words: str

    def heuristic(self, rng: np.random.Generator) -> Told:
        return Told(identity=roles.identity(self.words, seat(self.speaker), self.role))


class Sharing(Ask[Facts]):
    """What does the speaker tell of what the night showed it?"""

    kind: ClassVar[str] = "social.sharing"
    max_tokens: ClassVar[int] = 200

    speaker: str
    role: str
    known: tuple[str, ...]
    """The players that the night showed the speaker."""
    shown_as: tuple[str, ...]
    """The roles that these players hold among themselves."""
    words: str

    def heuristic(self, rng: np.random.Generator) -> Facts:
        known = tuple(seat(one) for one in self.known)
        return Facts(told=_names(roles.shared(self.words, seat(self.speaker), self.role, known)))

    def check(self, answer: Facts) -> None:
        _known(answer.told, self.known)


QUESTIONS: tuple[type[Ask[Any]], ...] = (Attitude, SelfProposal, Disclosure, Sharing)


def seat(player: str) -> int:
    """The seat of a name.

    >>> seat("player_3")
    3
    """
    return int(player.removeprefix("player_"))


def _names(seats: Iterable[int], among: set[str] | None = None) -> tuple[str, ...]:
    return tuple(name(one) for one in seats if among is None or name(one) in among)


def _known(named: tuple[str, ...], accepted: tuple[str, ...]) -> None:
    for one in named:
        if one not in accepted:
            raise ValueError(f"{one!r}, accepted: {', '.join(accepted) or 'nobody'}")
    if len(set(named)) != len(named):
        raise ValueError("a player stands twice, accepted: once at most")
