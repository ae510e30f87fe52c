"""The six-module agent at the table: what it asks and when, what its questions may hold, and that nothing stops it."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.adapters.turn import take_turn
from parlour.envs.core import ParlourError
from parlour.envs.testing.twins import Played, Twins
from parlour.policies import AvalonAgent, BaselineAgent, ChatPlayer, make_policy
from parlour.policies.agents.avalon import Experience, Lesson, asks, notes
from parlour.policies.llm.ask import Ask
from parlour.policies.llm.model import Answered, RequestContext
from parlour.training.play import rollout

from tests.policies.llm import schema_fuzz

PLAYING = ["avalon_agent.analyse", "avalon_agent.devise", "avalon_agent.act", "avalon_agent.respond"]
AFTER = ["avalon_agent.suggest", "avalon_agent.improve", "avalon_agent.study_others"]


class Listener(schema_fuzz.Listener):
    """... and tells the kinds."""

    def kinds(self) -> list[str]:
        """What was asked since the last time."""
        kinds, self.questions = [question.kind for question in self.questions], []
        return kinds


def words(env: Any) -> list[Any]:
    return list(env.unwrapped.moves)


def table(n: int = 6, rules: str = "paper", **options: Any) -> Any:
    return rollout.table("avalon_v0", num_players=n, rules=rules, **options)


def test_whole_games_on_every_table_without_a_fault(avalon):
    env = rollout.table(avalon.spec.id, **dict(avalon.options))
    n = env.unwrapped.game.seats
    makers = (AvalonAgent, BaselineAgent)
    episode = rollout.play(env, [makers[seat % 2]() for seat in range(n)], 5)
    assert episode.outcome.winner in ("good", "evil")
    assert len(episode.faults) == n
    assert not any(count for faults in episode.faults.values() for count in faults.values())


# -- what is asked ---------------------------------------------------------------------------------------------


@cache
def counted(without: tuple[str, ...]) -> tuple[list[list[str]], list[Ask[Any]]]:
    """What the agent at seat 2 asks: a list for each turn, the last one after the game; and the questions."""
    model, env = Listener(), table()
    agent = AvalonAgent(model, without=without)
    players = [agent if seat == 2 else AvalonAgent() for seat in range(6)]
    env.reset(seed=4)
    for seat, player in enumerate(players):
        player.reset(seat, 4)
    turns, everything = [], []
    while env.unwrapped.outcome is None:
        mine, free = env.unwrapped.seat == 2, len(env.infos[env.agent_selection]["view"].legal) > 1
        take_turn(env, players[env.unwrapped.seat])
        everything += model.questions
        asked = model.kinds()
        if mine:
            assert bool(asked) == free
        if asked:
            turns.append(asked)
    roles = [env.unwrapped.view(seat).role for seat in range(6)]
    agent.learn(roles, won=True, seed=1)
    everything += model.questions
    return [*turns, model.kinds()], everything


def test_four_questions_to_speak_three_to_decide_and_one_summary_a_round():
    """Decisions 3.2. The paper's code: analysis, plan, action, response for an instruction; our memory: once a round.

    A secret decision is told in the option's own words: no response is asked, which nobody would hear.
    """
    *turns, after = counted(())[0]
    playing = [turn[1:] if turn[0] == "avalon_agent.summarise" else turn for turn in turns]
    assert len(turns) > 10
    assert {tuple(turn) for turn in playing} == {tuple(PLAYING), tuple(PLAYING[:3])}
    speaks = [question.now.does == "speak" for question in counted(())[1] if isinstance(question, asks.Act)]
    assert [len(turn) == 4 for turn in playing] == speaks
    summaries = sum(turn[0] == "avalon_agent.summarise" for turn in turns)
    rounds = {question.now.quest for question in counted(())[1] if isinstance(question, asks.Act)}
    assert summaries == len(rounds) - 1 >= 2
    assert after == AFTER


@pytest.mark.parametrize("module", ["memory", "analysis", "plan", "action", "improve", "others"])
def test_a_module_switched_off_asks_nothing(module):
    full, left = counted(())[0], counted((module,))[0]
    gone = {
        "memory": {"avalon_agent.summarise"},
        "analysis": {PLAYING[0]},
        "plan": {PLAYING[1]},
        "action": {PLAYING[2]},
        "improve": set(AFTER[:2]),
        "others": {AFTER[2]},
    }[module]
    kinds = {kind for turn in full for kind in turn}
    assert {kind for turn in left for kind in turn} == kinds - gone
    assert len(kinds) == 8


def test_the_messages_of_a_round_pass_into_facts_and_summary_when_it_ends():
    """Facts word for word, whatever a model makes of the talk; the heuristic's summary keeps claims, without words."""
    _, questions = counted(())
    for question in questions:
        if isinstance(question, asks.Act):
            assert question.messages[0].startswith(f"Quest {question.now.quest}, proposal 1")
            assert sum("Fail cards" in line for line in question.facts) == question.now.quest - 1
            assert all(map(notes.is_fact, question.facts))
            assert not any(map(notes.is_fact, question.summary.splitlines()))
            assert bool(question.summary) == (question.now.quest > 1)
        if isinstance(question, asks.Summarise):
            assert any("Fail cards" in line for line in question.messages)


def test_no_fact_leaves_the_record_whatever_the_summary_says():
    """A model that forgets everything: its prompts still hold every team, vote, card and result that the seat saw."""

    class Forgetful(Listener):
        def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
            if isinstance(question, asks.Summarise):
                self.questions.append(question)
                return Answered(asks.RoundsSummary(summary="I forgot. Quest 1 fails. Fail cards: 3."))
            return super().answer(question, context)

    model, env = Forgetful(), table()
    agent = AvalonAgent(model)
    rollout.play(env, [agent, *(AvalonAgent() for _ in range(5))], 4)
    facts = notes.facts_in(line for lines in agent.notes_taken.rounds for line in lines)
    last = [question for question in model.questions if isinstance(question, asks.Act)][-1]
    seen = [*last.facts, *notes.facts_in(last.messages)]
    assert len(last.facts) > 8
    assert seen == facts[: len(seen)]
    assert all(line in last.prompt() for line in seen)
    assert last.evidence == [*last.facts, *last.messages]  # what the summary claims to have happened counts for nothing


def test_experience_reaches_the_questions_and_only_the_modules_that_learn_it():
    lesson = Lesson("Prefer the line quiet.", ("a",), "Evil players play fail 9 of 9 times.", 3)
    roles = ("Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin")
    for without in ((), ("others",)):
        model = Listener()
        agents = [
            AvalonAgent(model, without=without, experience=Experience(roles=dict.fromkeys(roles, lesson)))
            for _ in range(6)
        ]
        rollout.play(table(), agents, 4)
        by_type = {type(question): question for question in model.questions}
        assert by_type[asks.Act].strategy == by_type[asks.Devise].strategy == lesson.strategy
        assert by_type[asks.Analyse].others == ("" if without else lesson.others)


class Planner(Listener):
    """Its first plan is its own; the others are the heuristic's."""

    plan = asks.Plan(
        goal="Make player_4 vouch for me.", steps=["Quest 1: say no word.", "Quest 2: ask why."], line="quiet"
    )

    def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
        first = not any(isinstance(asked, asks.Devise) for asked in self.questions)
        answered = super().answer(question, context)
        return Answered(self.plan) if isinstance(question, asks.Devise) and first else answered


def test_a_plan_of_its_own_reaches_the_next_plan_whole():
    """Eq. 3, P_(t-1): one reply is altered, and the next prompts hold all of it."""
    model = Planner()
    rollout.play(table(), [AvalonAgent(model), *(AvalonAgent() for _ in range(5))], 4)
    first, second, third = [question for question in model.questions if isinstance(question, asks.Devise)][:3]
    own = Planner.plan.in_lines()
    assert (first.previous, second.previous) == ([], own)
    assert all(f"- {line}\n" in second.prompt() for line in own)
    assert "vouch" not in third.prompt()
    act, respond = (
        next(question for question in model.questions if isinstance(question, kind))
        for kind in (asks.Act, asks.Respond)
    )
    assert act.plan == respond.plan == own


# -- what a question may hold ----------------------------------------------------------------------------------


def prompts(env: Any, moves: list[Any], seat: int, make: Any) -> list[str]:
    """All that a seat's agent asks while these moves are played."""
    model = Listener()
    agent = make(model)
    env.reset(options={"nature": [move for move in moves if move.kind in ("deal", "draw")]})
    agent.reset(seat, 1)
    for move in moves:
        if move.kind in ("deal", "draw"):
            continue
        if env.seat == seat:
            agent.act({}, env.infos[env.agent_selection])
        env.play(move)
    return [f"{context.sample} {question.prompt()}" for question, context in model.asked]


@pytest.mark.parametrize("rules", ["paper", "reference", "official"])
def test_no_question_holds_what_the_seat_may_not_know(rules, playout):
    env = registry["avalon_v0"].raw_env(num_players=6, rules=rules, info="full")
    rng, compared = np.random.default_rng(0), Counter[str]()
    for seed in range(2):
        played = Played(env.game, tuple(playout(env.game, seed).moves))
        for seat in range(6):
            others = Twins(env.text, played, seat, rng).find(env.game).moves
            for make in (AvalonAgent, BaselineAgent):
                theirs = prompts(env, list(others), seat, make)
                assert theirs == prompts(env, list(played.moves), seat, make)[: len(theirs)]
                compared[make.name] += len(theirs) if others != played.moves[: len(others)] else 0
    assert compared["avalon_agent"] > 130
    assert compared["avalon_baseline"] > 65


# -- words that could not be used ------------------------------------------------------------------------------


class Mumbler(Listener):
    """Its first two responses of a turn are no decision."""

    def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
        answered = super().answer(question, context)
        if isinstance(question, asks.Respond) and question.now.does == "vote" and len(question.refused) < 2:
            return Answered(asks.Response(words=f"hmm {len(question.refused)}"))
        return answered


def test_only_the_response_is_asked_again():
    model, env = Mumbler(), table()
    env.reset(seed=4)
    agent = AvalonAgent(model, without=("action",))  # with it, what is decided needs no words
    agent.reset(0, 4)
    others = [AvalonAgent() for _ in range(6)]
    for seat, player in enumerate(others):
        player.reset(seat, 4)
    while env.infos[env.agent_selection]["view"].legal[0].kind != "vote":
        take_turn(env, others[env.unwrapped.seat])
    assert env.unwrapped.seat == 0
    for _ in range(3):
        take_turn(env, agent)
    assert env.unwrapped.seat == 1
    thinking = [kind for kind in PLAYING if kind != "avalon_agent.act"]
    assert [question.kind for question in model.questions] == [*thinking, PLAYING[3], PLAYING[3]]
    responses = [question for question in model.questions if isinstance(question, asks.Respond)]
    assert [response.refused for response in responses] == [[], ["hmm 0"], ["hmm 0", "hmm 1"]]
    assert len({context.sample for _, context in model.asked}) == 5


# -- the transcript, files and settings ------------------------------------------------------------------------


@pytest.mark.parametrize("again", ["save", "pickle"])
def test_a_copy_plays_the_same(again, tmp_path):
    lesson = Lesson("Prefer the line shadow.", ("x\u2028y", "我"), "Evil players play fail 1 of 9 times.", 2)
    agents: list[Any] = [
        AvalonAgent(
            without=("plan",), about="teammates", try_out=True, experience=Experience(roles={"Morgana": lesson})
        )
    ]
    agents += [ChatPlayer(), BaselineAgent(), AvalonAgent(), AvalonAgent(), AvalonAgent()]
    env = table()
    rollout.play(env, agents, 4)
    first, copies = words(env), []
    for number, agent in enumerate(agents):
        agent.save(tmp_path / str(number))
        copies.append(
            type(agent).load(tmp_path / str(number)) if again == "save" else pickle.loads(pickle.dumps(agent))
        )
        assert copies[-1].settings() == agent.settings()
    assert copies[0].chosen.experience == agents[0].chosen.experience
    rollout.play(env, copies, 4)
    assert words(env) == first


@pytest.mark.parametrize(
    "spoil", [{"experience": {"format": "x"}}, {"more": 1}, {"without": ["x"]}, {"model": {"modell": "x"}}]
)
def test_a_spoilt_file_is_refused_in_one_line(spoil, tmp_path):
    AvalonAgent().save(tmp_path / "a.json")
    stored = json.loads((tmp_path / "a.json").read_text())
    stored["settings"] |= spoil
    (tmp_path / "a.json").write_text(json.dumps(stored))
    with pytest.raises(ParlourError) as caught:
        AvalonAgent.load(tmp_path / "a.json")
    assert "\n" not in str(caught.value)
    with pytest.raises(ParlourError):
        BaselineAgent.load(tmp_path / "a.json")


@pytest.mark.parametrize(
    "name",
    [
        "avalon_agent:without=thinking", "avalon_agent:about=me", "avalon_agent:without",
        "avalon_agent:=x", "avalon_agent:try_out=often", "avalon_agent:experience=/no/such/file", "chat:about=all",
        "avalon_baseline:without=plan", "rule:a=b", "avalon_agent:without=plan,without=action",
    ],
)  # fmt: skip
def test_settings_that_are_not_accepted(name):
    with pytest.raises(ParlourError, match=r"accepted|cannot be used") as caught:
        make_policy(name, "avalon_v0", {})
    assert "\n" not in str(caught.value)


def test_the_agent_plays_avalon_alone():
    env = rollout.table("template_v0")
    with pytest.raises(ParlourError, match="accepted: avalon_v0"):
        rollout.play(env, [AvalonAgent() for _ in range(env.unwrapped.game.seats)], 0)
