"""Questum, PLAYER* and the methods beside them at the table: whom they ask, how often they ask a model, what stops them not."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from functools import cache
from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery.cases.find import find
from parlour.policies import QuestumAgent, make_policy, names_of
from parlour.policies.agents.murder_mystery import (
    AGENTS,
    InterviewSettings,
    PlayerStarAgent,
)
from parlour.policies.agents.murder_mystery.questum.interview import Interview
from parlour.policies.agents.murder_mystery.questum.plan import PlannedInterview
from parlour.training.play import rollout

from tests.policies.agents.murder_mystery.players import Listener, Scripted, game_of, seats_of
from tests.refused_values import refusal

FOUR = "seed:3:en:4:1"  # four players, one victim
NAMES = [agent.name for agent in AGENTS]
PAPER = "questum:mode=score"
"""Questum as its paper plays it."""


@cache
def played(name: str, reference: str = FOUR, rounds: int = 1, **options: Any) -> tuple[Listener, Any, list[Any]]:
    model = Listener()
    players, episode = game_of(name, reference, model, seed=5, rounds=rounds, **options)
    return model, episode, players


def kinds(name: str, rounds: int = 1) -> Counter[str]:
    """How often each kind of question was put."""
    return Counter(question.kind.removeprefix("questum.") for _, question, _ in played(name, rounds=rounds)[0].calls)


def moves(episode: Any, kind: str) -> list[Any]:
    """What everybody saw of a kind: (seat, args)."""
    return [(event.seat, event.move.args) for event in episode.last_views[0].events if event.move.kind == kind]


# -- whole games -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reference", [FOUR, "seed:3:zh:4:2"])
def test_whole_games_in_both_languages_without_a_fault(name, reference):
    _, episode, players = played(name, reference)
    assert episode.outcome.winner in ("civilians", "murderers", "draw")
    assert not any(count for faults in episode.faults.values() for count in faults.values())
    assert not any(player.failed for player in players)
    asked = moves(episode, "question")
    assert len(moves(episode, "answer")) == len(asked)
    assert bool(asked) == (name != "mystery_none")
    assert all(event.move.words for event in episode.last_views[0].events if event.move.kind == "question")


def test_an_asker_has_heard_all_answers_before_it_asks_the_next():
    """Decisions 7: later questions of the same round see the earlier answers."""
    dialogues = [q.dialogue for _, q, _ in played("questum:mode=all")[0].calls if q.kind == "questum.question"]
    assert [sum(talk.asker != "" for talk in dialogue) for dialogue in dialogues] == list(range(10))


def test_the_same_seed_says_the_same_again_and_players_can_play_twice():
    env = rollout.table("murder_mystery_v0", case=FOUR, rounds=2)
    players, said = seats_of("questum:epsilon=0.5", reference=FOUR), []
    for seed in (11, 12, 11):
        rollout.play(env, players, seed)
        said.append(list(env.unwrapped.moves))
    assert said[0] == said[2] != said[1]


# -- how often a model is asked (decisions 8) -----------------------------------------------------------------------


def test_calls_of_one_round_that_asks_everybody():
    """Decisions 8: 4 players, 1 victim, everybody asked: 4 * 1 * 3 * (3 sensors + 1 question + 1 answer) = 60."""
    # the murderer's own procedure is the same in all methods: it asks one, so 3 civilians * 3 + 1 = 10 targets
    # before the vote all sensors read the 3 others of each seat anew: 12
    asked = {"introduce": 4, "sense": 30, "question": 10, "reply": 10, "vote": 4}
    assert kinds("questum:mode=all") == {**asked, "sense_all": 12}
    assert kinds("questum:mode=all,prune=rounds") == {
        **asked,
        "sense_all": 12,
        "prune": 3,
    }  # the murderer prunes between


def test_without_the_pruner_no_pruning_and_without_sensors_no_sensing():
    unpruned, unread = kinds("questum:prune=no", rounds=2), kinds("questum:prune=unread", rounds=2)
    blind = kinds("questum:sensors=none", rounds=2)
    # 4 seats read 3 others after both rounds; the murderer alone prunes, between them
    assert (unpruned["sense_all"], unpruned["prune"]) == (24, 1)
    assert (unread["sense_all"], unread["prune"]) == (6, 1)  # the murderer keeps its procedure
    assert (blind["sense"], blind["question"]) == (3 * 2, 8)  # the murderer's alone


def test_calls_of_the_methods_beside():
    """3 civilians ask 3 others each and the murderer 1: 9 + 1 answers, of which the murderer gives 3."""
    fixed = {"introduce": 4, "sense": 3, "question": 1, "sense_all": 3, "vote": 4}
    answers = [seat for seat, _ in moves(played("mystery_ocot")[1], "answer")]
    assert sum(seat in find(FOUR).murderers(0) for seat in answers) == 3
    assert kinds("mystery_ocot") == {**fixed, "ocot_goals": 9, "ocot_consider": 27, "ocot_question": 9, "reply": 10}
    drafts = dict.fromkeys(("werewolf_draft", "werewolf_reflect", "werewolf_final"), 7)
    assert kinds("mystery_werewolf") == {**fixed, "werewolf_select": 9, "werewolf_question": 9, **drafts, "reply": 3}
    think = kinds("mystery_thinkthrice")
    stages = {"summary": 9, "question": 9, "timeline": 7, "answer": 7, "refine": 7}
    assert {stage: think[f"think_{stage}"] for stage in stages} == stages
    assert think["think_useful"] >= think["think_contained"] > 0
    assert kinds("mystery_none") == {"introduce": 4, "vote": 4}  # its murderer is silent, too


# -- whom they ask (section 2.2) -------------------------------------------------------------------------------


def test_an_agent_scores_by_equation_3_and_remembers_the_gain_of_a_target_that_was_questioned():
    model, episode, players = played("questum:epsilon=0", rounds=3)
    (victim,) = episode.last_views[0].victims
    for seat, player in enumerate(players):
        procedure: Any = player.procedure
        targets = [args[0] for who, args in moves(episode, "choose") if who == seat and args]
        prunings = [
            (context.seat, question) for context, question, _ in model.calls if question.kind == "questum.prune"
        ]
        lists = [question.suspects for who, question in prunings if who == f"player_{seat}"]
        sizes = [*map(len, lists), len(procedure.suspects[victim])]
        assert sizes[0] == 3  # everybody else
        gains: dict[int, list[float]] = {}
        for k, target in enumerate(targets[:2]):  # no pruning after the third round
            gains.setdefault(target, []).append(math.log(sizes[k]) - math.log(sizes[k + 1]))
        for target, gained in gains.items():
            assert procedure.gains[victim, target] == pytest.approx(gained)
        scores = procedure.scores(victim)
        assert set(scores) == set(procedure.suspects[victim])
        assert scores[targets[2]] == max(scores.values())


def test_of_equal_scores_the_one_whom_the_seat_has_asked_least_comes_first():
    """Without any reading nothing tells the suspects apart; a seat then goes round, from the next seat on."""
    _, episode, _ = played("questum:prune=unread,epsilon=0,ties=least", rounds=3)
    for seat in set(range(4)) - set(find(FOUR).murderers(0)):
        targets = [args[0] for who, args in moves(episode, "choose") if who == seat and args]
        assert targets == [(seat + k) % 4 for k in (1, 2, 3)]


def test_player_star_asks_everybody_on_its_list_and_tells_the_sensor_how_often_it_asked():
    model, _, players = played("player_star", rounds=2)
    guilty = [f"player_{seat}" for seat in find(FOUR).murderers(0)]
    sensed = [(c.seat, q.asked) for c, q, _ in model.calls if q.kind == "questum.sense_all"]
    counts = [asked for seat, asked in sensed if seat not in guilty]
    assert max(counts) >= 3
    assert min(counts) >= 1  # everybody was asked by somebody
    asked = [q.asked for _, q, _ in played(PAPER, rounds=2)[0].calls if q.kind == "questum.sense_all"]
    assert set(asked) == {None}
    assert isinstance(players[0], PlayerStarAgent)
    assert players[0].chosen.epsilon == 0
    for setting in ("beta=0.1", "epsilon=0.2", "mode=score"):
        with pytest.raises(ParlourError, match=setting.partition("=")[0]):
            make_policy(f"player_star:{setting}", "murder_mystery_v0", {})


def test_the_report_after_a_round_is_the_first_whom_the_pruner_named():
    model, episode, _ = played(PAPER, rounds=2)
    case = find(FOUR)
    for seat in range(4):
        prunings = (a for c, q, a in model.calls if q.kind == "questum.prune" and c.seat == f"player_{seat}")
        named = next(prunings).suspicion[0]
        view = episode.last_views[seat]
        reports = [event.move.args for event in view.events if event.move.kind == "suspect"]
        assert reports == [(case.names.index(named),)]


# -- a model that does not do as it is told --------------------------------------------------------------------


BAD = [
    "我不想回答。",
    '{"questions": [], "suspicion": [], "x": 1}',
    '{"questions": "Where?", "suspicion": "Ada"}',
    '{"questions": [" "]}{"suspicion": [""]}',
]


def scripted(replies: dict[str, str], reference: str = FOUR, rounds: int = 2, **settings: Any) -> tuple[Any, ...]:
    """A game by the rules of the paper in which a model says what a test wants."""
    model = Scripted(replies)
    players = [QuestumAgent(model, InterviewSettings(**settings)) for _ in range(4)]
    table = rollout.table("murder_mystery_v0", case=reference, rounds=rounds)
    return model, rollout.play(table, players, 5), players


@pytest.mark.parametrize("reply", BAD)
def test_a_question_that_failed_skips_the_turn_and_a_pruning_that_failed_keeps_the_list(reply):
    _, episode, players = scripted({"questum.question": reply, "questum.prune": reply})
    assert not moves(episode, "question")
    assert [args for _, args in moves(episode, "choose")] == [()] * 8  # nobody, in two rounds
    for player in players:
        procedure: Any = player.procedure
        assert [len(suspect) for suspect in procedure.suspects.values()] == [3]
        assert not procedure.gains  # nobody was questioned
        assert player.notes()["failed"] == player.failed == {"question": 2, "pruning": 1}


# -- settings --------------------------------------------------------------------------------------------------


def test_settings_come_from_words_and_are_checked():
    words = "beta=0.5,epsilon=0,sensors=motivation+opportunity,prune=no,mode=score"
    agent: Any = make_policy(f"questum:{words}", "murder_mystery_v0", {})
    assert agent.chosen == InterviewSettings(
        beta=0.5, epsilon=0.0, sensors=("motivation", "suspicion"), prune="no", mode="score"
    )
    assert QuestumAgent().chosen == InterviewSettings(mode="plan")
    assert InterviewSettings().mode == "score"  # what murderers play in all methods
    recorded = [InterviewSettings.from_plain({"prune": before}).prune for before in (True, False)]
    assert recorded == ["between", "unread"]  # as they were played
    wrong = ("beta=2", "epsilon=x", "price=2", "sensors=smell", "prune=maybe", "mode=most", "gamma=1")
    for words in (*wrong, "sensors=information value"):
        with pytest.raises(ParlourError, match="accepted"):
            make_policy(f"questum:{words}", "murder_mystery_v0", {})


@pytest.mark.parametrize(
    ("words", "mode"),
    [
        ("", "plan"),
        *(
            (settings, "score")
            for settings in ("beta=0.5", "epsilon=0", "sensors=none", "prune=no", "prune=no,beta=0.5")
        ),
        *((settings, "plan") for settings in ("price=0.1", "curiosity=0", "liars=1", "table=0", "price=0.1,table=0")),
        ("mode=all,sensors=emotion,prune=no", "all"),
        ("mode=random", "random"),
    ],
)
def test_settings_of_the_paper_alone_mean_its_procedure_and_those_of_the_planner_the_planner(words, mode):
    name = f"questum:{words}" if words else "questum"
    assert make_policy(name, "murder_mystery_v0", {}).chosen.mode == mode  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            "beta=0.5,price=0.1",
            "settings beta, price together are not accepted; accepted: beta, epsilon, ",
        ),
        ("mode=plan,beta=0.5", "setting of mode=plan 'beta' is not accepted; accepted: price, curiosity, liars, table"),
        (
            "mode=score,table=1",
            "setting of mode=score 'table' is not accepted; accepted: beta, epsilon, ",
        ),
        ("mode=all,epsilon=0", "setting of mode=all 'epsilon' is not accepted; accepted: sensors, prune"),
        ("mode=random,price=0", "setting of mode=random 'price' is not accepted; accepted: none"),
        ("price=0,mode=most", "mode 'most' is not accepted; accepted: score, all, plan, random"),
    ],
)
def test_settings_that_a_mode_does_not_use_are_refused_in_one_line(words, why):
    assert why in refusal(make_policy, f"questum:{words}", "murder_mystery_v0", {})


def test_by_default_questum_plans_and_murderers_play_by_score_in_all_methods():
    guilty = find(FOUR).murderers(0)
    model, _, players = played("questum", rounds=2)
    for seat, player in enumerate(players):
        assert isinstance(player.procedure, PlannedInterview) == (seat not in guilty)
        if seat in guilty:
            procedure: Any = player.procedure
            assert type(procedure) is Interview
            assert procedure.settings == InterviewSettings()
    put = {q.kind for context, q, _ in model.calls if context.seat not in [f"player_{seat}" for seat in guilty]}
    assert put == {"questum.introduce", "questum.reply"}


@pytest.mark.parametrize("name", [*NAMES, "questum:beta=0.7,sensors=none", "questum:mode=plan,price=0.1"])
def test_agents_are_saved_loaded_and_pickled(name, tmp_path):
    assert name not in names_of("plain")
    agent: Any = make_policy(name, "murder_mystery_v0", {})
    agent.save(tmp_path / "agent.json")
    assert type(agent).load(tmp_path / "agent.json").settings() == agent.settings()
    assert pickle.loads(pickle.dumps(agent)).settings() == agent.settings()
