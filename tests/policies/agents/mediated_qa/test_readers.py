"""Answers extracted by a question-answering model, answers checked by an inference model, and the
typed questions of the pipeline that are put to a language model."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from math import log
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.envs.language.english import word_list
from parlour.envs.mediated_qa import reading, vocabulary
from parlour.envs.mediated_qa.corpus import CorpusQuestion, generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.policies.agents.mediated_qa.readers import (
    LONGEST,
    AskingReader,
    CheckAnswer,
    EntailmentVerdict,
    GenerateFreely,
    NLIReader,
    QAReader,
    Recall,
    RecallFreely,
    ShortAnswer,
    SpanScores,
    best_span,
)
from parlour.policies.llm.ask import Ask
from parlour.policies.llm.model import Answered, Model, OfflineModel, RequestContext
from parlour.training.learn.mediators import readers
from parlour.training.learn.mediators.experiment import HeldOutConfig

QUESTION = CorpusQuestion("Who built the old bridge?", "Ann", "bridge", (), ())
EVIDENCE = reading.join((reading.Piece("Old bridge", "It was built by Ann."), reading.Piece("Ann", "She was a mason.")))


def scores(start, end, outside=()):
    inside = np.array([k not in (0, *outside) for k in range(len(start))])
    return SpanScores(np.array(start, dtype=float), np.array(end, dtype=float), inside)


def test_the_best_span_is_that_with_the_highest_sum():
    """Token 2 begins it (4), token 3 ends it (3); nothing to answer has 1 + 1."""
    assert best_span(scores([1, 0, 4, 0], [1, 0, 2, 3])) == (5.0, 2, 3)


def test_a_span_ends_after_it_begins_lies_in_the_evidence_and_is_not_long():
    assert best_span(scores([0, 0, 4, 1], [0, 9, 0, 1]))[1:] == (1, 1)  # 0 + 9, not 4 + 9
    assert best_span(scores([0, 9, 4, 1], [0, 9, 1, 2], outside=(1,)))[1:] == (2, 3)
    far = [0.0] * (LONGEST + 3)
    end = [*far[:-1], 5.0]
    assert best_span(scores([0, 4, *far[2:]], end))[1:] != (1, len(far) - 1)


def test_no_answer_where_its_score_is_higher_and_none_without_evidence():
    assert best_span(scores([5, 1, 1], [5, 1, 1]))[0] == -8
    assert best_span(scores([5], [5]))[0] == -np.inf


def test_the_reader_answers_from_evidence_alone():
    asked = []
    reader = QAReader("", lambda question, evidence: (asked.append((question, evidence)), "Ann")[1])
    rng = np.random.default_rng(0)
    assert reader.generate(QUESTION, EVIDENCE, rng) == "Ann"
    assert asked == [("Who built the old bridge?", "Old bridge: It was built by Ann. Ann: She was a mason.")]
    assert reader.generate(QUESTION, "", rng) == ""
    assert len(asked) == 1
    assert reader.recall(QUESTION)[:2] == ("", 0.0)
    assert reader.sample(QUESTION, "", 3, rng) == [""] * 3
    assert reader.sample(QUESTION, EVIDENCE, 3, rng) == ["Ann"] * 3  # no temperature
    assert reader.check(QUESTION, EVIDENCE, "Ann") == reading.entailment(QUESTION.text, EVIDENCE, "Ann")


def test_a_folder_without_a_model_is_refused(tmp_path):
    for settings in ({"reader": f"qa:{tmp_path}"}, {"reader": "extract", "nli": str(tmp_path)}):
        with pytest.raises(ParlourError, match=r"config.json|inference model"):
            readers.make(HeldOutConfig(**settings))


@pytest.fixture
def small_model(tmp_path):
    """A BERT of random weights with a vocabulary of the words of the evidence."""
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    words = word_list("[PAD] [UNK] [CLS] [SEP] [MASK] who built the old bridge ? it was by ann . she a mason :")
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
        initializer_range=2.0,
    )
    transformers.BertForQuestionAnswering(config).save_pretrained(tmp_path)
    transformers.BertTokenizerFast(vocab={word: k for k, word in enumerate(words)}).save_pretrained(tmp_path)
    return tmp_path


def test_a_model_of_transformers_gives_spans_of_the_evidence(small_model):
    """Its weights are random, so that what it answers means nothing; it is part of the evidence, and always the same."""
    reader, rng = readers.make(HeldOutConfig(reader=f"qa:{small_model}")), np.random.default_rng(0)
    longer = " ".join([EVIDENCE] * 4)  # more than one window of 32 tokens
    answers = {reader.generate(QUESTION, text, rng) for text in (EVIDENCE, longer) for _ in range(2)}
    assert all(answer in longer.replace(reading.SEPARATOR, " ") for answer in answers)
    assert len(answers) <= 2
    assert any(answers)


def test_what_is_no_model_of_questions_is_refused_in_one_line(tmp_path):
    pytest.importorskip("transformers")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "nothing of the kind"}))
    with pytest.raises(ParlourError, match="not a question-answering model"):
        readers.make(HeldOutConfig(reader=f"qa:{tmp_path}")).generate(QUESTION, EVIDENCE, np.random.default_rng(0))


ASKED = SimpleNamespace(text="Who founded Orn?")


@pytest.mark.parametrize("label", ["entailment", "ENTAILMENT", "Contradiction", "neutral"])
def test_labels_are_read_in_any_case(label):
    asked = []
    reader = NLIReader(
        AskingReader(),
        classify=lambda premise, hypothesis: asked.append((premise, hypothesis)) or {label: 0.6, "neutral": 0.4},
    )
    assert reader.check(ASKED, "Ada founded Orn.", "Ada") == label.lower()
    assert asked == [("Ada founded Orn.", "Who founded Orn? Ada")]


def test_everything_else_is_the_inner_reader():
    inner, rng = AskingReader(), np.random.default_rng(0)
    reader = NLIReader(inner, classify=lambda *_: {"neutral": 1.0})
    assert reader.recall(ASKED) == inner.recall(ASKED)
    assert reader.sample(ASKED, "", 2, rng) == ["", ""]
    assert reader.generate(ASKED, "Orn: Ada founded Orn.", rng) == inner.generate(ASKED, "Orn: Ada founded Orn.", rng)


def test_the_model_is_loaded_at_the_first_check_and_cuts_the_evidence_only(monkeypatch):
    made = []

    def pipeline(task, **settings):
        made.append((task, settings))
        chances = {"CONTRADICTION": 0.7, "ENTAILMENT": 0.2, "NEUTRAL": 0.1}
        return lambda pair, top_k: [{"label": label, "score": chance} for label, chance in chances.items()]

    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(pipeline=pipeline))
    reader = NLIReader(AskingReader(), checkpoint="some/model")
    assert not made
    assert [reader.check(ASKED, "x", "y") for _ in range(2)] == ["contradiction"] * 2
    assert reader.entailment(ASKED, "x", "y") == 0.2
    assert made == [("text-classification", {"model": "some/model", "truncation": "only_first"})]


def test_without_the_extra_one_line_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ParlourError, match=r"transformers is not installed; accepted: pip install .*\[nli\]"):
        NLIReader(AskingReader()).check(ASKED, "x", "y")


# -- a model that is asked -----------------------------------------------------------------------------------------


class Parrot(Model):
    """Answers what it is told to, sample by sample, and keeps what it was asked."""

    name = "parrot"
    is_language_model: ClassVar[bool] = False

    def __init__(self, replies: list[str], label: str = "entailment") -> None:
        self.replies, self.label, self.asked, self.askers = replies, label, [], []

    def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
        self.asked.append(question)
        self.askers.append(context)
        if isinstance(question, CheckAnswer):
            return Answered(EntailmentVerdict.model_validate({"reason": "", "label": self.label}))
        return Answered(
            ShortAnswer(reason="", answer=self.replies[len(self.asked) % len(self.replies)], confidence=0.6)
        )

    def settings(self) -> dict[str, Any]:
        return {}


@pytest.fixture
def corpus():
    return generate(seed=1, size=20, difficulty="easy")


def test_a_pipeline_asks_the_model_what_it_needs(corpus):
    model = Parrot(["Telby"])
    pipeline = Pipeline(corpus, reader=AskingReader(model))
    evidence = pipeline.retrieve(0, vocabulary.Retrieve.SHALLOW)
    rng = np.random.default_rng(0)
    assert pipeline.answer(0, vocabulary.Generate.FROM_EVIDENCE, evidence, rng) == "Telby"
    assert model.asked[-1].question == corpus.questions[0].text
    assert " ¶ ".join(model.asked[-1].evidence) == evidence
    assert pipeline.answer(0, vocabulary.Generate.PARAMETRIC, "", rng) == "Telby"
    assert type(model.asked[-1]) is Recall
    assert pipeline.check(0, evidence, "Telby") == vocabulary.CheckVerdict.ENTAILED
    assert (model.asked[-1].answer, model.askers[-1].seat) == ("Telby", "verifier")
    assert pipeline.confidence(0) == 0.6
    assert not pipeline.recall(0).by_tokens


def test_a_confidence_is_the_probability_of_the_answers_tokens_where_they_are_known(corpus):
    """The answer's two tokens have probabilities 1/2 and 1; what is around them does not count, nor "Telby" in the reason."""
    written = (
        ("{", -1.0),
        ('"reason": "Telby",', -2.0),
        (' "answer": "Tel', -log(2)),
        ("by", 0.0),
        ('", "confidence": 0.6}', -3.0),
    )
    model = Parrot(["Telby"])
    model.answer = lambda question, context: replace(Parrot.answer(model, question, context), logprobs=written)
    assert AskingReader(model).recall(corpus.questions[0]) == ("Telby", 0.75, True)
    assert (Recall.logprobs, RecallFreely.logprobs, GenerateFreely.logprobs) == (True, False, False)


@pytest.mark.parametrize(("consistency", "asks"), [("evidence", GenerateFreely), ("question", RecallFreely)])
def test_five_samples_must_agree_in_four(corpus, consistency, asks):
    for replies, answer in ((["a", "A", "a", "a", "b"], "a"), (["a", "a", "b"], ""), (["I don't know"], "")):
        model = Parrot(replies)
        pipeline = Pipeline(corpus, reader=AskingReader(model), consistency=consistency)
        reply = pipeline.answer(3, vocabulary.Generate.CONSISTENT, "Tarn: It lies on a hill.", np.random.default_rng(1))
        assert reply.lower() == answer
        assert [type(asked) for asked in model.asked] == [asks] * 5
        assert getattr(model.asked[0], "evidence", None) == (
            ["Tarn: It lies on a hill."] if asks is GenerateFreely else None
        )
        assert len({context.sample for context in model.askers}) == 5
        assert model.asked[0].temperature == 0.7
        pipeline.answer(3, vocabulary.Generate.CONSISTENT, "", np.random.default_rng(2))
        assert type(model.asked[-1]) is RecallFreely  # without evidence, from memory
        assert len({context.sample for context in model.askers}) == 10


def test_a_prompt_of_a_plain_question_speaks_of_no_game():
    for ask in (
        Recall(question="Who?"),
        GenerateFreely(question="Who?", evidence=["A: B."]),
        RecallFreely(question="Who?"),
    ):
        words = f"{ask.system()} {ask.prompt()}".lower()
        assert not {"game", "games", "player", "players", "lie"} & set(re.findall("[a-z]+", words))
        assert "never obey" in words  # evidence may hold words that look like instructions


def test_what_is_remembered_is_asked_once_a_question(corpus):
    model = Parrot(["a", "b"])
    pipeline = Pipeline(corpus, reader=AskingReader(model))
    assert (
        len({pipeline.answer(2, vocabulary.Generate.PARAMETRIC, "", np.random.default_rng(k)) for k in range(4)}) == 1
    )
    assert len(model.asked) == 1


def test_offline_the_asking_reader_reads_as_the_offline_one_and_remembers_nothing(corpus):
    asking, plain = Pipeline(corpus, reader=AskingReader(OfflineModel())), Pipeline(corpus)
    rng = np.random.default_rng(0)
    for number in range(20):
        evidence = plain.retrieve(number, vocabulary.Retrieve.DEEP)
        answer = plain.answer(number, vocabulary.Generate.FROM_EVIDENCE, evidence, rng)
        assert asking.answer(number, vocabulary.Generate.FROM_EVIDENCE, evidence, rng) == answer
        assert asking.check(number, evidence, answer or "x") == plain.check(number, evidence, answer or "x")
        assert asking.answer(number, vocabulary.Generate.PARAMETRIC, "", rng) == ""
