"""A mediator for questions of one's own: from a file of questions to the policy and the scores, at one's own stakes."""

from __future__ import annotations

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS
from parlour.envs.mediated_qa.pipeline import generated
from parlour.envs.mediated_qa.vocabulary import ALL, Payment
from parlour.policies.agents.mediated_qa import policy_file
from parlour.training.cli import run as run_command
from parlour.training.learn.mediators import baselines, costs, experiment, held_out, readers, simulate
from parlour.training.learn.mediators.experiment import HeldOutConfig
from parlour.training.learn.mediators.learn import GraceConfig, fit_policy
from parlour.training.learn.mediators.simulate import Simulated, calibrate

from tests.envs.mediated_qa.corpora.test_corpora import write

TOWNS = [
    f"{first}{last}" for first in ("Bel", "Cor", "Dan", "Fir", "Gol", "Hul") for last in ("ford", "wick", "ton", "mere")
]
DEAR = Payment((100.0, -200.0, 5.0, -5.0), (1.0, 4.0, 0.0, 2.0, 5.0, 2.0, 0.0, 4.0, 0.0))


@pytest.fixture
def town_files(tmp_path):
    """A question about each of 24 towns, which its document answers, and 12 that no document answers."""
    text = "{0} is a town near {1}. The town of {0} was founded in {2}. Its market belongs to {1}."
    documents, entries = {}, []
    for k, town in enumerate(TOWNS):
        documents[f"{town}.txt"] = text.format(town, TOWNS[(k + 5) % len(TOWNS)], 1801 + k)
        entries.append(
            {"id": f"founded-{town}", "question": f"In which year was {town} founded?", "answer": str(1801 + k)}
        )
        if k % 2:
            entries.append({"id": f"burnt-{town}", "question": f"In which year did {town} burn?", "answer": ""})
    return ["--corpus", str(write(tmp_path, entries, documents)), "--documents", str(tmp_path / "documents")]


@pytest.fixture
def setting(town_files):
    """`setting(**more)`: the experiment on these files."""
    return lambda **more: HeldOutConfig(corpus=town_files[1], documents=town_files[3], **more)


@pytest.fixture
def by_rules(town_files, tmp_path):
    """The command that learns from these files, answered by rules."""
    return ["train", "grace", *town_files, "--reader", "extract", "--out", str(tmp_path / "run")]


# -- from a corpus to a policy ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_learns_from_a_corpus_and_compares(by_rules, tmp_path, json_of):
    output = json_of([*by_rules, "--json"])
    assert sum(output["questions"].values()) == 24  # two thirds of 36
    assert {score["n"] for score in output["scores"]} == {12}
    folder = tmp_path / "run"
    assert policy_file.read(folder / "policy.json").rows
    kept = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert {"scores.csv", "states.csv", "table.csv", "partial.csv", "config.json"} <= set(kept)
    ids = [line.split(",")[0] for line in (folder / "calibration" / "table.csv").read_text().splitlines()[1:]]
    assert len(set(ids)) == 24
    assert all(name.startswith(("founded-", "burnt-")) for name in ids)
    assert run_command(by_rules) == 0  # resumed: nothing changes
    assert {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == kept


def test_questions_are_split_by_the_seed_and_none_is_lost(setting):
    orders = [experiment.corpus_of(setting(seed=seed)).questions for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])
    split = experiment.split(setting(held_out_share=0.25), experiment.corpus_of(setting()))
    assert (split.train, split.held_out) == (27, 9)


# -- what the mediator sees ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_mediator_that_sees_the_question_is_learned_compared_and_kept(by_rules, tmp_path, json_of):
    pytest.importorskip("sklearn")
    arguments = [*by_rules, "--sees", "question", "--temperature", "3", "--floor", "0.01", "--deploy", "learned"]
    names = [score["name"] for score in json_of([*arguments, "--json"])["scores"]]
    assert names[:3] == ["learned mediator that sees the question", "learned table of states", "question form x state"]
    assert names[3:] == ["no retrieval", "GraphRAG", "refusal by self-reported confidence", names[6], "oracle"]
    policy = policy_file.read(tmp_path / "run" / "policy.json")
    assert policy.contextual is not None
    assert policy.contextual.sees == "question"
    contexts = (tmp_path / "run" / "calibration" / "contexts.csv").read_text().splitlines()
    assert contexts[0].split(",") == ["id", *vocabulary.FEATURES]
    assert len(contexts) == 1 + 36
    kept = (tmp_path / "run" / "policy.json").read_bytes()
    assert run_command(arguments) == 0
    assert (tmp_path / "run" / "policy.json").read_bytes() == kept


# -- stakes ----------------------------------------------------------------------------------------------------


def test_costs_are_nine_numbers_or_names():
    assert costs.stated(None) == Payment().costs
    assert costs.stated("1,2,3,4,5,6,7,8,9") == (1, 2, 3, 4, 5, 6, 7, 8, 9)
    assert costs.stated("generate=0.5, run_nli_check=8") == (1, 3, 0, 0.5, 5, 2, 0, 8, 0)
    for wrong, message in (
        ("1,2", "9 numbers"),
        ("generate=x", "9 numbers"),
        ("think=1", "generate"),
        ("1,generate=2", "9"),
    ):
        with pytest.raises(ParlourError, match=message):
            costs.stated(wrong)


def test_a_row_is_priced_anew_without_asking():
    """As if it had been simulated with the other payment; what is not found is not checked and not charged for."""
    pipeline = generated(7, 60, "medium", "ours")
    rows, dear = (calibrate(pipeline, range(60), payment=pays) for pays in (Payment(), DEAR))
    assert any(row.found == (False, False) for row in rows)
    assert [row.net(DEAR) for row in rows] == [row.utilities for row in dear]
    assert [row.net(Payment()) for row in dear] == [row.utilities for row in rows]


def test_what_prices_a_row_anew_is_stored_with_it(tmp_path):
    out, pipeline = tmp_path / "partial.csv", generated(7, 40, "medium", "ours")
    rows = calibrate(pipeline, range(40), out=out)
    assert simulate.calibrate(pipeline, range(40), out=out) == rows
    assert {row.found for row in rows} > {(True, True)}
    assert [row.confidence for row in rows] == [pipeline.confidence(number) for number in range(40)]
    odd = Simulated(1, "s0", rows[0].utilities, rows[0].outcomes, (True, False), 0.25, 'a, "b"')
    stamp = out.read_text().splitlines()[0]
    with simulate._growing(tmp_path / "odd.csv", stamp, PUBLISHED_ACTIONS) as add:
        add(odd)
    assert list(simulate.read_partial(tmp_path / "odd.csv", stamp).values()) == [odd]


def test_the_comparison_pays_as_the_run_does(setting):
    """The refusing baseline keeps silent on all, as its reader knows nothing: 5 for silence, 2 for the closed-book answer."""
    config = setting(reader="extract", utilities=DEAR.utilities, costs=DEAR.costs)
    calibrated = held_out.prepare(config, reader=readers.make(config))
    scores = held_out.compare(calibrated, {"learned": fit_policy(calibrated.table, GraceConfig()).policy})
    refusing = next(score for score in scores if score.name == "refusal by self-reported confidence")
    assert refusing.utility.value == pytest.approx(5 - 2)
    assert scores[1].utility.value == pytest.approx(5 - 2)
    asked = calibrated.held_out
    assert scores[2].utility.value == pytest.approx(
        sum(row.net(DEAR)[ALL.index(baselines.GRAPH_RAG)] for row in asked) / len(asked)
    )


# -- readers ---------------------------------------------------------------------------------------------------


def test_an_invented_memory_is_not_taken_for_an_answer_to_real_questions(town_files, setting, tmp_path, error_of):
    arguments = ["train", "grace", *town_files, "--out", str(tmp_path / "run")]
    for chosen in ([], ["--reader", "offline"]):
        assert "--simulate-memory" in error_of([*arguments, *chosen])
    assert not (tmp_path / "run").exists()
    with pytest.raises(ParlourError, match="simulate_memory"):
        readers.make(setting(reader="extract", simulate_memory=True))
