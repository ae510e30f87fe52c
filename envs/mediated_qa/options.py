"""The options of a table of mediated question answering, and what follows from its service."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from parlour.envs.core import ParlourError, accept
from parlour.envs.mediated_qa.actions import LARGEST_COST, PUBLISHED_ACTIONS, ActionSet
from parlour.envs.mediated_qa.service import Consistency, Service, actions_of
from parlour.envs.mediated_qa.vocabulary import JOINTS, SEES, Payment
from parlour.envs.settings import SPARSE, Accepts, OneOf
from parlour.envs.spec import GameOptions
from pydantic import Field, model_validator

_MOST_QUESTIONS: Final = 100
_Utility = Annotated[float, Field(ge=-LARGEST_COST, le=LARGEST_COST)]
_Cost = Annotated[float, Field(ge=0, le=LARGEST_COST)]
_SERVICE: Final = Accepts("None, or an object that satisfies parlour.envs.mediated_qa.service.Service")
_ACTIONS: Final = Accepts("None, an ActionSet of parlour.envs.mediated_qa.actions, or its plain values")


class MediatedOptions(GameOptions):
    """What a table of mediated question answering is made from."""

    questions: int = Field(default=1, ge=1, le=_MOST_QUESTIONS)
    """Questions of an episode; none comes twice."""
    joint: Annotated[str, OneOf(tuple(JOINTS))] = "published"
    """Joint actions that the mediator may recommend."""
    modules: bool = True
    """Whether the modules decide for themselves; if not, the mediator is the only seat."""
    pay: Literal["shared", "own"] = "shared"
    """All get the net utility, or a module gets the outcome's utility minus its own cost."""
    utilities: tuple[_Utility, _Utility, _Utility, _Utility] = Payment().utilities
    """Points for a right answer, a wrong answer, a right abstention, a wrong abstention."""
    costs: tuple[_Cost, ...] | None = None
    """Costs of the actions of the retriever, the generator, the verifier; None: as the actions say."""
    difficulty: Literal["easy", "medium", "hard"] = "medium"
    """Difficulty of the generated corpus."""
    corpus_seed: int = Field(default=0, ge=0)
    """Seed of the generated corpus."""
    corpus_size: int = Field(default=60, ge=1, le=1_000_000)
    """Questions of the generated corpus; with a service, its size counts."""
    normalisation: Literal["paper", "text", "ours"] = "ours"
    """Graph and signals: by the paper's code, by its text, or ours."""
    consistency: Annotated[Consistency, SPARSE] = "question"
    """What the samples that must agree are drawn from: the evidence, as in the paper's text, or the question alone, as in its code."""
    service: Annotated[Service | None, _SERVICE] = Field(default=None, exclude=True)
    """Who answers for nature; None: the offline service over a generated corpus. It is not stored."""
    mediator_sees: Annotated[str, OneOf(SEES), SPARSE] = "state"
    """The state alone, the raw signals too, or all that may be known before anything is paid for."""
    actions: Annotated[ActionSet | None, _ACTIONS, SPARSE] = None
    """What the modules may do; None: what the service knows, which is usually the published nine."""

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if not 1 <= self.questions <= self.size:
            raise accept("questions", self.questions, range(1, min(self.size, _MOST_QUESTIONS) + 1))
        if self.costs is not None and len(self.costs) != len(self.known.costs):
            raise accept("costs", self.costs, f"None, or {len(self.known.costs)} numbers from 0 to {LARGEST_COST:g}")
        if self.service is not None and self.actions not in (None, actions_of(self.service)):
            differ = "the table's actions differ from the service's actions"
            raise ParlourError(f"{differ}; accepted: the same ActionSet for both")
        sees_more = self.mediator_sees != "state"
        if sees_more and self.service is not None and not callable(getattr(self.service, "context", None)):
            lacking = f"mediator_sees {self.mediator_sees!r} with a service that has no context(number)"
            raise ParlourError(f"{lacking}; accepted: a Pipeline")
        return self

    @property
    def size(self) -> int:
        """How many questions there are."""
        return self.corpus_size if self.service is None else self.service.size

    @property
    def known(self) -> ActionSet:
        """What the modules may do."""
        return self.actions or (PUBLISHED_ACTIONS if self.service is None else actions_of(self.service))

    @property
    def payment(self) -> Payment:
        """What outcomes pay and actions cost."""
        return self.known.payment(self.utilities, self.costs)

    def stored(self) -> dict[str, Any]:
        """Plain values from which the same table can be built without the service."""
        own = None if self.known == PUBLISHED_ACTIONS else self.known
        whole = self.model_copy(update={"costs": self.payment.costs, "corpus_size": self.size, "actions": own})
        return whole.plain()
