"""What the modules of a table may do, where it is more or other than the published nine actions: names, costs and kinds.

| module | kind | what it is |
|---|---|---|
| retriever | search | looks for evidence, `depth` shallow or deep, by the service's part `by` |
| | skip | does not |
| generator | read | answers from evidence; without any, the first `recall` is carried out (the first `refuse` if there is none) |
| | agree | several answers from memory that must agree |
| | recall | the closed-book answer |
| | refuse | gives no answer |
| verifier | check | checks the answer against the evidence; without either, the first `skip` is carried out |
| | skip | lets it pass |

The kinds decide which joint actions are feasible, and what is carried out where nothing is found, as
the published run does with its actions, `PUBLISHED_ACTIONS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, product
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.mediated_qa.vocabulary import AGENTS, MODULE_ACTIONS, PUBLISHED, Joint, Payment
from parlour.envs.settings import SPARSE, Accepts, Settings
from pydantic import Field, model_validator

_SEARCH, _SKIP, _READ, _AGREE, _RECALL, _REFUSE, _CHECK = "search", "skip", "read", "agree", "recall", "refuse", "check"
KINDS: Final = ((_SEARCH, _SKIP), (_READ, _AGREE, _RECALL, _REFUSE), (_CHECK, _SKIP))
"""By module: retriever, generator, verifier."""
MOST: Final = 30
"""Actions of a module."""
LARGEST_COST: Final = 1e12
"""Also of a utility, so that no sum of them is infinite."""
_MODULES: Final = AGENTS[1:]

Names = tuple[str, str, str]


class Action(Settings):
    """One thing that a module may do."""

    name: Annotated[str, Accepts("small letters, digits and _, a letter first, up to 41")] = Field(
        pattern=r"^[a-z][a-z0-9_]{0,40}$"
    )
    """No other action of the set has it."""
    kind: str
    """One of the kinds of its module."""
    cost: float = Field(default=0.0, ge=0, le=LARGEST_COST)
    """Paid each time it is carried out."""
    by: str = ""
    """Which part of the service does it, see `pipeline.Pipeline`; empty for its first one."""
    depth: Literal["shallow", "deep"] = "shallow"
    """Depth of a search."""


Actions = Annotated[tuple[Action, ...], Field(min_length=1, max_length=MOST)]


class ActionSet(Settings):
    """The actions of the three modules. Numbers of actions are places in these lists.

    Raises:
        ParlourError: A list is empty or too long, a name is taken or no name, a kind is not one of its module's, a cost is
            negative or not finite, or there is nothing to carry out without evidence.
    """

    retriever: Actions
    """What the retriever may do."""
    generator: Actions
    """What the generator may do."""
    verifier: Actions
    """What the verifier may do."""
    offered: Annotated[tuple[Names, ...], SPARSE] = ()
    """The joint actions of `joint="published"`, which come first in every order; empty for all feasible ones."""

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        for actions, kinds in zip(self.modules, KINDS, strict=True):
            for action in actions:
                check_one_of(f"kind of {action.name}", action.kind, kinds)
        names = [action.name for actions in self.modules for action in actions]
        for name in names:
            if names.count(name) > 1:
                raise ParlourError(f"action {name!r} stands twice in a set; accepted: each name once")
        if not any(action.kind in (_RECALL, _REFUSE) for action in self.generator):
            raise ParlourError(
                "the generator can do nothing without evidence; accepted: an action of kind recall or refuse"
            )
        if all(action.kind == _CHECK for action in self.verifier):
            raise ParlourError("the verifier can do nothing without evidence; accepted: an action of kind skip")
        for joint in self.offered:
            why = self.infeasible(self.joint_of(joint))
            if why is not None:
                raise ParlourError(f"joint action {', '.join(joint)} is not accepted: {why}")
        if len(set(self.offered)) < len(self.offered):
            raise ParlourError("a joint action is offered twice; accepted: each once")
        return self

    # -- names, numbers, costs -----------------------------------------------------------------------------------

    @property
    def modules(self) -> tuple[tuple[Action, ...], tuple[Action, ...], tuple[Action, ...]]:
        """The three lists."""
        return self.retriever, self.generator, self.verifier

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Seat -> the names of its actions, as `vocabulary.MODULE_ACTIONS` for the published actions."""
        return (), *(tuple(action.name for action in actions) for actions in self.modules)

    @cached_property
    def costs(self) -> tuple[float, ...]:
        """Costs of the retriever's actions, then the generator's, then the verifier's."""
        return tuple(float(action.cost) for actions in self.modules for action in actions)

    @property
    def starts(self) -> tuple[int, int, int]:
        """Where each module's costs begin among all."""
        first, second, _ = accumulate(map(len, self.modules))
        return 0, first, second

    def payment(self, utilities: Sequence[float] | None = None, costs: Sequence[float] | None = None) -> Payment:
        """What outcomes pay and these actions cost; None for the published utilities, and for their own costs."""
        right, wrong, silent, missed = Payment().utilities if utilities is None else utilities
        return Payment((right, wrong, silent, missed), self.costs if costs is None else tuple(costs), self.starts)

    def names_of(self, joint: Sequence[int]) -> Names:
        """A joint action in names."""
        retriever, generator, verifier = joint
        return self.names[1][retriever], self.names[2][generator], self.names[3][verifier]

    def joint_of(self, names: Sequence[str]) -> Joint:
        """A joint action from its names. Raises `ParlourError` for an unknown name."""
        if len(names) != len(self.modules):
            raise accept("joint action", list(names), f"one action each of {', '.join(_MODULES)}")
        for module, name, known in zip(_MODULES, names, self.names[1:], strict=True):
            check_one_of(f"action of the {module}", name, known)
        return Joint(*(known.index(name) for name, known in zip(names, self.names[1:], strict=True)))

    # -- what can be done ----------------------------------------------------------------------------------------

    def searches(self, action: int) -> bool:
        """Whether this action of the retriever looks for evidence."""
        return self.retriever[action].kind == _SEARCH

    def reads(self, action: int) -> bool:
        """Whether this action of the generator reads evidence."""
        return self.generator[action].kind == _READ

    def samples(self, action: int) -> bool:
        """Whether this action of the generator wants several answers that agree."""
        return self.generator[action].kind == _AGREE

    def refuses(self, action: int) -> bool:
        """Whether this action of the generator gives no answer."""
        return self.generator[action].kind == _REFUSE

    def checks(self, action: int) -> bool:
        """Whether this action of the verifier checks."""
        return self.verifier[action].kind == _CHECK

    def executed(self, chosen: Joint, found: bool) -> Joint:
        """What is carried out when the modules choose so: without evidence nothing is read, and nothing is checked."""
        retriever, generator, verifier = chosen
        if self.reads(generator) and not found:
            generator = _first(self.generator, _RECALL, _REFUSE)
        if self.checks(verifier) and (not found or self.refuses(generator)):
            verifier = _first(self.verifier, _SKIP)
        return Joint(retriever, generator, verifier)

    def infeasible(self, joint: Joint) -> str | None:
        """Why the modules cannot combine these actions; None if they can."""
        searched = self.searches(joint.retriever)
        if not searched and self.reads(joint.generator):
            return f"{self.generator[joint.generator].name} reads evidence, and nothing was retrieved"
        if self.checks(joint.verifier) and self.refuses(joint.generator):
            return "there is no answer to check"
        if self.checks(joint.verifier) and not searched:
            return "there is no evidence to check against"
        return None

    @cached_property
    def all(self) -> tuple[Joint, ...]:
        """The feasible joint actions: those offered, then the others in the order of the modules' actions."""
        every = map(Joint._make, product(*(range(len(actions)) for actions in self.modules)))
        first = tuple(map(self.joint_of, self.offered))
        return first + tuple(joint for joint in every if self.infeasible(joint) is None and joint not in first)

    def joints(self, joint: str) -> tuple[Joint, ...]:
        """The joint actions by an option's word: `"published"`, those offered; `"all"`."""
        return self.all[: len(self.offered) or None] if joint == "published" else self.all

    @cached_property
    def fallback(self) -> Joint:
        """What a mediator recommends in a state that it knows nothing of: to search first, and to refuse."""
        usual = self._usual(_SEARCH, _REFUSE)
        offered = self.joints("published")
        return usual if usual in offered else offered[0]

    @cached_property
    def closed_book(self) -> Joint:
        """The baseline without retrieval: nothing is looked for, the closed-book answer is given unchecked."""
        return self._usual(_SKIP, _RECALL)

    @cached_property
    def plain_reading(self) -> Joint:
        """The baseline of retrieval: search, read, let it pass."""
        reading = self._usual(_SEARCH, _READ)
        return reading if self.infeasible(reading) is None else self.closed_book

    def _usual(self, retriever: str, generator: str) -> Joint:
        """The first actions of these kinds, or of what stands in for them; unchecked."""
        return Joint(
            _first(self.retriever, retriever, _SEARCH, _SKIP),
            _first(self.generator, generator, _RECALL, _REFUSE),
            _first(self.verifier, _SKIP),
        )

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The set in a JSON file, in the form of `plain`. Raises `ParlourError` if it holds none."""
        try:
            return cls.from_plain(json_value(Path(path).read_bytes()))
        except ParlourError as error:
            raise ParlourError(f"{str(path)!r}: {error}") from None
        except (OSError, ValueError) as error:
            raise ParlourError(f"{str(path)!r} cannot be read as actions: {error}") from None


def _first(actions: tuple[Action, ...], *kinds: str) -> int:
    """The first action of the first of these kinds that there is."""
    known = [action.kind for action in actions]
    return next((known.index(kind) for kind in kinds if kind in known), 0)


def _published() -> ActionSet:
    kinds = ((_SEARCH, _SEARCH, _SKIP), (_READ, _AGREE, _RECALL, _REFUSE), (_CHECK, _SKIP))
    costs = iter(Payment().costs)
    retriever, generator, verifier = (
        tuple(
            Action(name=name, kind=kind, cost=next(costs), depth="deep" if name == "retrieve_deep" else "shallow")
            for name, kind in zip(names, sorts, strict=True)
        )
        for names, sorts in zip(MODULE_ACTIONS[1:], kinds, strict=True)
    )
    offered = tuple(joint.names for joint in PUBLISHED)
    return ActionSet(retriever=retriever, generator=generator, verifier=verifier, offered=offered)


PUBLISHED_ACTIONS: Final = _published()
"""The nine actions of the published run, with its nine joint actions offered."""
