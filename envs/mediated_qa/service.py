"""Nature's requests to the outside world: questions, retrieval, answers, verdicts and judgements, as a protocol.

Actions are numbers into the table's lists (`actions.ActionSet`), by default the published ones. A service for other actions has
them as its attribute `actions`, and where more than one of them checks, a method `verify`, as `check` with the action. A service whose
samples that must agree are drawn from the evidence says so by `consistency = "evidence"`.

The rules call a `Service` only to draw nature's moves. Whatever it says becomes part of a move, so that a game is played
again without it. The embedded one is `parlour.envs.mediated_qa.pipeline.Pipeline`; one with language models differs only
in its reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, get_args, runtime_checkable

from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet

if TYPE_CHECKING:
    import numpy as np

Consistency = Literal["evidence", "question"]
"""What the samples that must agree are drawn from."""
CONSISTENCIES: Final = get_args(Consistency)


class Asked(NamedTuple):
    """A question as it is put."""

    number: int
    text: str
    state: int
    """Number into `vocabulary.STATES`: what the graph's signals say about it."""


@runtime_checkable
class Service(Protocol):
    """The outside world. Its answers may depend on the question, the arguments and the generator given, nothing else."""

    @property
    def size(self) -> int:
        """How many questions it has."""

    def ask(self, number: int) -> Asked:
        """Question `number`, 0 .. size - 1."""

    def retrieve(self, number: int, action: int) -> str:
        """Evidence for a question by `vocabulary.Retrieve.SHALLOW` or `DEEP`; empty if there is none."""

    def answer(self, number: int, action: int, evidence: str, rng: np.random.Generator) -> str:
        """The answer by `FROM_EVIDENCE`, `CONSISTENT` or `PARAMETRIC`; empty for "I don't know"."""

    def check(self, number: int, evidence: str, answer: str) -> int:
        """What the evidence says about the answer: `vocabulary.ENTAILED`, `NEUTRAL` or `CONTRADICTED`."""

    def gold(self, number: int) -> str:
        """The right answer."""

    def right(self, number: int, answer: str) -> bool:
        """Whether an answer counts as right."""

    def known(self, number: int) -> bool:
        """Whether the plain closed-book answer to a question is right."""


def actions_of(service: Service) -> ActionSet:
    """The actions that a service knows: its attribute `actions`, or the published ones if it has none."""
    actions = getattr(service, "actions", PUBLISHED_ACTIONS)
    return actions if isinstance(actions, ActionSet) else PUBLISHED_ACTIONS


def verdict_of(service: Service, actions: ActionSet, number: int, action: int, evidence: str, answer: str) -> int:
    """What a checking action of the verifier finds: `service.verify` where the service has it, else `service.check`."""
    verify: Any = getattr(service, "verify", None)
    if verify is None or actions == PUBLISHED_ACTIONS:
        return service.check(number, evidence, answer)
    return int(verify(number, action, evidence, answer))


def seen_evidence(service: Service, actions: ActionSet, action: int, evidence: str) -> str:
    """What an action of the generator sees of the evidence."""
    sampled = actions.samples(action) and getattr(service, "consistency", "question") == "evidence"
    return evidence if sampled or actions.reads(action) else ""
