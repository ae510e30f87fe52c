"""The comparison on a corpus of real documents: each question held out once, no simulated memory, all systems paired.

    python scripts/bench/real_documents.py OUT
    python scripts/bench/real_comparison.py OUT bm25 questions
    python scripts/bench/real_comparison.py OUT bm25 phrasings

`questions`: five folds of questions, so that a held-out question's phrasing was learned from on other documents. `phrasings`: five
folds of phrasings (by their first words), so that it was not; the interval over phrasings is told as well. Cut points, table
and contextual model are learned anew from the other four folds each time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from parlour.envs.mediated_qa.corpora import load
from parlour.envs.mediated_qa.corpus import Corpus
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.readers import ExtractiveReader
from parlour.envs.mediated_qa.signals import Bins
from parlour.envs.mediated_qa.vocabulary import JOINTS, Payment
from parlour.training.learn.mediators import baselines
from parlour.training.learn.mediators.contextual import ContextualConfig, contextual, form_by_state, learn_contextual
from parlour.training.learn.mediators.learn import GraceConfig, learn
from parlour.training.learn.mediators.simulate import calibrate, table

FOLDS = 5
SEED = 0
CONTEXTUAL, TABLE, STATIC = "contextual policy", "table of states", "static: "
Earned = dict[str, np.ndarray[Any, np.dtype[np.float64]]]
"""System -> net utility of each question."""


def folds_by_question(count: int) -> list[np.ndarray[Any, Any]]:
    """Folds of questions, drawn."""
    order = np.random.default_rng(SEED).permutation(count)
    return [order[k::FOLDS] for k in range(FOLDS)]


def phrasing(text: str) -> str:
    """The first words of a question, without what it is about."""
    words = text.split()
    return words[0] if words[0] in ("Do", "Does", "Are") else " ".join(words[:2])


def folds_by_phrasing(texts: Sequence[str]) -> list[np.ndarray[Any, Any]]:
    """Folds of about equal size, each phrasing in one of them: the largest first, each into the smallest fold."""
    groups: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        groups.setdefault(phrasing(text), []).append(number)
    folds: list[list[int]] = [[] for _ in range(FOLDS)]
    for _, numbers in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        min(folds, key=len).extend(numbers)
    return [np.array(fold) for fold in folds]


def compared(corpus: Corpus, retriever: str, folds: Sequence[np.ndarray[Any, Any]], joint: str = "published") -> Earned:
    """What each system earns on each question, while it is held out."""
    pipeline = Pipeline(corpus, retriever=retriever, reader=ExtractiveReader())
    signals = [pipeline.signals(k) for k in range(pipeline.size)]
    contexts = np.array([pipeline.context(k) for k in range(pipeline.size)])
    rows = calibrate(pipeline, range(pipeline.size))
    utilities: Earned = {}
    for fold in folds:
        kept = np.setdiff1d(np.arange(len(rows)), fold)
        bins = Bins.learn(signals[k] for k in kept)
        train, test = ([replace(rows[k], state=bins.state(signals[k])) for k in part] for part in (kept, fold))
        policy = learn(table(train, joint, bins), GraceConfig(seed=SEED)).policy
        model = learn_contextual(train, contexts[kept], Payment(), ContextualConfig(joint=joint, seed=SEED))
        systems = [
            contextual(CONTEXTUAL, model, test, contexts[fold]),
            baselines.learned(TABLE, policy, test),
            form_by_state(train, contexts[kept], test, contexts[fold], Payment(), joint),
            *(baselines.fixed(f"{STATIC}{', '.join(action.names)}", action, test) for action in JOINTS[joint]),
            baselines.oracle(test, joint),
        ]
        for system in systems:
            utilities.setdefault(system.name, np.zeros(len(rows)))[fold] = system.utility
    return utilities


def interval(values: np.ndarray[Any, Any], groups: Sequence[str] | None = None) -> tuple[float, float]:
    """Mean, and half of its 95 % interval: over questions, or over groups of them."""
    mean, strays = float(values.mean()), values - values.mean()
    if groups is not None:
        strays = np.array([strays[[group == name for group in groups]].sum() for name in sorted(set(groups))])
    return mean, 1.96 * float(np.sqrt((strays**2).sum())) / len(values)


def lines(utilities: Earned, groups: Sequence[str] | None = None) -> list[str]:
    """Net utility of each system, and what the contextual policy and the table earn more, paired."""
    rows = []
    for name, earned in utilities.items():
        pairs = [interval(utilities[first] - earned, over) for over in (None, groups) for first in (CONTEXTUAL, TABLE)]
        numbers = [interval(earned), *pairs[: 2 if groups is None else 4]]
        rows.append(f"{name:62}" + "".join(f"{mean:9.2f} ± {half:.2f}" for mean, half in numbers))
    return rows


def main(folder: str, retriever: str = "bm25", by: str = "questions") -> None:
    """Print the comparison."""
    corpus = load(folder)
    texts = [question.text for question in corpus.questions]
    folds = folds_by_question(len(texts)) if by == "questions" else folds_by_phrasing(texts)
    print(f"{retriever}, {len(texts)} questions, each held out once by {by}")
    print(f"{'system':62}      earns    contextual less this    table less this    (both again over phrasings)")
    print("\n".join(lines(compared(corpus, retriever, folds), list(map(phrasing, texts)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
