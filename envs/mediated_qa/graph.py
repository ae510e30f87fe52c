"""The knowledge graph: documents, sentences, entities and concepts of a set of passages, in networkx; and how a question is
linked to it.

    Document -contains-> Sentence -next-> Sentence      Sentence -mentions-> Entity | Concept
    Document -named-> Entity                            Entity -<word>-> Entity, the last word between two names
    Question -candidate-> Sentence                      only with `questions`, as the published graph has them

Edges are walked in both directions. Nothing of the right answers goes in: a question brings its text and nothing else.
After section 4.1 of the paper and its published code (weights of candidate edges, cut-off of the fuzzy match); decisions 2.2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from heapq import nsmallest
from itertools import pairwise
from typing import Any, Final, Literal, get_args

import networkx as nx
import numpy as np
from parlour.envs.core import ParlourError, check_one_of
from parlour.envs.language import english
from parlour.envs.mediated_qa.corpus import Passage
from parlour.envs.mediated_qa.titles import TitleIndex, last_words, without_genitives

NODE_KINDS: Final = ("Document", "Sentence", "Entity", "Concept", "Question")
DOCUMENT, SENTENCE, ENTITY, CONCEPT, QUESTION = NODE_KINDS

WEIGHTS: Final = {"contains": 1.0, "next": 0.5, "named": 1.0, "mentions": 0.6, "concerns": 0.3, "candidate": 0.8}
VERB_WEIGHT: Final = 0.4
CANDIDATES: Final = 20
"""Sentences that a question is tied to, where questions are in the graph."""
NEAREST: Final = 60
"""Neighbours of a node that a search looks at."""
CUT_OFF: Final = 0.78
"""Least similarity, 0..1, at which a name in a question matches a title."""
_WEAK: Final = 0.5
"""Likeness, below `CUT_OFF`, of a title that the question holds as a common word or as a part of a longer name."""
_COMMON: Final = 0.01
"""A word in more than this share of the sentences is no concept."""
_POSTINGS: Final = 2000
"""A word in more nodes than this says too little to look candidates up by."""

Normalisation = Literal["paper", "text", "ours"]
NORMALISATIONS: Final = get_args(Normalisation)


class KnowledgeGraph:
    """A graph with its index, its PageRank, and the neighbours of each node in the order in which a search takes them.

    Args:
        passages: The articles; at least one with a sentence.
        questions: Texts of questions that become nodes, as in the published graph; none in ours.
        normalisation: How PageRank becomes reliability, 0..1. `"paper"` and `"text"`: min-max over all nodes, questions fixed at 1.
            `"ours"`: min-max of its logarithm within each kind of node, so that a few hubs do not flatten the rest, and
            half of that, so that the search goes about as far as in the published run (4 edges shallow, 6 deep).

    Raises:
        ParlourError: There is nothing to build a graph from, or an argument is not accepted.
    """

    def __init__(
        self, passages: Iterable[Passage], questions: Sequence[str] = (), *, normalisation: Normalisation = "ours"
    ) -> None:
        check_one_of("normalisation", normalisation, NORMALISATIONS)
        self.normalisation = normalisation
        self.graph: Any = nx.Graph()
        self.kind: list[str] = []
        self.text: list[str] = []
        self.title: list[str] = []
        """Of the document that a sentence belongs to; empty for other nodes."""
        self.postings: dict[str, set[int]] = defaultdict(set)
        """Stem -> the nodes that hold it."""
        self._documents: dict[str, int] = {}
        self._titles = TitleIndex()
        self._by_title_word: dict[str, list[int]] = defaultdict(list)
        self._entities: dict[str, int] = {}
        self._neighbours: dict[int, tuple[tuple[int, str, float], ...]] = {}
        self._fill([passage for passage in passages if passage.sentences])
        for text in questions:
            node = self._node(QUESTION, text)
            for sentence in self.candidates(text):
                self._edge(node, sentence, "candidate", WEIGHTS["candidate"])
        self.reliability = self._reliabilities()
        for node in range(len(self.kind)):  # of hubs at once, as to sort their neighbours takes long
            if self.degree(node) > NEAREST:
                self.neighbours(node)

    def __len__(self) -> int:
        return len(self.kind)

    def neighbours(self, node: int) -> tuple[tuple[int, str, float], ...]:
        """The `NEAREST` neighbours with relation and weight of the edge, heaviest first; of equal ones the more reliable."""
        nearest = self._neighbours.get(node)
        if nearest is None:
            rank = self.reliability
            edges = nsmallest(
                NEAREST, self.graph.adj[node].items(), key=lambda edge: (-edge[1]["weight"], -rank[edge[0]], edge[0])
            )
            nearest = self._neighbours[node] = tuple((other, data["relation"], data["weight"]) for other, data in edges)
        return nearest

    def degree(self, node: int) -> int:
        """Number of neighbours."""
        return len(self.graph.adj[node])

    def candidates(self, text: str, count: int = CANDIDATES) -> list[int]:
        """The sentences that share most with a text, rare words counting more; best first."""
        scores: Counter[int] = Counter()
        total = len(self.kind)
        for word in english.stems(text):
            nodes = self.postings.get(word, ())
            if 0 < len(nodes) <= _POSTINGS:
                for node in nodes:
                    if self.kind[node] == SENTENCE:
                        scores[node] += np.log(total / len(nodes))
        return [node for node, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:count]]

    # -- linking -----------------------------------------------------------------------------------------------

    def link(self, question: str) -> list[int]:
        """The documents whose titles a question holds, or its names mean, best match first; empty if there is none.

        A title that the question contains links, whatever the case of either; of two that overlap the longer one does. It comes after
        all others if the question has it as a single word in lower case, or as a part of a longer name; the last word of
        a longer name ("Verner" in "Kaspian Verner") is no title. A name inside a title that links ("Book" in "Book 3") matches
        nothing else. Any other name is taken for the title that it is most like, if it is so by at least `CUT_OFF`; candidates
        are at most max(50, 5 x words of the question) titles that share a word with it.
        """
        names, surnames = list(map(english.normal, english.proper_names(question))), last_words(question)
        alone = set(map(without_genitives, names))
        likenesses, longer = {}, []
        for title, node in self._titles.found_in(english.normal(question)).items():
            sure = title in alone or self._is_plain(node)
            if sure or title not in surnames:
                weak = " " not in title or any(f" {title} " in f" {name} " for name in alone)
                likenesses[node] = _WEAK if weak and not sure else 1.0
                longer.append(f" {title} ")
        for name in names:
            if any(f" {name} " in title for title in longer):
                continue
            node, likeness = self._most_like(name, question)
            if node >= 0 and likeness >= CUT_OFF:
                likenesses[node] = max(likeness, likenesses.get(node, 0.0))
        return sorted(likenesses, key=lambda node: (-likenesses[node], node))

    def _is_plain(self, node: int) -> bool:
        """Whether a title is without capital letters or has a digit: commands, packages, volumes."""
        text = self.text[node]
        return text == text.lower() or _has_digit(text)

    def _most_like(self, name: str, question: str) -> tuple[int, float]:
        exact = self._documents.get(name)
        if exact is not None:
            return exact, 1.0
        best, most = -1, CUT_OFF
        matcher = SequenceMatcher(None, "", name, autojunk=False)
        for node in self._like_titles(name, question):
            matcher.set_seq1(english.normal(self.text[node]))
            if matcher.real_quick_ratio() < most or matcher.quick_ratio() < most:
                continue
            likeness = matcher.ratio()
            if likeness > most or (best < 0 and likeness >= most):
                best, most = node, likeness
        return best, most

    def _like_titles(self, name: str, question: str) -> list[int]:
        words = name.split()
        shared = Counter(node for word in words for node in self._by_title_word.get(word, ()))
        most = max(50, 5 * len(question.split()))
        likeliest = [node for node, _ in sorted(shared.items(), key=lambda item: (-item[1], item[0]))[:most]]
        words_asked = set(english.normal(question).split())
        numbers = {
            node: {word for word in english.normal(self.text[node]).split() if _has_digit(word)} for node in likeliest
        }
        return [node for node in likeliest if numbers[node] <= words_asked]

    # -- building ----------------------------------------------------------------------------------------------

    def _fill(self, passages: list[Passage]) -> None:
        if not passages:
            raise ParlourError("the corpus has no sentences; accepted: at least one passage with a sentence")
        for passage in passages:
            self._add_passage(passage)
        sentences = [node for node, kind in enumerate(self.kind) if kind == SENTENCE]
        for node in sentences:
            self._mention(node)
        self._add_concepts(sentences)

    def _node(self, kind: str, text: str, title: str = "") -> int:
        number = len(self.kind)
        self.kind.append(kind)
        self.text.append(text)
        self.title.append(title)
        self.graph.add_node(number)
        return number

    def _edge(self, first: int, second: int, relation: str, weight: float) -> None:
        if first != second and not self.graph.has_edge(first, second):
            self.graph.add_edge(first, second, relation=relation, weight=weight)

    def _add_passage(self, passage: Passage) -> None:
        key = english.normal(passage.title)
        document = self._documents.get(key)
        if document is None:
            document = self._documents[key] = self._node(DOCUMENT, passage.title)
            self._titles.add(key, document)
            for word in set(key.split()):
                self._by_title_word[word].append(document)
            self._index(document, passage.title)
            self._edge(document, self._entity(passage.title), "named", WEIGHTS["named"])
        nodes = [self._node(SENTENCE, sentence, passage.title) for sentence in passage.sentences]
        for node in nodes:
            self._edge(document, node, "contains", WEIGHTS["contains"])
            self._index(node, self.text[node])
        for first, second in pairwise(nodes):
            self._edge(first, second, "next", WEIGHTS["next"])

    def _index(self, node: int, text: str) -> None:
        for word in english.stems(text):
            self.postings[word].add(node)

    def _entity(self, name: str) -> int:
        key = english.normal(name)
        node = self._entities.get(key)
        if node is None:
            node = self._entities[key] = self._node(ENTITY, name)
            self._index(node, name)
        return node

    def _mention(self, sentence: int) -> None:
        """Entities of a sentence, and the words that tie them to each other."""
        text = self.text[sentence]
        named = [name for name in english.proper_names(text) if english.normal(name)]
        nodes = [self._entity(name) for name in named]
        for node in nodes:
            self._edge(sentence, node, "mentions", WEIGHTS["mentions"])
        for (earlier, a), (later, b) in pairwise(zip(named, nodes, strict=True)):
            between = english.stems(text[text.index(earlier) + len(earlier) :].partition(later)[0])
            if between:
                self._edge(a, b, between[-1], VERB_WEIGHT)
        for year in english.years(text):
            self._edge(sentence, self._entity(year), "dated", WEIGHTS["concerns"])

    def _add_concepts(self, sentences: list[int]) -> None:
        """Words in lower case that several sentences share, but not too many."""
        most = max(20, int(_COMMON * len(sentences)))
        lower = {node: [w for w in self.text[node].split() if w[:1].islower()] for node in sentences}
        nodes_of: dict[str, list[int]] = defaultdict(list)
        for node, words in lower.items():
            for word in english.stems(" ".join(words)):
                nodes_of[word].append(node)
        for word, nodes in nodes_of.items():
            if 2 <= len(nodes) <= most and len(word) >= 4:
                concept = self._node(CONCEPT, word)
                self.postings[word].add(concept)
                for node in nodes:
                    self._edge(node, concept, "concerns", WEIGHTS["concerns"])

    # -- reliability -------------------------------------------------------------------------------------------

    def _reliabilities(self) -> list[float]:
        """Reliability of each node, 0..1, from weighted PageRank."""
        ranks = nx.pagerank(self.graph, alpha=0.85, weight="weight")
        scores = np.array([ranks[node] for node in range(len(self.kind))])
        kinds = np.array(self.kind)
        if self.normalisation != "ours":
            scores = _between_0_and_1(scores)
            scores[kinds == QUESTION] = 1.0
            return [float(score) for score in scores]
        for kind in NODE_KINDS:
            chosen = kinds == kind
            if chosen.any():
                scores[chosen] = _between_0_and_1(np.log(scores[chosen])) / 2
        return [float(score) for score in scores]


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


def _between_0_and_1(scores: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Min-max; a half where all are equal."""
    low, high = scores.min(), scores.max()
    if high - low < 1e-15:
        return np.full_like(scores, 0.5)
    spread: np.ndarray[Any, np.dtype[np.float64]] = (scores - low) / (high - low)
    return spread
