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

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import accumulate, product
from pathlib import Path
from typing import Any, Final, Self

from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.json_values import json_value
from parlour.envs.mediated_qa.vocabulary import AGENTS, MODULE_ACTIONS, PUBLISHED, Joint, Payment

_SEARCH, _SKIP, _READ, _AGREE, _RECALL, _REFUSE, _CHECK = "search", "skip", "read", "agree", "recall", "refuse", "check"
KINDS: Final = ((_SEARCH, _SKIP), (_READ, _AGREE, _RECALL, _REFUSE), (_CHECK, _SKIP))
"""By module: retriever, generator, verifier."""
DEPTHS: Final = ("shallow", "deep")
MOST: Final = 30
"""Actions of a module."""
_LARGEST_COST: Final = 1e12
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,40}")
_MODULES: Final = AGENTS[1:]

Names = tuple[str, str, str]


@dataclass(frozen=True)
class Action:
    """One thing that a module may do."""

    name: str
    """Small letters, digits and `_`; no other action of the set has it."""
    kind: str
    cost: float = 0.0
    by: str = ""
    """Which part of the service does it, see `pipeline.Pipeline`; empty for its first one."""
    depth: str = "shallow"
    """Depth of a search."""


@dataclass(frozen=True)
class ActionSet:
    """The actions of the three modules. Numbers of actions are places in these lists.

    Raises:
        ParlourError: A list is empty or too long, a name is taken or no name, a kind is not one of its module's, a cost is
            negative or not finite, or there is nothing to carry out without evidence.
    """

    retriever: tuple[Action, ...]
    generator: tuple[Action, ...]
    verifier: tuple[Action, ...]
    offered: tuple[Names, ...] = ()
    """The joint actions of `joint="published"`, which come first in every order; empty for all feasible ones."""

    def __post_init__(self) -> None:
        for module, actions, kinds in zip(_MODULES, self.modules, KINDS, strict=True):
            if not 1 <= len(actions) <= MOST:
                raise accept(f"number of actions of the {module}", len(actions), range(1, MOST + 1))
            for action in actions:
                _check_action(module, action, kinds)
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

    # -- as plain values -----------------------------------------------------------------------------------------

    def as_plain(self) -> dict[str, Any]:
        """Lists of objects, as configurations and policy files hold them; `from_plain` reads them."""
        plain: dict[str, Any] = {
            module: [asdict(action) for action in actions]
            for module, actions in zip(_MODULES, self.modules, strict=True)
        }
        return plain | ({"offered": [list(names) for names in self.offered]} if self.offered else {})

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """The set that `as_plain` describes. Raises `ParlourError` if it is none; the message says where."""
        if not isinstance(plain, Mapping):
            raise accept("actions", plain, f"an object with {', '.join(_MODULES)}")
        for name in plain:
            check_one_of("entry of actions", name, (*_MODULES, "offered"))
        retriever, generator, verifier = (_actions(module, plain.get(module)) for module in _MODULES)
        offered = plain.get("offered", [])
        if not isinstance(offered, list | tuple) or not all(isinstance(names, list | tuple) for names in offered):
            raise accept("offered", offered, "a list of joint actions, each a list of three names")
        joints = tuple(tuple(map(str, names)) for names in offered)
        return cls(retriever, generator, verifier, joints)  # type: ignore[arg-type]  # lengths are checked there

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The set in a JSON file, in the form of `as_plain`. Raises `ParlourError` if it holds none."""
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


def _check_action(module: str, action: Action, kinds: tuple[str, ...]) -> None:
    if not isinstance(action, Action):
        raise accept(f"action of the {module}", action, "an Action")
    if not isinstance(action.name, str) or not _NAME.fullmatch(action.name):
        raise accept("name of an action", action.name, "small letters, digits and _, a letter first, up to 41")
    check_one_of(f"kind of {action.name}", action.kind, kinds)
    check_one_of(f"depth of {action.name}", action.depth, DEPTHS)
    if type(action.cost) not in (int, float) or not 0 <= action.cost <= _LARGEST_COST:
        raise accept(f"cost of {action.name}", action.cost, f"a number from 0 to {_LARGEST_COST:g}")
    if not isinstance(action.by, str):
        raise accept(f"part for {action.name}", action.by, "the name of a part of the service, or nothing")


def _actions(module: str, entries: Any) -> tuple[Action, ...]:
    if not isinstance(entries, list | tuple) or not all(isinstance(entry, Mapping) for entry in entries):
        raise accept(f"actions of the {module}", entries, "a list of objects {name, kind, cost, by, depth}")
    known = [field.name for field in fields(Action)]
    for entry in entries:
        for name in entry:
            check_one_of(f"entry of an action of the {module}", name, known)
        if not {"name", "kind"} <= set(entry):
            raise accept(f"action of the {module}", dict(entry), "name and kind, and cost, by and depth or none")
    return tuple(Action(**entry) for entry in entries)


def _published() -> ActionSet:
    kinds = ((_SEARCH, _SEARCH, _SKIP), (_READ, _AGREE, _RECALL, _REFUSE), (_CHECK, _SKIP))
    costs, depths = iter(Payment().costs), {"retrieve_deep": "deep"}
    retriever, generator, verifier = (
        tuple(
            Action(name, kind, next(costs), depth=depths.get(name, "shallow"))
            for name, kind in zip(names, sorts, strict=True)
        )
        for names, sorts in zip(MODULE_ACTIONS[1:], kinds, strict=True)
    )
    return ActionSet(retriever, generator, verifier, tuple(joint.names for joint in PUBLISHED))


PUBLISHED_ACTIONS: Final = _published()
"""The nine actions of the published run, with its nine joint actions offered."""
