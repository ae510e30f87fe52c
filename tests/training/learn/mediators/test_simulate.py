"""Calibration agrees with the game that is played, is taken up where it stopped, and the comparison counts right."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.envs.core import NATURE, OVER, Move, ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline, generated
from parlour.envs.mediated_qa.vocabulary import ALL, PUBLISHED, STATES, Payment
from parlour.envs.registry import registry
from parlour.policies.agents.mediated_qa import policy_file
from parlour.policies.agents.mediated_qa.joint import FALLBACK
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.training import statistics
from parlour.training.learn.mediators import baselines, held_out
from parlour.training.learn.mediators.experiment import HeldOutConfig
from parlour.training.learn.mediators.learn import GraceConfig, fit_policy
from parlour.training.learn.mediators.simulate import Simulated, calibrate, simulate, table


class Counting:
    """A pipeline that counts what it is asked."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline, self.calls = pipeline, []

    def __getattr__(self, name):
        method = getattr(self._pipeline, name)
        if name in ("retrieve", "answer", "check", "right"):
            return lambda *args: (self.calls.append((name, args[:2])), method(*args))[1]
        return method


@pytest.fixture(scope="module")
def pipeline():
    return generated(7, 120, "medium", "ours")


def test_every_joint_action_earns_what_it_earns_in_the_game(pipeline):
    """The game is played with the draws of the simulation, all 17 joint actions on each question."""
    game = registry["mediated_qa_v0"].raw_env(service=pipeline, joint="all", modules=False).game
    unlinked = [number for number in range(120) if not pipeline.starts(number)]
    assert unlinked
    for number in (*range(0, 120, 4), *unlinked):
        row = simulate(pipeline, number, Payment(), seed=3)
        asked = pipeline.ask(number)
        assert row.state == STATES[asked.state]
        for k, joint in enumerate(ALL):
            state = game.apply(game.initial(), Move("question", (number, asked.state), asked.text))
            state = game.apply(state, Move("advise", tuple(joint)))
            while game.actor(state) != OVER:
                assert game.actor(state) == NATURE
                generator = game.plan(state).generator
                state = game.apply(state, game.nature(state, np.random.default_rng((3, number, generator))))
            assert game.outcome(state).returns == (row.utilities[k],), (number, joint)
            assert state.outcome == row.outcomes[k]


def test_shared_stages_are_computed_once(pipeline):
    counting = Counting(pipeline)
    for number in range(40):
        counting.calls.clear()
        simulate(counting, number, Payment())
        names = [name for name, _ in counting.calls]
        assert names.count("retrieve") == 2
        assert names.count("answer") <= 4
        assert names.count("check") <= 6
        assert names.count("right") <= 4
        assert len(set(counting.calls)) >= names.count("retrieve") + 2


def test_a_table_has_the_shape_of_the_published_one(pipeline):
    rows = calibrate(pipeline, range(30))
    result = table(rows, "published", pipeline.bins)
    assert result.actions == tuple(joint.names for joint in PUBLISHED)
    assert result.ids == tuple(map(str, range(30)))
    assert result.states == tuple(row.state for row in rows)
    assert result.utilities.tolist() == [[row.utilities[ALL.index(joint)] for joint in PUBLISHED] for row in rows]
    assert list(result.thresholds) == ["reliability", "degree", "len", "coherence", "diversity"]
    assert table(rows, "all").utilities.shape == (30, 17)
    assert result.dumps().splitlines()[0].split(",")[2:4] == ["u_shallow_gen_nli", "u_shallow_gen_nocheck"]


# -- taken up --------------------------------------------------------------------------------------------------


def test_a_partial_table_of_another_run_is_refused(pipeline, tmp_path):
    out = tmp_path / "partial.csv"
    for begun in ("", "# see"):  # an empty one is begun
        out.write_text(begun)
        calibrate(pipeline, range(3), seed=1, out=out)
    kept = out.read_text()
    with pytest.raises(ParlourError, match="not a table of this run"):
        calibrate(pipeline, range(3), seed=2, out=out)
    with pytest.raises(ParlourError, match="not a table of this run"):
        calibrate(pipeline, range(3), seed=1, out=out, payment=Payment((1.0, 0.0, 0.0, 0.0)))
    assert out.read_text() == kept
    for wrong, message in (("x,T:low_Q:low", "line 6"), ("9,T:low_Q:low,1", "accepted: 41"), ("9,nowhere", "state")):
        out.write_text(f"{kept}{wrong}\n")
        with pytest.raises(ParlourError, match=message):
            calibrate(pipeline, range(3), seed=1, out=out)


def test_answers_are_those_that_were_judged(pipeline):
    for row in (simulate(pipeline, number, Payment()) for number in range(40)):
        for outcome, answer in zip(row.outcomes, row.answers, strict=True):
            if outcome <= vocabulary.Judgement.ANSWERED_WRONG:
                assert pipeline.right(row.number, answer) == (outcome == vocabulary.Judgement.ANSWERED_RIGHT)


# -- the comparison --------------------------------------------------------------------------------------------


def row(number: int, state: str, outcomes: dict[int, int]) -> Simulated:
    """A question on which all is answered wrong but for these; costs are left out."""
    results = [outcomes.get(k, vocabulary.Judgement.ANSWERED_WRONG) for k in range(17)]
    return Simulated(number, state, tuple((120.0, -40.0, 10.0, -20.0)[result] for result in results), tuple(results))


BOOK, RAG = ALL.index(baselines.CLOSED_BOOK), ALL.index(baselines.GRAPH_RAG)
SHY = ALL.index(vocabulary.FALLBACK)
ROWS = [
    row(0, "T:low_Q:low", {BOOK: 0, SHY: 3}),
    row(1, "T:low_Q:low", {RAG: 0, SHY: 2}),
    row(2, "T:mid_Q:mid", {BOOK: 0, RAG: 0, SHY: 3}),
    row(3, "s0", {SHY: 2}),
]


def test_baselines_on_four_questions():
    assert baselines.fixed("x", baselines.CLOSED_BOOK, ROWS).utility.tolist() == [120, -40, 120, -40]
    assert baselines.fixed("x", baselines.GRAPH_RAG, ROWS).right.tolist() == [0, 1, 1, 0]
    sure = baselines.refusing(ROWS, [0.9, 0.1, 0.69, 0.7], Payment())
    assert sure.utility.tolist() == [120, 8, -22, -40]
    assert sure.answered.tolist() == [1, 0, 0, 1]
    assert sure.right.tolist() == [1, 0, 0, 0]
    assert baselines.oracle(ROWS).utility.tolist() == [120, 120, 120, 10]
    assert baselines.best_static(ROWS[:1], ROWS).utility.tolist() == [120, -40, 120, -40]
    assert baselines.best_static(ROWS[1:2], ROWS).utility.tolist() == [-40, 120, 120, -40]


def test_a_learned_policy_is_scored_by_what_it_earns_in_expectation():
    policy = PolicyTable({"T:low_Q:low": {baselines.CLOSED_BOOK.names: 0.75, FALLBACK: 0.25}})
    played = baselines.learned("x", policy, ROWS)
    assert played.utility.tolist() == [0.75 * 120 - 0.25 * 20, -0.75 * 40 + 0.25 * 10, -20, 10]
    assert played.answered.tolist() == [0.75, 0.75, 0, 0]
    assert played.right.tolist() == [0.75, 0, 0, 0]


def test_the_four_metrics():
    systems = [baselines.fixed("a", baselines.GRAPH_RAG, ROWS), baselines.fixed("b", vocabulary.FALLBACK, ROWS)]
    first, second = baselines.score(systems)
    assert first.accuracy.value == first.reliability.value == 0.5
    assert (first.abstention.value, second.abstention.value) == (0, 1)
    assert second.reliability is None
    assert second.utility.value == -5
    assert second.difference.value == 40 + 5
    assert baselines.scores_table([first, second], "").texts()[1][4] == "-"


def test_intervals():
    """Right among answered: as a mean over the questions that were answered."""
    rng = np.random.default_rng(0)
    answered, right = rng.random(4000) < 0.5, rng.random(4000) < 0.3
    played = baselines.SystemAnswers("x", np.zeros(4000), answered.astype(float), (answered & right).astype(float))
    plain, share = statistics.Estimate.mean(right[answered], statistics.SHARE), baselines.reliability(played)
    assert (share.n, share.value) == (answered.sum(), pytest.approx(plain.value))
    assert (share.low, share.high) == pytest.approx((plain.low, plain.high))


def test_nothing_to_score_on_is_refused():
    with pytest.raises(ParlourError, match="no questions"):
        baselines.fixed("x", baselines.CLOSED_BOOK, [])


# -- the experiment --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("difficulty", "train", "test_size"),
    [("easy", 500, 500), pytest.param("medium", 2000, 1000, marks=pytest.mark.nightly)],
)
def test_the_learned_mediator_beats_every_baseline_on_questions_it_has_not_seen(difficulty, train, test_size):
    """The second on a corpus of the size that is reported; the interval of the paired difference lies above zero."""
    calibrated = held_out.prepare(HeldOutConfig(difficulty=difficulty, train=train, held_out=test_size))
    scores = held_out.compare(calibrated, {"learned": fit_policy(calibrated.table, GraceConfig()).policy})
    for score in scores[1:-1]:
        assert score.difference.low > 0, score
    assert scores[-1].difference.high < 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"train": 1}, "from 2"), ({"difficulty": "x"}, "easy"), ({"joint": "x"}, "published"),
        ({"guide": -1.0}, "from 0"), ({"normalisation": "x"}, "ours")],
)  # fmt: skip
def test_experiments_that_are_not_accepted(settings, message):
    with pytest.raises(ParlourError, match=message):
        HeldOutConfig(**settings)
    with pytest.raises(ParlourError, match="at least 3000"):
        held_out.prepare(HeldOutConfig(), corpus=generate(seed=1, size=20, difficulty="easy"))


@pytest.mark.slow
def test_the_command_learns_from_generated_questions_and_compares(tmp_path, output_of, json_of):
    words = f"train grace --questions 60 --held-out 30 --difficulty easy --out {tmp_path}"
    arguments = words.split()
    output = json_of([*arguments, "--json"])
    assert sum(output["questions"].values()) == 60
    assert [score["n"] for score in output["scores"]] == [30] * 7
    assert "GraphRAG" in output_of(arguments)
    assert policy_file.read(tmp_path / "policy.json").rows
    assert (tmp_path / "scores.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("", "--from-table FILE or --questions N"),
        ("--questions 9 --from-table x.csv", "--from-table FILE or --questions N"),
        ("--questions 9 --difficulty mad", "easy, medium, hard"),
    ],
)
def test_the_command_learns_from_one_thing(arguments, reason, error_of, tmp_path):
    assert reason in error_of(["train", "grace", *arguments.split(), "--out", str(tmp_path)])
