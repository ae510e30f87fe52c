"""The players of the mediated game: GRACE's mediator, and a module that follows its advice, or now and then does something else.

The mediator recommends a joint action by the state of the question, from a learned table. At a table of the game it receives the
state. In your own pipeline you give it the question and the documents, or the five signals; it derives the state with the cut
points in its policy file. With a policy that sees more than the state (`contextual`) its recommendation depends on everything
known about the question before any cost.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self

from parlour.envs.core import Move, ParlourError, accept, check_one_of
from parlour.envs.mediated_qa.actions import ActionSet
from parlour.envs.mediated_qa.vocabulary import ADVISE, MODULE_ACTIONS, SEEN, STATES, MediatedView
from parlour.envs.settings import Accepts, Settings
from parlour.policies.agents.mediated_qa import policy_file
from parlour.policies.agents.mediated_qa.joint import Joint, check_state
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.policies.base import Policy
from parlour.policies.files import atomic_write
from parlour.policies.seating import Seating
from pydantic import Field

if TYPE_CHECKING:
    from parlour.policies.agents.mediated_qa.documents import DocumentProbe

ACTION_CHOICES: Final = ("sample", "best")
_LOG: Final = logging.getLogger("parlour")
_GRAPHS: Final = 4
"""Number of recent graphs of documents that are kept."""


class MediatorSettings(Settings):
    """What can be set."""

    file: Annotated[str, Accepts("a policy.json of `train grace`")]
    """Path of the policy."""
    choice: Literal["sample", "best"] = "sample"
    """Whether it draws, or takes the most probable action."""


class Recommendation(NamedTuple):
    """What a mediator recommends, and why."""

    joint: Joint
    """Actions of retriever, generator and verifier."""
    probability: float
    """With which it was drawn; 1 for the best action and for the fallback."""
    state: str
    signals: tuple[float, ...] | None
    """The five raw signals; None without a link, or where only the state was given."""
    context: tuple[float, ...] = ()
    """Features besides the state, in the order of `vocabulary.FEATURES`; empty for a policy that sees only the state."""


class _Row(NamedTuple):
    actions: tuple[Joint, ...]
    edges: list[float]
    """Cumulative probabilities, scaled to end with 1; an action's share is the part below its edge."""
    best: Joint


class GraceMediator(Policy):
    """Recommends by a policy table. Needs `info="full"`.

    In a state without a row it recommends the fallback: retrieve a little, and refuse to answer.

    Args:
        table: What to recommend in each state.
        choice: `"sample"` draws from the row (as the published runs did), `"best"` takes its most probable action, the
            first of equals.
    """

    name: ClassVar[str] = "grace"
    wants: ClassVar[str] = "view"
    settings_type: ClassVar[type[Settings]] = MediatorSettings

    def __init__(self, table: PolicyTable, choice: str = "sample") -> None:
        super().__init__()
        check_one_of("choice", choice, ACTION_CHOICES)
        self.table, self.choice = table, choice
        self._rows = {state: _prepared(row) for state, row in table.rows.items()}
        self._numbers: dict[tuple[Move, ...], Mapping[Joint, int]] = {}
        self._probes: dict[Any, DocumentProbe] = {}
        self._warned = False

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._numbers = {}

    def recommend(
        self, asked: str | Iterable[float] | None, documents: DocumentProbe | Iterable[Any] | None = None
    ) -> Joint:
        """The joint action for a question, drawn or best.

        Args:
            asked: With documents, the question. Without: its state, such as `"T:low_Q:mid"`, or its five raw signals, or None
                for a question without signals.
            documents: Texts, objects `{title, text}` or passages (title, sentences); or a `DocumentProbe` of them. The graph
                of the documents asked about last is kept.

        Raises:
            ParlourError: An unknown state, something that is no document, or a policy without the cut points of the signals.
        """
        return self.advise(asked, documents).joint

    def advise(
        self, asked: str | Iterable[float] | None, documents: DocumentProbe | Iterable[Any] | None = None
    ) -> Recommendation:
        """`recommend`, with state, signals and probability."""
        self.warn_if_unusable()
        if documents is not None:
            return self._advise_on(asked, documents)
        if isinstance(asked, str):
            return self._drawn(asked, None)
        from parlour.policies.agents.mediated_qa.documents import five, state_of

        signals = None if asked is None else five(asked)
        context = (0.0,) * 6 if signals is None else (1.0, *signals)
        return self._drawn(state_of(signals, self.table.thresholds), signals, context)

    def warn_if_unusable(self) -> None:
        """Log the verdict of `train grace`, once, if it calls the policy not usable."""
        if self.table.usable is False and not self._warned:
            _LOG.warning("%s", self.table.verdict)
        self._warned = True

    def probe(self, documents: DocumentProbe | Iterable[Any]) -> DocumentProbe:
        """The graph of documents, built when they are first asked about. Raises `ParlourError` for what are none."""
        from parlour.policies.agents.mediated_qa.documents import DocumentProbe, content_of

        if isinstance(documents, DocumentProbe):
            return documents
        content = content_of(documents)
        probe = self._probes.pop(content, None) or DocumentProbe(content)
        self._probes[content] = probe  # now the last
        if len(self._probes) > _GRAPHS:
            del self._probes[next(iter(self._probes))]
        return probe

    def _advise_on(self, question: object, documents: DocumentProbe | Iterable[Any]) -> Recommendation:
        from parlour.policies.agents.mediated_qa.documents import state_of

        if not isinstance(question, str) or not question.strip():
            raise accept("question", question, "words, with documents")
        probe = self.probe(documents)
        signals = probe.signals(question)
        context = () if self.table.contextual is None else probe.context(question)
        return self._drawn(state_of(signals, self.table.thresholds), signals, context)

    def _drawn(self, state: str, signals: tuple[float, ...] | None, context: tuple[float, ...] = ()) -> Recommendation:
        model = self.table.contextual
        row = self._rows.get(state) if model is None else _prepared(model.row(context, check_state(state)))
        seen = () if model is None else context[: len(SEEN[model.sees])]
        if row is None:
            check_state(state)
            return Recommendation(self.table.fallback, 1.0, state, signals, seen)
        if self.choice == "best":
            return Recommendation(row.best, 1.0, state, signals, seen)
        place = bisect_right(row.edges, self.rng.random())
        p = row.edges[place] - (row.edges[place - 1] if place else 0.0)
        return Recommendation(row.actions[place], p, state, signals, seen)

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` away from the mediator's seat, or if the table does not offer what is recommended."""
        view = info.get("view")
        if not isinstance(view, MediatedView):
            raise ParlourError("the mediator reads info['view']; accepted: mediated_qa_v0 with info='full'")
        offered = self._numbers.get(view.legal)
        if offered is None:
            offered = self._numbers[view.legal] = _offered(view, info["legal"], self.table.actions)
        wanted = self._drawn(STATES[view.signal], view.signals or None, view.context).joint
        number = offered.get(wanted)
        if number is None:
            raise ParlourError(f"this table does not offer {wanted}; accepted: a policy over its joint actions")
        return number

    @classmethod
    def make(cls, settings: MediatorSettings, at: Seating) -> Self:
        return cls(policy_file.read(settings.file), settings.choice)

    def save(self, path: str | Path) -> None:
        """Write the table as a policy file; `choice` is no part of it."""
        atomic_write(path, self.table.dumps())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """A mediator that draws from the policy in a file. Raises `ParlourError` as `policy_file.read` does."""
        return cls(policy_file.read(path))


def _prepared(row: Mapping[Joint, float]) -> _Row:
    possible = {joint: p for joint, p in row.items() if p > 0}
    sums = list(accumulate(possible.values()))
    # the last edge is exactly 1, and a draw lies below it: rounding never leads out of the row
    edges = [*(total / sums[-1] for total in sums[:-1]), 1.0]
    return _Row(tuple(possible), edges, max(possible, key=possible.__getitem__))


def _offered(view: MediatedView, numbers: Any, actions: ActionSet) -> Mapping[Joint, int]:
    """Joint action -> number of the move that recommends it."""
    legal = view.legal
    if not legal or any(move.kind != ADVISE for move in legal):
        raise ParlourError("grace advises and does not retrieve, answer or check; accepted: the seat `mediator`")
    if (view.own or MODULE_ACTIONS) != actions.names:
        own = ", ".join(name for names in actions.names for name in names)
        raise ParlourError(f"this table has other actions than the policy; accepted: a table with {own}")
    return {actions.names_of(move.args): int(place) for place, move in zip(numbers, legal, strict=True)}


class ObedientSettings(Settings):
    """What can be set."""

    obedience: float = Field(default=1.0, ge=0, le=1)
    """How often it follows."""


class ObedientModule(Policy):
    """Follows the recommendation with the chance `obedience`, else takes any action, each as likely. Needs `info="full"`.

    Raises:
        ParlourError: It is no such number.
    """

    name: ClassVar[str] = "obedient"
    wants: ClassVar[str] = "view"
    settings_type: ClassVar[type[Settings]] = ObedientSettings

    def __init__(self, obedience: float = 1.0) -> None:
        super().__init__()
        self.chosen = ObedientSettings(obedience=obedience)

    def settings(self) -> dict[str, Any]:
        return self.chosen.plain()

    @classmethod
    def make(cls, settings: ObedientSettings, at: Seating) -> Self:
        return cls(settings.obedience)

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` away from the modules' seats."""
        view = info.get("view")
        if not isinstance(view, MediatedView) or not view.legal or view.legal[0].kind == ADVISE:
            raise ParlourError(
                "obedient follows advice; accepted: the seats retriever, generator and verifier of mediated_qa_v0, with "
                "info='full'"
            )
        if self.chosen.obedience < 1 and self.rng.random() >= self.chosen.obedience:
            return int(info["legal"][self.rng.integers(len(view.legal))])
        return int(info["legal"][view.legal.index(Move(view.legal[0].kind, view.advice))])
