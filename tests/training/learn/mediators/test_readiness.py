"""What is said of a corpus before anything is learned: links, answers, the questions that a choice takes, and the retriever."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec

import pytest
from parlour.envs.mediated_qa.retrievers import BM25Retriever, GraphRetriever
from parlour.envs.mediated_qa.vocabulary import ALL
from parlour.policies.llm.make import ModelConfig
from parlour.training.cli import run
from parlour.training.learn.mediators import experiment, readers, readiness
from parlour.training.learn.mediators.enough import FEWEST
from parlour.training.learn.mediators.experiment import HeldOutConfig
from parlour.training.learn.mediators.held_out import pipeline_of
from parlour.training.learn.mediators.simulate import Simulated

from tests.envs.mediated_qa.corpora.test_corpora import write

TOWNS = ("Belford", "Corwick", "Danton", "Firmere", "Golham", "Hulford", "Marwick", "Norton", "Permere")
needs_bm25 = pytest.mark.skipif(find_spec("bm25s") is None, reason="THE EXTRA `retrieve` IS NOT INSTALLED")


@pytest.fixture
def files(tmp_path):
    """`files(named)`: nine questions, of which so many name their town; two answers are in no document, and one is yes."""

    def made(named):
        documents = {f"{town}.txt": f"{town} has a mill. It was built in {1801 + k}." for k, town in enumerate(TOWNS)}
        entries = []
        for k, town in enumerate(TOWNS):
            words = f"In which year was the mill of {town} built?" if k < named else f"When was mill number {k} built?"
            entries.append({"id": f"q{k}", "question": words, "answer": str(1801 + k) if k > 1 else str(1901 + k)})
        entries[8] |= {"question": f"Is {TOWNS[8]} a town?" if named == 9 else "Is it a town?", "answer": "yes"}
        return ["--corpus", str(write(tmp_path, entries, documents)), "--documents", str(tmp_path / "documents")]

    return made


def known_of(words):
    setting = HeldOutConfig(corpus=words[1], documents=words[3], reader="extract")
    corpus = experiment.corpus_of(setting)
    setting = experiment.split(setting, corpus)
    pipeline = pipeline_of(setting, corpus)
    return setting, corpus, pipeline


def test_links_and_answers_are_counted(files):
    setting, corpus, pipeline = known_of(files(9))
    known = readiness.readiness(setting, corpus, pipeline, readers.forecast(setting, pipeline, ModelConfig()))
    assert (known.questions, known.linked, known.answers, known.present) == (9, 9, 8, 6)
    assert (known.choice.training, known.choice.held_out, known.choice.pilot) == (6, 3, 6)
    assert known.lines[0].startswith("corpus: 9 questions, 9 ")
    assert known.lines[2].startswith("cost: no calls")


def rows_of(best):
    """Questions on which the first joint action earns 10, and the second 10 more on every `best`-th."""
    earned = [(10.0, 20.0 if best and k % best == 0 else 0.0, *[0.0] * (len(ALL) - 2)) for k in range(40)]
    return [Simulated(k, "s0", row, (0,) * len(ALL)) for k, row in enumerate(earned)]


def test_the_spread_of_the_oracle_decides_how_many_training_questions_a_choice_takes():
    setting = HeldOutConfig(train=80, held_out=40)
    made = readiness.choice_size(setting, rows_of(4))
    assert (made.pilot, made.gain) == (40, 2.5)
    # deviation 4.39: half an interval of 1.40 over 40; 40 x (1.43 x 1.40 / 5)^2 = 6.4, and a choice takes 30
    assert made.needed == FEWEST
    penny = setting.replace(utilities=(12.0, -4.0, 1.0, -2.0))  # a tenth of the published size
    assert readiness.choice_size(penny, rows_of(4)).size == 0.5
    assert readiness.choice_size(penny, rows_of(4)).needed == 650
    assert readiness.choice_size(setting, rows_of(0)).needed is None
    elsewhere = readiness.choice_size(setting, [])
    assert (elsewhere.pilot, elsewhere.gain, elsewhere.needed) == (0, None, 200)
    # 5 x sqrt(200 / 80) = 7.9 by the 80 training questions, whatever is held out; 200 of 120 / 80 each are 300 in all
    assert "200 training questions, 300 in all; 80 will choose the policy, and show 7.9; 40" in elsewhere.message
    small = replace(elsewhere, training=40, held_out=20)
    assert small.message.endswith("20 will test it, but a test takes 30 (--held-out-share 0.5)")
    tiny = replace(elsewhere, training=29, held_out=10)
    assert tiny.message.endswith(
        "29 will choose the policy, but a choice takes 30; 10 will test it, but a test takes 30"
    )


def test_a_choice_by_fewer_training_questions_than_the_pilot_asks_for_names_the_option_that_splits_anew():
    setting = HeldOutConfig(corpus="questions.jsonl", train=80, held_out=40)
    rows = rows_of(4)
    assert readiness.choice_size(setting, rows[:30]).needed == FEWEST
    assert readiness.another_split(setting, rows) == ""  # enough
    penny = setting.replace(utilities=(12.0, -4.0, 1.0, -2.0))
    said = readiness.another_split(penny, rows)  # 30 of the 40 rows are the pilot
    # 10 more on 8 of 30, so deviation 4.50 and half an interval of 1.68; 30 x (1.43 x 1.68 / 0.5)^2 = 692
    assert said.startswith("With 80 training questions instead of about 700, ")
    assert "--seed" in said
    assert readiness.another_split(penny.replace(held_out=1000), rows) == said  # held-out questions choose nothing
    assert readiness.another_split(penny.replace(train=FEWEST - 1), rows) == ""  # no choice
    assert readiness.another_split(penny.replace(corpus=""), rows) == ""  # generated questions are drawn, not split


# -- the retriever -------------------------------------------------------------------------------------------------


@needs_bm25
@pytest.mark.parametrize(("named", "least", "retriever"), [(9, 0.5, "graph"), (4, 0.5, "bm25"), (4, 0.4, "graph")])
def test_bm25_is_chosen_where_few_questions_are_linked(files, named, least, retriever):
    setting, corpus, pipeline = known_of(files(named))
    setting = setting.replace(least_linked=least)
    chosen, searched, why = readiness.choose_retriever(setting, corpus, pipeline)
    assert (chosen.retriever, bool(why)) == (retriever, retriever == "bm25")
    assert isinstance(searched.retriever, BM25Retriever if retriever == "bm25" else GraphRetriever)
    assert isinstance(pipeline.retriever, GraphRetriever)
    unlinked = next((k for k in range(pipeline.size) if not pipeline.starts(k)), None)
    if unlinked is not None:
        assert pipeline.retrieve(unlinked, 0) == ""
        assert bool(searched.retrieve(unlinked, 0)) == (retriever == "bm25")


@needs_bm25
def test_the_command_chooses_says_why_and_a_named_retriever_stays(files, tmp_path, capsys):
    words = ["train", "grace", *files(4), "--reader", "extract"]
    for more, retriever in (([], "bm25"), (["--retriever", "graph"], "graph")):
        out = tmp_path / retriever
        assert run([*words, *more, "--out", str(out)]) == 0
        told = capsys.readouterr().err
        assert ("note: 4 of 9 questions are linked" in told) == (retriever == "bm25")
        assert "parlour: corpus: 9 questions, 4 are linked" in told
        stored = json.loads((out / "calibration" / "config.json").read_text())
        assert stored.get("retriever", "graph") == retriever
    assert run([*words, "--retriever", "words", "--out", str(tmp_path / "none")]) == 2
    assert "retriever 'words' is not accepted" in capsys.readouterr().err


def test_without_bm25_and_links_the_lines_are_printed_before_the_refusal(files, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(readiness, "find_spec", lambda name: None)
    words = files(0)
    assert run(["check", "corpus", words[1], *words[2:]]) == 0
    output = capsys.readouterr().out
    for line in ("corpus: 9 questions, 0 are linked", "--sees question", "choice: ", "cost: "):
        assert line in " ".join(output.split())
    assert run(["train", "grace", *words, "--reader", "extract", "--dry-run"]) == 0
    capsys.readouterr()
    assert run(["train", "grace", *words, "--reader", "extract", "--out", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert "choice: " in error
    assert "--retriever bm25" in error.splitlines()[-1]


def test_questions_in_one_state_look_alike_to_the_table_alone(files):
    setting, corpus, pipeline = known_of(files(0))
    forecast = readers.forecast(setting, pipeline, ModelConfig())
    assert readiness.readiness(setting, corpus, pipeline, forecast).alike
    assert not readiness.readiness(setting.replace(sees="question"), corpus, pipeline, forecast).alike
    setting, corpus, pipeline = known_of(files(4))
    assert not readiness.readiness(setting, corpus, pipeline, forecast).alike


def test_without_bm25_the_graph_retrieves_and_a_line_says_so(files, monkeypatch):
    monkeypatch.setattr(readiness, "find_spec", lambda name: None)
    setting, corpus, pipeline = known_of(files(4))
    chosen, same, why = readiness.choose_retriever(setting, corpus, pipeline)
    assert (chosen, same) == (setting, pipeline)
    assert "bm25s is not installed" in why
