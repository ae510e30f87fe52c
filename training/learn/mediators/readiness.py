"""Whether a mediator can learn from a corpus, before anything is learned: links, answers in the documents, the training questions that a
choice takes, and the calls.

Cross-validation over the training questions chooses what is deployed (`deploy`). How much two policies differ from question to question
decides how many it takes. Before a mediator is learned, this is measured on `PILOT` questions by the oracle, which takes the static policy
that earns most on each, minus the best static policy. On ten corpora the difference of a learned mediator varied 0.6 to 1.6 times as much.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import ceil, sqrt
from typing import Final

import numpy as np
from parlour.envs.common.extras import install
from parlour.envs.mediated_qa.corpus import Corpus
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.retrievers import BM25Retriever, GraphRetriever
from parlour.envs.mediated_qa.vocabulary import SEES
from parlour.policies.llm.model import OFFLINE
from parlour.training.learn.mediators import readers
from parlour.training.learn.mediators.enough import FEWEST, PILOT, linked_note
from parlour.training.learn.mediators.experiment import HeldOutConfig, actions_of, payment_for
from parlour.training.learn.mediators.learn import unit_of
from parlour.training.learn.mediators.simulate import Simulated, simulate
from parlour.training.statistics import Estimate

MATTERS: Final = 5.0
"""Net utility a question that the choice should show, at payments of the published size: 4 % of what a right answer pays."""
_ELSEWHERE: Final = Estimate(2.29, 1.07, 3.51, 1600)
"""Table of states minus best static policy on real documents (docs/lab/2026-11-real_documents.md, BM25)."""
_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class ChoiceSize:
    """How many training questions the choice of a policy takes."""

    size: float
    """Net utility a question that it should show."""
    pilot: int
    """Questions by which the spread was measured; 0: by another corpus."""
    gain: float | None
    """Net utility a question that the oracle earned more than the best static policy in the pilot, which no mediator exceeds; None
    without a pilot."""
    needed: int | None
    """Training questions; None: the oracle earned the same on all questions of the pilot."""
    training: int
    """Questions that will choose what is deployed."""
    held_out: int
    """Questions that will test it."""

    @property
    def message(self) -> str:
        """In one line: what the training questions show, and what it takes to test it.

        >>> print(ChoiceSize(5.0, 30, 17.25, 200, 150, 50).message)
        choice: the best action on each of 30 questions earns 17.2 more than one static policy; 5 points take about 200 training questions, 267 in all; 150 will choose the policy, and show 5.8; 50 will test it
        """
        if self.needed is None:
            return (
                f"choice: one static policy is best on all of {self.pilot} questions, so a mediator has nothing to gain"
            )
        measured = f"spread as on {_ELSEWHERE.n:,} questions of another corpus"
        if self.gain is not None:
            best = f"the best action on each of {self.pilot} questions"
            measured = f"{best} earns {self.gain:.3g} more than one static policy"
        asked = self.training + self.held_out
        wanted = f"about {self.needed:,} training questions, {ceil(self.needed * asked / self.training):,} in all"
        shows = f"but a choice takes {FEWEST}"
        if self.training >= FEWEST:
            shows = f"and show {self.size * sqrt(self.needed / self.training):.2g}"
        share = f" (--held-out-share {ceil(100 * FEWEST / asked) / 100:g})" if asked >= 2 * FEWEST else ""
        few = f", but a test takes {FEWEST}{share}" if self.held_out < FEWEST else ""
        choice = f"{self.training:,} will choose the policy, {shows}; {self.held_out:,} will test it{few}"
        return f"choice: {measured}; {self.size:g} points take {wanted}; {choice}"


@dataclass(frozen=True)
class Readiness:
    """What is known about a corpus before anything is learned."""

    questions: int
    linked: int
    """Questions that contain the title of a document, or a name like it."""
    answers: int
    """Questions whose right answer is in words: not yes, no, or none."""
    present: int
    """Questions among them with the answer in a document, word for word."""
    choice: ChoiceSize
    forecast: readers.CalibrationForecast
    """Calls of the model in the calibration, at most."""
    alike: bool = False
    """Whether all training questions are in one state, and the mediator sees nothing else."""

    @property
    def lines(self) -> tuple[str, str, str]:
        """Corpus, choice and cost, a line each."""
        linked = f"{self.linked:,} are linked to a document"
        present = f"{self.present:,} of {self.answers:,} right answers are word for word in one"
        cost = self.forecast.message if self.forecast.calls else "no calls: no model is asked"
        alike = "; all questions look alike to the table of states, so try --sees question" * self.alike
        return (
            f"corpus: {self.questions:,} questions, {linked}; {present}{alike}",
            self.choice.message,
            f"cost: {cost}",
        )


def readiness(
    setting: HeldOutConfig, corpus: Corpus, pipeline: Pipeline, forecast: readers.CalibrationForecast
) -> Readiness:
    """What is known about a corpus; no model is asked. Readers by rules answer the questions of the pilot.

    Args:
        setting: The experiment, split (`experiment.split`).
        corpus: Its corpus.
        pipeline: Their pipeline.
        forecast: Calls of the model in the calibration.
    """
    golds = [
        [_words(answer) for answer in (question.answer, *question.others)]
        for question in corpus.questions
        if question.kind != "yes_no" and _words(question.answer)
    ]
    return Readiness(
        len(corpus.questions),
        linked(pipeline),
        len(golds),
        _present(corpus, golds),
        choice_size(setting, _by_rules(setting, pipeline)),
        forecast,
        setting.sees == SEES[0] and _alike(setting, pipeline),
    )


def _alike(setting: HeldOutConfig, pipeline: Pipeline) -> bool:
    """Whether the training questions are all in one state."""
    bins = pipeline.learn_bins(range(setting.train))
    return len({bins.state(pipeline.signals(number)) for number in range(setting.train)}) == 1


def another_split(setting: HeldOutConfig, rows: Sequence[Simulated]) -> str:
    """One sentence where fewer training questions of a file chose the policy than its pilot asks for; empty otherwise.

    Args:
        setting: The experiment, split.
        rows: Its training questions.
    """
    wanted = choice_size(setting, rows[:PILOT]).needed if setting.corpus else None
    if wanted is None or not FEWEST <= setting.train < wanted:
        return ""
    few = f"With {setting.train:,} training questions instead of about {wanted:,}"
    return f"{few}, another split may decide otherwise; another --seed draws one."


def _present(corpus: Corpus, golds: Sequence[Sequence[str]]) -> int:
    """How many questions have one of their right answers in a document."""
    texts: dict[str, list[str]] = {gold.split()[0]: [] for answers in golds for gold in answers if gold}
    for passage in corpus.passages:
        text = _words(" ".join((passage.title, *passage.sentences)))
        for word in texts.keys() & set(text.split()):
            texts[word].append(f" {text} ")
    return sum(
        any(f" {gold} " in text for gold in answers if gold for text in texts[gold.split()[0]]) for answers in golds
    )


def linked(pipeline: Pipeline) -> int:
    """How many questions are linked to a document."""
    return sum(bool(pipeline.starts(number)) for number in range(pipeline.size))


def choice_size(setting: HeldOutConfig, rows: Sequence[Simulated]) -> ChoiceSize:
    """How many training questions a choice takes, by the questions of a pilot; without any, by another corpus."""
    actions = actions_of(setting)
    size = MATTERS * unit_of(payment_for(setting, actions))
    gain, needed = None, _ELSEWHERE.cases_needed(MATTERS)
    if rows:
        places = [actions.all.index(joint) for joint in actions.joints(setting.joint)]
        earned = np.array([row.utilities for row in rows])[:, places]
        more = Estimate.mean(earned.max(axis=1) - earned[:, earned.mean(axis=0).argmax()])
        gain, needed = more.value, more.cases_needed(size)
    least = None if needed is None else max(FEWEST, needed)
    return ChoiceSize(size, len(rows), gain, least, setting.train, setting.held_out)


def choose_retriever(setting: HeldOutConfig, corpus: Corpus, pipeline: Pipeline) -> tuple[HeldOutConfig, Pipeline, str]:
    """The experiment with the retriever bm25, where fewer than `least_linked` of the questions are linked; and why, in one line."""
    why = linked_note(linked(pipeline), pipeline.size, setting.least_linked)
    if not why or not isinstance(pipeline.retriever, GraphRetriever):
        return setting, pipeline, ""
    if find_spec("bm25s") is None:
        why += f"; bm25s is not installed, so the graph retrieves; accepted: {install('retrieve')}"
        return setting, pipeline, why
    return setting.replace(retriever="bm25"), pipeline.searched_by(BM25Retriever(corpus.passages)), why


def _by_rules(setting: HeldOutConfig, pipeline: Pipeline) -> list[Simulated]:
    """The questions of the pilot, where rules answer and check them; none where a model does, or the graph has no evidence."""
    reader, checker = readers.chosen(setting)
    if reader not in (readers.EXTRACT, OFFLINE) or checker != readers.LEXICAL:
        return []
    if isinstance(pipeline.retriever, GraphRetriever) and not any(map(pipeline.starts, range(setting.train))):
        return []  # there would be no evidence for any of them
    pays = payment_for(setting, actions_of(setting))
    by_rules = pipeline.read_by(readers.make(setting))
    by_rules.learn_bins(range(setting.train))
    return [simulate(by_rules, number, pays, setting.seed) for number in range(min(PILOT, setting.train))]


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
