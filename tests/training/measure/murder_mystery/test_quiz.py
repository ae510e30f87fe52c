"""The quiz after a murder mystery: strict letters, shuffled options, win rates, what it takes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery.cases.case import Case, Character, Victim, dump
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.vocabulary.quiz import QuizQuestion
from parlour.policies.agents.murder_mystery.quiz import Quiz, QuizAnswer, Reader
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.model import Answered, OfflineModel, RequestContext
from parlour.training.measure.murder_mystery import games, quiz
from parlour.training.measure.murder_mystery.games import (
    GAME,
    CaseJob,
    CaseResult,
    CaseSetting,
    Verdict,
    in_folder,
    play_all,
    play_case,
)
from parlour.training.measure.murder_mystery.methods import METHODS, OP, PP, QUESTUM, method_of
from parlour.training.measure.murder_mystery.quiz import shuffled
from parlour.training.measure.murder_mystery.usage import CountedModel
from parlour.training.play import rollout

from tests.policies.agents.murder_mystery.players import game_of
from tests.reference_data import reference

SMALL = "seed:5:en:4:1"
OFFLINE = OfflineModel()


# -- options ---------------------------------------------------------------------------------------


@given(st.integers(2, 5), st.integers(0, 2**31), st.data())
def test_shuffling_keeps_the_key_with_its_option(n, seed, data):
    keys = data.draw(st.sets(st.integers(0, n - 1), min_size=1))
    options = tuple(f"option {k}" for k in range(n))
    question = QuizQuestion(id="q", points=5, kind="who", text="?", options=options, keys=tuple(sorted(keys)))
    permuted = shuffled(question, np.random.default_rng(seed))
    assert {permuted.options[key] for key in permuted.keys} == {options[key] for key in keys}
    assert sorted(permuted.options) == sorted(options)


def test_a_key_that_is_always_first_is_shown_everywhere():
    question = QuizQuestion(id="q", points=2, kind="one_relation", text="?", options=("a", "b", "c", "d"), keys=(0,))
    places = [shuffled(question, quiz.order_of(seed, 0, question, 0)).keys[0] for seed in range(400)]
    counts = np.bincount(places, minlength=4)
    assert ((counts - 100) ** 2 / 100).sum() < 16.27  # chi-square, 3 degrees of freedom, 0.1 %


class Shown(OfflineModel):
    """Keeps the options that a quiz shows; gives the option of a certain text, or answers by heuristic."""

    def __init__(self, wanted: str | None = None) -> None:
        super().__init__()
        self.wanted = wanted
        self.shown: list[tuple[str, ...]] = []

    def answer(self, question: Any, context: RequestContext) -> Answered[Any]:
        if isinstance(question, Quiz):
            self.shown.append(tuple(question.options.values()))
            if self.wanted is not None:
                letters = {words: letter for letter, words in question.options.items()}
                return Answered(QuizAnswer(reason="", answer=letters[self.wanted]))
        return super().answer(question, context)


def tiny() -> Case:
    """Two characters; Ada killed the second victim, nobody at the table the first. Ben is asked three questions."""
    ask = {"text": "Who?", "options": ("Ada", "Eve", "Cy"), "keys": (0,)}
    questions = (
        QuizQuestion(id="1", points=10, kind="individual", **ask),
        QuizQuestion(id="2", points=5, kind="suspect", pick=2, **ask),
        QuizQuestion(id="3", points=2, kind="one_relation", **{**ask, "keys": (1,)}),
    )
    return Case(
        id="tiny",
        title="Tiny",
        language="en",
        briefing="Dan and Eli died.",
        characters=(
            Character(name="Ada", script="I am Ada. I killed Eli.", murders=(False, True)),
            Character(name="Ben", script="I am Ben.", murders=(False, False)),
        ),
        victims=(Victim(name="Dan"), Victim(name="Eli")),
        questions=((), questions),
        omniscient=questions[:1],
    )


@pytest.fixture
def tiny_path(tmp_path):
    path = tmp_path / "tiny.json"
    path.write_text(dump(tiny()), encoding="utf-8")
    return str(path)


def views_of(reference: str) -> tuple[Case, list[Any]]:
    game = rollout.table(GAME, case=reference).game_env.game
    start = game.initial()
    return game.case, [game.view(start, seat) for seat in range(game.seats)]


def test_every_seat_is_asked_all_its_questions_as_often_as_wanted(tiny_path):
    case, views = views_of(tiny_path)
    model = Shown("Ada")
    marks = quiz.quiz(case, views, model, repetitions=4)
    assert [(mark.seat, mark.question, mark.right) for mark in marks] == [
        (1, "1", (True,) * 4),
        (1, "2", (True,) * 4),
        (1, "3", (False,) * 4),
    ]
    assert len(model.shown) == 12
    assert len(set(model.shown[:4])) > 1  # another order in another repetition
    assert [mark.sort for mark in marks] == ["objective", "reasoning", "relations"]


def test_with_the_own_script_alone_nothing_that_was_said_is_read():
    _, episode = game_of("questum", SMALL)
    question = find(SMALL).questions[0][0]
    heard = {
        scripts: Reader(episode.last_views[0], scripts).ask(question).dialogue for scripts in ("own", "own+dialogue")
    }
    assert heard["own"] == []
    assert heard["own+dialogue"]


# -- verdicts --------------------------------------------------------------------------------------------------


def test_a_victim_whom_no_player_murdered_is_in_no_win_rate(tiny_path):
    played = play_case(CaseJob(tiny_path, PP, 1), OFFLINE)
    assert [verdict.counts for verdict in played.verdicts] == [False, True]
    assert played.victims == 1
    assert played.solved <= 1


def test_half_of_the_votes_find_a_murderer_and_a_tie_finds_nobody(tiny_path):
    game = rollout.table(GAME, case=tiny_path).game_env.game
    both = games._verdict(game, (1, 1, 0, 0), 1)  # seat after seat: each names the other
    assert both == Verdict(1, True, -1, False)  # one vote each: a tie
    assert games._verdict(game, (1, 0, 0, 0), 1) == Verdict(1, True, 0, True)


@pytest.mark.parametrize("name", ["pp", "op"])
def test_without_a_game_everybody_votes_for_somebody_else(name):
    played = play_case(CaseJob("seed:9:en:6:2", METHODS[name], 1, CaseSetting(repetitions=0)), OFFLINE)
    assert played.asked == 0
    assert played.marks == ()
    assert played.play.asked == 12  # six players, two victims
    assert len(played.verdicts) == 2


def test_another_murderer_sits_at_the_murderers_seats_and_is_not_quizzed(tmp_path):
    case = find(SMALL)
    (guilty,) = case.murderers(0)
    setting, transcript = CaseSetting(rounds=1, repetitions=1), tmp_path / "game.jsonl"
    played = play_case(CaseJob(SMALL, QUESTUM, 1, setting, murderer="heuristic", transcript=transcript), OFFLINE)
    assert guilty not in {mark.seat for mark in played.marks}
    assert len({mark.seat for mark in played.marks}) == 3
    header = json.loads((tmp_path / "game.jsonl").read_text("utf-8").splitlines()[0])
    assert header["players"] == {f"player_{k}": "heuristic" if k == guilty else "questum:mode=score" for k in range(4)}


# -- playing ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def played() -> dict[str, CaseResult]:
    jobs = [
        CaseJob(SMALL, method, 7, CaseSetting(repetitions=2)) for method in {**METHODS, "questum": QUESTUM}.values()
    ]
    return {result.method: result for result in play_all(jobs, OFFLINE)}


def test_options_are_shuffled_by_the_seed_of_the_game_and_alike_for_all_methods():
    shown = []
    for method, seed in ((PP, 1), (OP, 1), (PP, 2)):
        model = Shown()
        played = play_case(CaseJob(SMALL, method, seed, CaseSetting(repetitions=1)), model)
        shown.append(model.shown[-len(played.marks) - len(played.omniscient) :][: len(played.marks)])
    same, other, else_ = shown
    assert same == other
    assert same != else_
    assert [sorted(options) for options in same] == [sorted(options) for options in else_]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_script_of_wellplay_is_played_and_all_its_questions_are_put(language):
    folder = reference(f"wellplay/{language}")
    script = min((name for name, _ in in_folder(folder)), key=lambda name: find(name).counts()["total"])
    case = find(script)
    played = play_case(CaseJob(script, QUESTUM, 1, CaseSetting(rounds=1, repetitions=1)), OFFLINE)
    assert len(played.marks) == case.counts()["total"]
    assert played.asked > 0
    assert played.quiz.asked == len(played.marks)


def test_a_command_plays_the_planner_by_the_name_of_questum_and_unknown_methods_are_refused():
    assert (method_of("questum").policy, QUESTUM.policy) == ("questum:mode=plan", "questum:mode=score")
    assert method_of("questum:prune=no").policy == "questum:prune=no"
    with pytest.raises(ParlourError, match="method 'chat' is not accepted"):
        method_of("chat")


# -- what it takes ---------------------------------------------------------------------------------------------


class Paid(OfflineModel):
    """Answers by heuristic, with two calls to pay for."""

    name, is_language_model = "paid", True

    def __init__(self, cost: float | None) -> None:
        super().__init__()
        self.cost = cost

    def answer(self, question: Any, context: RequestContext) -> Answered[Any]:
        call = {"ask": question.kind, "usage": {"prompt": 100, "completion": 10}, "cost": self.cost}
        return Answered(super().answer(question, context).value, 2, None, (call, call))


def test_one_unknown_price_makes_the_sum_unknown():
    assert (Decisions(dollars=1.0) + Decisions(dollars=None)).dollars is None
    tally = CountedModel(Paid(None))
    case, views = views_of(SMALL)
    Reader(views[0]).answer(tally, case.questions[0][0])
    assert tally.spent.dollars is None
    assert tally.part().spent == Decisions()
