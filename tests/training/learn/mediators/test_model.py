"""Calibration by a language model: each question is asked once, at once with others, and forecast."""

from __future__ import annotations

import json
import re

import pytest
from parlour.policies.llm.make import ModelConfig
from parlour.training.cli import run as run_command
from parlour.training.learn.mediators import experiment, held_out
from parlour.training.learn.mediators.experiment import HeldOutConfig
from parlour.training.learn.mediators.readers import forecast

from tests.envs.mediated_qa.corpora.test_corpora import write
from tests.hardening.same_files import unmeasured
from tests.policies.llm.servers import Answer, LlamaCpp

TOWNS = ("Belford", "Corwick", "Danton", "Firmere", "Golham", "Hulford", "Marwick", "Norton", "Permere")


class Reading(LlamaCpp):
    """Answers with the last year of the prompt, or that it does not know."""

    def __init__(self):
        super().__init__()
        self.answered = []

    def completion(self, call):
        content = " ".join(message["content"] for message in call.body["messages"] if message["role"] == "user")
        self.answered.append(json.dumps(call.body, sort_keys=True))
        if "label" in json.dumps(call.body["response_format"]):
            value = {"reason": "it is written", "label": "entailment"}
        else:
            years = re.findall(r"\b1[89]\d\d\b", content)
            value = {"reason": "it is written", "answer": years[-1] if years else "I don't know", "confidence": 0.5}
        made = self.completed({"role": "assistant", "content": json.dumps(value)})
        made["choices"] = made["choices"] * call.body.get("n", 1)
        return Answer(made)


@pytest.fixture
def town_files(tmp_path):
    """Nine towns, of which a document tells two years; asked is for one of them."""
    text = "{0} is a town. The town of {0} burnt in {1}. The town of {0} was founded in {2}."
    documents = {f"{town}.txt": text.format(town, 1851 + k, 1801 + k) for k, town in enumerate(TOWNS)}
    entries = [
        {"id": f"q{k}", "question": f"In which year was the town of {town} founded?", "answer": str(1801 + k)}
        for k, town in enumerate(TOWNS)
    ]
    return ["--corpus", str(write(tmp_path, entries, documents)), "--documents", str(tmp_path / "documents")]


def words(town_files, server, out, *more):
    asked = ["--model", LlamaCpp.MODEL, "--base-url", server.base_url, "--price", "1,2"]
    learned = ["--temperature", "0.7", "--floor", "0.02", "--out", str(out)]
    return ["train", "grace", *town_files, *asked, *learned, *more]


def files_of(folder):
    """All but the stored replies, which hold the time of day, and the command line's settings; without what is measured."""
    kept = [p for p in folder.rglob("*") if p.is_file() and p.suffix != ".sqlite" and p.name != "config.toml"]
    return {p.name: unmeasured(p) for p in kept}


# -- asked once ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_questions_are_asked_at_once_and_the_files_are_the_same(town_files, tmp_path, monkeypatch):
    with Reading() as server:
        for concurrency in ("1", "4"):
            (tmp_path / concurrency).mkdir()
            monkeypatch.chdir(tmp_path / concurrency)  # the report says where the policy is
            assert run_command(words(town_files, server, "run", "--concurrency", concurrency)) == 0
        halves = server.answered[:54], server.answered[54:]
    assert sorted(halves[0]) == sorted(halves[1])
    assert files_of(tmp_path / "1") == files_of(tmp_path / "4")


def test_a_budget_that_is_spent_ends_with_one_line_and_a_higher_one_goes_on(town_files, tmp_path, error_of):
    with Reading() as server:
        asked = words(town_files, server, tmp_path / "run", "--concurrency", "3")
        assert "20 calls spent, limit 20" in error_of([*asked, "--max-calls", "20"], notes=True).splitlines()[-1]
        assert len(server.answered) == 20
        assert run_command(asked) == 0
        assert len(server.answered) == len(set(server.answered)) == 54


# -- the forecast ----------------------------------------------------------------------------------------------


def test_a_dry_run_tells_calls_tokens_and_dollars_and_asks_nobody(town_files, tmp_path, output_of, json_of):
    """Nine questions: two answers from evidence, one from memory, one of five samples, six checks each, at most."""
    with Reading() as server:
        asked = words(town_files, server, tmp_path / "run", "--dry-run")
        output = json_of([*asked, "--json"])
        assert output["calls"] == {"check": 54, "generate": 18, "recall": 9, "recall_freely": 9}
        assert output["completion"] == (54 + 18 + 9 + 5 * 9) * 200
        assert output["dollars"] == pytest.approx((output["prompt"] * 1 + output["completion"] * 2) / 1e6)
        assert "at most 90 calls" in output_of(asked)
        seen = json_of([*asked, "--consistency", "evidence", "--json"])["calls"]  # samples from each evidence, too
        assert seen == output["calls"] | {"generate_freely": 18}
        assert server.calls == []
        assert not (tmp_path / "run").exists()
        assert run_command(asked[:-1]) == 0
        assert len(server.answered) <= 90
        output = [call.body["messages"] for call in server.asked]
    assert all(len(messages) == 2 for messages in output)


def test_a_forecast_leaves_out_what_is_done(town_files, tmp_path, capsys):
    with Reading() as server:
        asked = words(town_files, server, tmp_path / "run", "--concurrency", "1")
        assert run_command([*asked, "--max-calls", "20"]) == 2  # six a question: three are done
        capsys.readouterr()
        assert run_command([*asked, "--dry-run"]) == 0
    assert "6 questions to ask, 3 are done: at most 60 calls" in capsys.readouterr().out


def test_without_a_price_the_cost_is_unknown_and_without_a_model_nobody_is_asked(town_files):
    config = HeldOutConfig(corpus=town_files[1], documents=town_files[3], reader="extract")
    corpus = experiment.corpus_of(config)
    pipeline = held_out.pipeline_of(config, corpus)
    config = experiment.split(config, corpus)
    expected = forecast(config, pipeline, ModelConfig())
    assert (expected.calls, expected.dollars, expected.questions) == ({}, 0.0, 9)
    asking = HeldOutConfig(corpus=town_files[1], train=6, held_out=3, model="mine")
    assert "cost unknown" in forecast(asking, pipeline, ModelConfig(model="mine")).message


# -- who answers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "reason"),
    [(["--reader", "extract"], "nothing to do"), (["--simulate-memory"], "simulate_memory")],
)  # fmt: skip
def test_a_model_without_use_is_refused(town_files, tmp_path, error_of, more, reason):
    with Reading() as server:
        assert reason in error_of(words(town_files, server, tmp_path / "run", *more))
        assert server.calls == []


def test_rules_answer_and_a_model_checks(town_files, tmp_path):
    with Reading() as server:
        asked = words(town_files, server, tmp_path / "run", "--reader", "extract", "--nli", "model")
        assert run_command(asked) == 0
        assert {call.body["response_format"]["json_schema"]["name"] for call in server.asked} == {"EntailmentVerdict"}
    reader = json.loads((tmp_path / "run" / "policy.json").read_text())["reader"]
    assert reader == "answered by rules without memory, checked by tester, temperature 0.3"


def test_a_model_is_for_questions(tmp_path, capsys):
    for more in (["--model", "x"], ["--dry-run"]):
        assert run_command(["train", "grace", "--from-table", str(tmp_path / "t.csv"), *more]) == 2
        assert "--model and --dry-run are for questions" in capsys.readouterr().err
