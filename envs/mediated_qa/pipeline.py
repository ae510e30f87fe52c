"""The service with real parts: graph, linking, signals, search, a reader, a check and a judge, over a corpus.

The reader is the caller's: `OfflineReader` (an extractive reader and a simulated memory) is embedded, a reader that asks a
language model satisfies the same protocol. Results that depend on nothing but question and action are cached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
from typing import Any, Final, TypeVar

import numpy as np
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.mediated_qa import retrievers, vocabulary
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, Action, ActionSet
from parlour.envs.mediated_qa.context import context_of
from parlour.envs.mediated_qa.corpus import Corpus, generate
from parlour.envs.mediated_qa.graph import NORMALISATIONS, KnowledgeGraph, Normalisation
from parlour.envs.mediated_qa.judge import ENOUGH, Similarity, is_right
from parlour.envs.mediated_qa.readers import Generator, OfflineReader, Reader, Verifier, agreed, entailment_score
from parlour.envs.mediated_qa.reading import EstimatedAnswer
from parlour.envs.mediated_qa.retrieve import Search
from parlour.envs.mediated_qa.retrievers import Embedder, GraphRetriever, Retriever, make
from parlour.envs.mediated_qa.service import CONSISTENCIES, Asked, Consistency, seen_evidence
from parlour.envs.mediated_qa.signals import NO_BINS, UNLINKED, Bins, Signals, probe

SAMPLES: Final = 5
AGREEMENT: Final = 0.8
"""Share of the samples that must agree (k = 5 and 0.8 in the published code)."""
_NO_SIGNALS: Final = ("s0", "paper")
_KEPT: Final = 20_000
"""Results of each kind that are kept, about a kilobyte each."""
Key = TypeVar("Key")
Value = TypeVar("Value")


_PROTOCOLS: Final[dict[str, tuple[Any, str]]] = {
    "retriever": (Retriever, f"{', '.join(retrievers.NAMES)}, or an object with evidence(question, depth)"),
    "generator": (Generator, "an object with generate(question, evidence, rng), sample(...) and recall(question)"),
    "verifier": (Verifier, "an object with check(question, evidence, answer)"),
}


class _Cache(dict[Key, Value]):
    """What `find` gives, kept; when `_KEPT` are kept, all are dropped first. Safe for threads."""

    def __init__(self, find: Callable[[Key], Value]) -> None:
        self.find = find

    def __missing__(self, key: Key) -> Value:
        value = self.find(key)
        if len(self) >= _KEPT:
            self.clear()
        self[key] = value
        return value


class Pipeline:
    """Satisfies `parlour.envs.mediated_qa.service.Service`.

    Args:
        corpus: Passages and questions.
        normalisation: Normalisation of the signals, see `signals` and `graph`. `"paper"` is the published system: with the questions in
            the graph, and a search that is blind to the question. `"text"` is the same with the signals of the paper's text.
        bins: Learned from other questions; None to learn them from this corpus's own.
        reader: Who answers; and checks, without a verifier.
        no_signal: `"s0"`: unlinked questions are in that state; `"paper"`: they are binned as the published code does.
        similarity: For the judge, see `judge`; with `enough`, from where on long answers are right.
        search: How to search the graph; None for the search that goes with the normalisation.
        retriever: Who finds evidence: one of `retrievers.NAMES`, or one of the caller's. The signals are the graph's anyway.
        embedder: For the retrievers `dense` and `hybrid`.
        verifier: Who checks; None for the reader.
        actions: What the modules may do.
        parts: Name -> retriever, reader or verifier that does the actions with this name as their `by`. The names of
            retrievers stand for themselves; actions without a `by` are done by `retriever`, `reader` and `verifier`.
        consistency: Whether samples that must agree are drawn from the evidence (the paper's text) or from the question alone (its
            published code).
        entailment: Least entailment score, 0..1, of an answer that passes the check (`readers.entailment_score`); None: all pass that are
            not contradicted.

    Raises:
        ParlourError: There are no questions or no passages, an argument is not accepted, or a retriever or an action lacks
            something.
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        normalisation: Normalisation = "ours",
        bins: Bins | None = None,
        reader: Generator | None = None,
        no_signal: str = "s0",
        similarity: Similarity | None = None,
        search: Search | None = None,
        retriever: str | Retriever = "graph",
        embedder: Embedder | None = None,
        verifier: Verifier | None = None,
        actions: ActionSet = PUBLISHED_ACTIONS,
        parts: Mapping[str, object] | None = None,
        consistency: Consistency = "question",
        enough: float = ENOUGH,
        entailment: float | None = None,
    ) -> None:
        check_one_of("normalisation", normalisation, NORMALISATIONS)
        check_one_of("no_signal", no_signal, _NO_SIGNALS)
        check_one_of("consistency", consistency, CONSISTENCIES)
        if not corpus.questions:
            raise ParlourError("the corpus has no questions; accepted: at least one")
        self.questions = corpus.questions
        self.no_signal, self.similarity = no_signal, similarity
        self.reader: Generator = OfflineReader() if reader is None else reader
        self.actions, self.consistency = actions, consistency
        self._enough, self._entailment = enough, entailment
        paper = normalisation != "ours"
        texts: Sequence[str] = [question.text for question in corpus.questions] if paper else ()
        self.graph = KnowledgeGraph(corpus.passages, texts, normalisation=normalisation)
        self.search = Search(guide=0.0 if paper else 1.0) if search is None else search
        self._bins = bins
        self._starts = _Cache(self.graph.link)
        self._signals = _Cache(self._measured)
        self._contexts = _Cache(partial(context_of, self))
        self._evidence = _Cache(self._find_evidence)
        self._fresh()
        by_graph = GraphRetriever(self.graph, self.search, self._starts.__getitem__)

        def made(part: object) -> object:
            return make(part, corpus.passages, by_graph, embedder) if isinstance(part, str) else part

        own, named = dict(parts or {}), {name: name for name in retrievers.NAMES}
        checks = self.reader if verifier is None else verifier
        self._retrievers = _parts("retriever", actions.retriever, {**named, **own, "": retriever}, made)
        self._generators: dict[str, Any] = _parts("generator", actions.generator, {**own, "": self.reader})
        self._verifiers: dict[str, Any] = _parts("verifier", actions.verifier, {**own, "": checks})
        self._verifier = verifier

    @property
    def retriever(self) -> Retriever:
        """Who finds evidence for actions that name nobody."""
        retriever: Retriever = self._retrievers[""]
        return retriever

    @property
    def offline(self) -> bool:
        """Whether rules and a simulated memory answer and check."""
        return isinstance(self.reader, OfflineReader) and self._verifier is None

    def searched_by(self, retriever: Retriever) -> Pipeline:
        """The same pipeline with another retriever for actions that name nobody; the graph is shared."""
        other = copy(self)
        other._fresh()
        other._evidence = _Cache(other._find_evidence)
        other._retrievers = self._retrievers | {"": retriever}
        return other

    def read_by(self, reader: Reader, *, anew: bool = False) -> Pipeline:
        """The same pipeline with another reader; what was found in the graph is shared, evidence not where it is found again."""
        other = copy(self)
        other.reader = reader
        other._fresh()
        if anew:
            other._evidence = _Cache(other._find_evidence)
        return other

    def _fresh(self) -> None:
        """Forget what the reader recalls and the states of the questions."""
        self._recalled = _Cache(self._recall)
        self._known = _Cache(self._recalled_right)
        self._states = _Cache(self._state)

    @property
    def size(self) -> int:
        """How many questions there are."""
        return len(self.questions)

    @property
    def bins(self) -> Bins:
        """The cut points of the signals; learned from all questions when first asked for, unless given."""
        if self._bins is None:
            self._bins = Bins.learn(map(self.signals, range(self.size)))
        return self._bins

    def learn_bins(self, numbers: Sequence[int]) -> Bins:
        """Learn the cut points from these questions, and use them; `NO_BINS` if none is linked to the graph."""
        signals = [self.signals(number) for number in numbers]
        self._bins = Bins.learn(signals) if any(signals) else NO_BINS
        self._states.clear()
        return self._bins

    def recall(self, number: int) -> EstimatedAnswer:
        """The reader's closed-book answer to a question."""
        return self._recalled["", number]

    def starts(self, number: int) -> list[int]:
        """The documents that a question is linked to."""
        return self._starts[self.questions[number].text]

    def signals(self, number: int) -> Signals | None:
        """The raw signals of a question; None if it is not linked."""
        return self._signals[number]

    def text(self, number: int) -> str:
        """A question as it is put."""
        return self.questions[number].text

    def context(self, number: int) -> tuple[float, ...]:
        """The features of a question that may be known before anything is paid for, as `context.context_of` has them."""
        return self._contexts[number]

    def id(self, number: int) -> str:
        """What its file calls a question; empty for a generated one."""
        return self.questions[number].id

    def confidence(self, number: int) -> float:
        """How sure the reader is of its closed-book answer, 0..1."""
        return self.recall(number).confidence

    # -- as nature asks it -------------------------------------------------------------------------------------

    def ask(self, number: int) -> Asked:
        return Asked(number, self.questions[number].text, self._states[number])

    def retrieve(self, number: int, action: int) -> str:
        return self._evidence[number, action]

    def answer(self, number: int, action: int, evidence: str, rng: np.random.Generator) -> str:
        question, by = self.questions[number], self.actions.generator[action].by
        evidence = seen_evidence(self, self.actions, action, evidence)
        if self.actions.reads(action):
            return str(self._generator(by).generate(question, evidence, rng))
        if self.actions.samples(action):
            return agreed(self._generator(by).sample(question, evidence, SAMPLES, rng), AGREEMENT)
        return self._recalled[by, number].answer

    def check(self, number: int, evidence: str, answer: str) -> int:
        return self._verdict("", number, evidence, answer)

    def verify(self, number: int, action: int, evidence: str, answer: str) -> int:
        """`check` by an action of the verifier."""
        return self._verdict(self.actions.verifier[action].by, number, evidence, answer)

    def gold(self, number: int) -> str:
        return self.questions[number].answer

    def right(self, number: int, answer: str) -> bool:
        question = self.questions[number]
        golds = (question.answer, *question.others)
        return any(is_right(answer, gold, self.similarity, self._enough) for gold in golds)

    def known(self, number: int) -> bool:
        return self._known[number]

    # -- inside ------------------------------------------------------------------------------------------------

    def _measured(self, number: int) -> Signals | None:
        signals = probe(self.graph, self.search, self.starts(number), self.text(number))
        return UNLINKED if signals is None and self.no_signal == "paper" else signals

    def _state(self, number: int) -> int:
        return vocabulary.STATES.index(self.bins.state(self.signals(number)))

    def _find_evidence(self, key: tuple[int, int]) -> str:
        number, action = key
        search = self.actions.retriever[action]
        evidence: str = self._retrievers[search.by].evidence(self.text(number), search.depth)
        return evidence

    def _recall(self, key: tuple[str, int]) -> EstimatedAnswer:
        by, number = key
        answer: EstimatedAnswer = self._generator(by).recall(self.questions[number])
        return answer

    def _recalled_right(self, number: int) -> bool:
        return self.right(number, self.recall(number).answer)

    def _verdict(self, by: str, number: int, evidence: str, answer: str) -> int:
        usual: Any = self.reader if self._verifier is None else self._verifier
        verifier = self._verifiers[by] if by else usual
        if self._entailment is None:
            return vocabulary.VERDICTS.index(verifier.check(self.questions[number], evidence, answer))
        passes = entailment_score(verifier, self.questions[number], evidence, answer) >= self._entailment
        return vocabulary.CheckVerdict.ENTAILED if passes else vocabulary.CheckVerdict.CONTRADICTED

    def _generator(self, by: str) -> Any:
        """The reader, as it is by now, or a part of another name."""
        return self._generators[by] if by else self.reader


def _parts(
    module: str,
    actions: Sequence[Action],
    named: Mapping[str, object],
    made: Callable[[object], object] = lambda part: part,
) -> dict[str, Any]:
    """Name -> who does a module's actions: the default one, "", and those that actions name."""
    wanted, accepted = _PROTOCOLS[module]
    parts = {}
    for by in dict.fromkeys(("", *(action.by for action in actions))):
        check_one_of(f"part of the {module}", by, named)
        parts[by] = made(named[by])
        if not isinstance(parts[by], wanted):
            raise accept(f"{by or module}", parts[by], accepted)
    return parts


@lru_cache(maxsize=8)
def generated(
    seed: int,
    size: int,
    difficulty: str,
    normalisation: Normalisation,
    actions: ActionSet = PUBLISHED_ACTIONS,
    consistency: Consistency = "question",
) -> Pipeline:
    """The offline service over a generated corpus; the same object for the same arguments."""
    corpus = generate(seed=seed, size=size, difficulty=difficulty)
    return Pipeline(corpus, normalisation=normalisation, actions=actions, consistency=consistency)
