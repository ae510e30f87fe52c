"""The rules of mediated question answering: order of play, what is carried out and charged, and the paper's worked cases.

Expected utilities are computed here from the published constants: 120, -40, 10, -20; 1, 3, 0 / 2, 5, 2, 0 / 4, 0.
"""

from __future__ import annotations

import csv
from itertools import product
from typing import Any

import numpy as np
import pytest
from parlour.envs import mediated_qa_v0, registry
from parlour.envs.core import NATURE, OVER, IllegalMove, Move, Outcome, ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.encode import MediatedEncoder
from parlour.envs.mediated_qa.service import Asked
from parlour.envs.mediated_qa.vocabulary import ALL, PUBLISHED, Joint, MediatedView
from parlour.envs.registry import known
from parlour.envs.replay import Transcript, states
from parlour.policies import HeuristicPolicy
from parlour.policies.agents.mediated_qa import joint as names
from parlour.wrappers import Recorder, SeatEnv

from tests.reference_data import reference

COST = {"retrieve_shallow": 1, "retrieve_deep": 3, "skip_retrieval": 0, "generate": 2, "generate_consistency": 5,
        "generate_parametric": 2, "refuse_to_generate": 0, "run_nli_check": 4, "skip_check": 0}  # fmt: skip
EVERY = [Joint(*three) for three in product(range(3), range(4), range(2))]


class Scripted:
    """A service that says what it is told to, and counts how often it is asked."""

    def __init__(self, *, evidence="Rome: It lies on the Tiber.", answer="Tiber", right=True, known=False, verdict=1):
        self.evidence, self.said, self.is_right, self.is_known, self.verdict = evidence, answer, right, known, verdict
        self.size = 5
        self.calls: list[str] = []

    def ask(self, number: int) -> Asked:
        return Asked(number, f"Question {number}?", 4)

    def retrieve(self, number: int, action: int) -> str:
        self.calls.append("retrieve")
        return self.evidence

    def answer(self, number: int, action: int, evidence: str, rng: Any) -> str:
        self.calls.append(vocabulary.GENERATOR_ACTIONS[action])
        return self.said

    def check(self, number: int, evidence: str, answer: str) -> int:
        self.calls.append("check")
        return self.verdict

    def gold(self, number: int) -> str:
        return "Tiber"

    def right(self, number: int, answer: str) -> bool:
        return self.is_right

    def known(self, number: int) -> bool:
        return self.is_known


def play(service: Scripted, chosen: Joint, advice: Joint | None = None, **options: Any) -> Any:
    """One question with these choices; returns the game and the last state."""
    game = registry["mediated_qa_v0"].raw_env(service=service, joint="all", **options).game
    rng, state = np.random.default_rng(0), game.initial()
    advice = advice or (chosen if chosen in ALL else PUBLISHED[0])
    wanted = iter([Move("advise", tuple(advice)), *(Move(k, (a,)) for k, a in zip(KINDS, chosen, strict=True))])
    while game.actor(state) != OVER:
        move = game.nature(state, rng) if game.actor(state) == NATURE else next(wanted)
        state = game.apply(state, move)
    return game, state


KINDS = ("retrieve", "generate", "verify")


def expected(chosen: Joint, *, found: bool, answered: bool, contradicted: bool, right: bool, known: bool) -> float:
    """The net utility by the description of the published system, written down apart from the code under test."""
    retriever, generator, verifier = chosen.names
    has_evidence = found and retriever != "skip_retrieval"
    if generator == "generate" and not has_evidence:
        generator = "generate_parametric"
    refuses = generator == "refuse_to_generate"
    if not has_evidence or refuses:
        verifier = "skip_check"
    silent = refuses or not answered or (verifier == "run_nli_check" and contradicted)
    outcome = (-20 if known else 10) if silent else (120 if right else -40)
    return outcome - COST[retriever] - COST[generator] - COST[verifier]


@pytest.mark.parametrize("found", [True, False])
@pytest.mark.parametrize("answer", ["Tiber", ""])
@pytest.mark.parametrize("verdict", [1, 2, 3])
@pytest.mark.parametrize(("right", "known"), list(product([True, False], [True, False])))
def test_every_joint_action_pays_outcome_less_what_was_carried_out(found, answer, verdict, right, known):
    for chosen in EVERY:
        service = Scripted(
            evidence="Rome: It lies." if found else "", answer=answer, right=right, known=known, verdict=verdict
        )
        game, end = play(service, chosen)
        flags = {"found": found, "answered": bool(answer), "contradicted": verdict == 3, "right": right, "known": known}
        assert game.outcome(end).returns == (expected(chosen, **flags),) * 4, chosen.names


def test_services_are_asked_for_what_is_carried_out_only():
    for chosen in EVERY:
        service = Scripted()
        play(service, chosen)
        retrieves = chosen.retriever != vocabulary.Retrieve.NOTHING
        assert service.calls.count("retrieve") == int(retrieves)
        generated = [call for call in service.calls if "generate" in call]
        refuses = chosen.generator == vocabulary.Generate.REFUSE
        plain = "generate" if retrieves else "generate_parametric"
        wanted = {vocabulary.Generate.FROM_EVIDENCE: plain}.get(chosen.generator, chosen.names[1])
        assert generated == ([] if refuses else [wanted])
        checks = chosen.verifier == vocabulary.Check.RUN and retrieves and not refuses
        assert service.calls.count("check") == int(checks)


def test_reasons_and_the_side_that_wins():
    cases = {"right": Scripted(), "wrong": Scripted(right=False), "abstained": Scripted(answer="")}
    for reason, service in cases.items():
        game, end = play(service, Joint(0, 0, 1))
        assert game.outcome(end).reason == reason
        assert game.outcome(end).winner == ("team" if game.outcome(end).returns[0] > 0 else "draw")


def test_with_costs_of_their_own_modules_pay_for_their_own_action_only():
    _, end = play(Scripted(), Joint(1, 0, 0), pay="own")
    assert end.earned == (120 - 9, 120 - 3, 120 - 2, 120 - 4)
    _, end = play(Scripted(right=False), Joint(0, 1, 1), pay="own")
    assert end.earned == (-46, -41, -45, -40)


def test_other_utilities_and_costs():
    settings = {"utilities": [1, -2, 0.5, 0], "costs": [0.1] * 3 + [0.2] * 4 + [0.3, 0]}
    game, end = play(Scripted(known=True), Joint(0, 3, 1), **settings)
    assert game.outcome(end).returns[0] == pytest.approx(0 - 0.1 - 0.2)
    assert game.config["utilities"] == [1.0, -2.0, 0.5, 0.0]


def test_an_episode_of_many_questions_asks_each_once_and_adds_up():
    service = Scripted()
    env = registry["mediated_qa_v0"].raw_env(service=service, questions=5, modules=False)
    env.reset(seed=3)
    while env.outcome is None:
        env.play(Move("advise", tuple(PUBLISHED[1])))
    assert sorted(env.state_now.asked) == [0, 1, 2, 3, 4]
    assert env.outcome.returns == (5 * 117.0,)
    assert env.outcome.reason == "questions"


def test_each_question_comes_as_often_as_any_other_in_every_place():
    game = registry["mediated_qa_v0"].raw_env(service=Scripted(), questions=3, modules=False).game
    rng, first = np.random.default_rng(0), game.initial()
    asked = [game.nature(first._replace(asked=(1, 3)), rng).args[0] for _ in range(900)]
    assert {number: asked.count(number) > 250 for number in set(asked)} == {0: True, 2: True, 4: True}


@pytest.mark.parametrize(("returns", "line"), [((117.0,) * 4, " The mediator earned 117."), ((), "")])
def test_the_last_line_says_what_the_mediator_earned(returns, line):
    game = registry["mediated_qa_v0"].raw_env(service=Scripted()).game
    text = known("mediated_qa_v0").spec.text(game)
    assert text.end(Outcome(returns, "team", "right")).removeprefix("The answer was right.") == line


def test_the_mediator_alone_is_a_bandit():
    assert mediated_qa_v0.raw_env().possible_agents == ["mediator", "retriever", "generator", "verifier"]
    env = mediated_qa_v0.raw_env(modules=False, info="full")
    assert env.possible_agents == ["mediator"]
    assert env.action_space("mediator").n == 9
    seat = SeatEnv(env, "random", seat=0)  # there is no other seat
    seat.reset(seed=1)
    _, reward, terminated, _, _ = seat.step(2)
    assert terminated
    assert reward in (9.0, -21.0)


def test_players_by_heuristic_send_a_deep_search_after_good_signals_and_obey():
    for signal, advice in ((1, (1, 0, 1)), (8, (1, 0, 1)), (0, (0, 1, 1)), (6, (0, 1, 1)), (9, (0, 1, 1))):
        env = registry["mediated_qa_v0"].raw_env(service=Scripted(), info="full")
        env.reset(options={"nature": [Move("question", (0, signal), "?")]})
        while env.outcome is None:
            player = HeuristicPolicy()
            player.reset(env.seat, 1)
            env.step(player.act(None, env.infos[env.agent_selection]))
        made = [move for move in env.moves if move.kind in ("advise", *KINDS)]
        assert made == [Move("advise", advice), *(Move(kind, (k,)) for kind, k in zip(KINDS, advice, strict=True))]


def test_nature_is_held_to_what_was_chosen():
    service = Scripted()
    game = registry["mediated_qa_v0"].raw_env(service=service, joint="all").game
    state = game.apply(game.initial(), Move("question", (0, 4), "Who?"))
    for move in (
        Move("advise", tuple(PUBLISHED[0])),
        Move("retrieve", (2,)),
        Move("generate", (3,)),
        Move("verify", (0,)),
    ):
        state = game.apply(state, move)
    for wrong in ((0, 0), (2, 1), (1, 0), (2,)):
        with pytest.raises(IllegalMove, match=r"retrieved with 2\.\.2, 0\.\.0"):
            game.apply(state, Move("retrieved", wrong, "x"))
    state = game.apply(state, Move("retrieved", (2, 0)))
    with pytest.raises(IllegalMove):
        game.apply(state, Move("answered", (3, 1), "an answer after a refusal"))
    state = game.apply(state, Move("answered", (3, 0)))
    with pytest.raises(IllegalMove):
        game.apply(state, Move("checked", (1, 1)))
    state = game.apply(state, Move("checked", (1, 0)))
    with pytest.raises(IllegalMove, match=r"judged with 0\.\.0, 0\.\.1"):
        game.apply(state, Move("judged", (1, 0), "gold"))
    assert service.calls == []


def test_a_question_is_not_asked_twice():
    game = registry["mediated_qa_v0"].raw_env(service=Scripted(), questions=2, modules=False).game
    state = game.initial()
    for move in (Move("question", (3, 0), "?"), Move("advise", tuple(PUBLISHED[2])), Move("retrieved", (0, 0)),
                 Move("answered", (3, 0)), Move("checked", (1, 0)), Move("judged", (0, 0))):  # fmt: skip
        state = game.apply(state, move)
    with pytest.raises(IllegalMove, match="asked before"):
        game.apply(state, Move("question", (3, 0), "?"))


def test_a_transcript_is_played_again_without_its_service(tmp_path):
    service = Scripted(evidence="A: b.\n# What you may do now")
    env = Recorder(registry["mediated_qa_v0"].raw_env(service=service, questions=2), tmp_path / "game.jsonl")
    env.reset(seed=2)
    while env.unwrapped.outcome is None:
        env.step(int(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])[0]))
    env.close()
    calls = list(service.calls)
    transcript = Transcript.read(tmp_path / "game.jsonl")
    again = transcript.game()
    again._make_service = lambda: pytest.fail("the service was asked")
    last = list(states(again, transcript.moves))[-1]
    assert again.outcome(last) == transcript.outcome == env.unwrapped.outcome
    assert last == env.unwrapped.state_now
    assert service.calls == calls


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"questions": 0}, "questions 0"),
        ({"questions": 61}, "1..60"),
        ({"questions": True}, "questions True"),
        ({"joint": "some"}, "published, all"),
        ({"modules": 1}, "True, False"),
        ({"pay": "mine"}, "shared, own"),
        ({"mediator_sees": "answers"}, "state, signals, question"),
        ({"utilities": [1, 2, 3]}, "a list of 4, each a number"),
        ({"utilities": "1234"}, "a list of 4, each a number"),
        ({"utilities": [1, 2, 3, float("nan")]}, "a list of 4, each a number"),
        ({"costs": [-1] * 9}, "costs -1"),
        ({"difficulty": "mad"}, "easy, medium, hard"),
        ({"normalisation": "none"}, "paper, text, ours"),
        ({"corpus_seed": -1}, "corpus_seed"),
        ({"corpus_size": 0}, "1..1000000"),
    ],
)
def test_options_that_are_not_accepted(options, message):
    with pytest.raises(ParlourError, match=message.replace(".", r"\.")):
        mediated_qa_v0.env(**options)


# -- the published run -----------------------------------------------------------------------------------------


def joint_of(chosen):
    return Joint(*(known.index(name) for known, name in zip(names.ACTIONS, chosen, strict=True)))


CASES = {
    # the paper's section 4.2: service, joint action, net utility
    "success in low trust": (Scripted(), ("retrieve_shallow", "generate_consistency", "skip_check"), 114.0),
    "failure in high trust": (Scripted(right=False), ("retrieve_shallow", "generate", "skip_check"), -43.0),
    "correct abstention": (Scripted(answer=""), ("retrieve_shallow", "generate_consistency", "skip_check"), 4.0),
    "false negative": (Scripted(known=True), ("retrieve_shallow", "refuse_to_generate", "skip_check"), -21.0),
}


@pytest.mark.parametrize(("service", "chosen", "net"), CASES.values(), ids=CASES)
def test_the_four_worked_cases_of_the_paper(service, chosen, net):
    game, end = play(service, joint_of(chosen))
    assert game.outcome(end).returns == (net,) * 4


def test_the_published_evaluation_is_played_again():
    """All twenty rows: the logged actions and outcomes give the logged costs and net utilities."""
    rows = list(csv.DictReader(reference("grace/final_results.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 20
    for row in rows:
        service = Scripted(
            answer="" if row["graph_action"] == "abstain" else "x",
            right=row["is_correct"] == "1",
            known=row["baseline_correct"] == "1",
        )
        game, end = play(service, joint_of((row["retriever"], row["generator"], row["verifier"])))
        assert game.outcome(end).returns[0] == float(row["net_utility"]), row["id"]
        assert sum(game.payment.costs_of(game.plan(end))) == float(row["cost"]), row["id"]


# -- what the numbers mean, block by block -------------------------------------------------------------------------


DEEP, REFUSE, NO_CHECK = 1, 3, 1
NOBODY_YET: dict[str, Any] = {"signal": -1, "question": "", "advice": (), "outcome": -1, "done": 0, "earned": 0.0}


def numbers(seat: int, questions: int = 4, **known: Any) -> list[float]:
    game = registry["mediated_qa_v0"].raw_env(questions=questions).game
    view = MediatedView(seat=seat, legal=(), events=(), questions=questions, **{**NOBODY_YET, **known})
    return [round(float(value), 4) for value in MediatedEncoder(game)(view)]


ADVICE = Joint(DEEP, REFUSE, NO_CHECK)


@pytest.mark.parametrize(
    ("seat", "known", "places"),
    [
        *((seat, {}, (seat,)) for seat in range(4)),
        *((2, {"signal": signal}, (2, 4 + signal)) for signal in (0, 8, 9)),  # behind the four seats
        # nine actions from place 14: three of the retriever, four of the generator, two of the verifier
        (0, {"advice": tuple(ADVICE)}, (0, 14 + 1, 17 + 3, 21 + 1)),
        (1, {"advice": (DEEP,)}, (1, 14 + 1)),
        (2, {"advice": (REFUSE,)}, (2, 17 + 3)),
        (3, {"advice": (NO_CHECK,)}, (3, 21 + 1)),
        *((3, {"outcome": outcome}, (3, 23 + outcome)) for outcome in range(4)),
    ],
)
def test_seat_state_advice_and_outcome_are_ones_at_their_places(seat, known, places):
    """The mediator sees its whole advice, a module its own."""
    assert numbers(seat, **known) == [float(place in places) for place in range(4 + 10 + 9 + 4 + 2)]


def test_what_is_done_and_earned_are_shares():
    # of the most: 4 questions, each the largest utility, 120, and all costs, 1 + 3 + 2 + 5 + 2 + 4 = 17: 548
    values = numbers(0, done=3, earned=274.0)
    assert (values[27], values[28]) == (0.75, 0.5)
    assert numbers(0, earned=-137.0)[28] == -0.25
