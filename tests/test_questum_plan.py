"""Questum as a planner: what a seat believes, what a question is worth, when it stops, and that nothing enters which it may not know."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery import GAME
from parlour.envs.murder_mystery.cases.case import dump
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.redealt import redealt
from parlour.envs.murder_mystery.vocabulary import CHOOSE, SUSPECT, VOTE
from parlour.envs.murder_mystery.vocabulary.facts import Fact
from parlour.policies import make_policy
from parlour.policies.agents.murder_mystery import InterviewSettings, QuestumAgent
from parlour.policies.agents.murder_mystery.evidence import NOBODY, SourcedFact
from parlour.policies.agents.murder_mystery.questum.outlook import TOPICS, Outlook, PlannedQuestion
from parlour.policies.agents.murder_mystery.questum.plan import PlannedInterview
from parlour.policies.agents.murder_mystery.questum.posterior import (
    Prospect,
    believed,
    event_gains,
    expected_fall,
    uncertainty,
)
from parlour.policies.agents.murder_mystery.wording import DEATH
from parlour.policies.llm.model import OfflineModel
from parlour.training.measure.murder_mystery.games import CaseJob, CaseSetting, play_case
from parlour.training.measure.murder_mystery.methods import QUESTUM, method_of
from parlour.training.play import rollout

VICTIM = 4
DIED = SourcedFact(Fact("died", (VICTIM, 0, 1, 2)), NOBODY, True)
"""At place 0, hour 1, by means 2; seats 0..3."""


def chances(statements: list[SourcedFact], seats: int, victim: int, me: int, liars: int) -> dict[int, float]:
    """The probability of each other seat to have killed a victim."""
    others = dict.fromkeys((seat for seat in range(seats) if seat != me), 0.0)
    return {**others, **believed(statements, seats, victim, me, liars).chances}


def statement(teller: int, kind: str, *args: int, victim: int = VICTIM) -> SourcedFact:
    return SourcedFact(Fact(kind, args), teller, False, victim)


# -- what is believed ------------------------------------------------------------------------------------------


def test_nothing_is_known_before_anything_is_told():
    assert chances([DIED], 4, VICTIM, 0, 0) == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 1 / 3})


def test_who_is_cleared_has_no_chance_and_the_others_share_it():
    statements = [DIED, statement(2, "saw", 1, 5, 1)]
    assert chances(statements, 4, VICTIM, 0, 0) == pytest.approx({1: 0.0, 2: 0.5, 3: 0.5})


def test_what_the_own_script_says_is_certain_even_where_others_may_lie():
    own = [DIED, SourcedFact(Fact("lacked", (1, 2)), 0, True)]
    assert chances(own, 4, VICTIM, 0, 1)[1] == 0.0
    assert chances([DIED, statement(2, "lacked", 1, 2)], 4, VICTIM, 0, 1)[1] > 0.0  # 2 may be the liar


def test_a_reason_makes_it_likelier_and_proves_nothing():
    now = chances([DIED, statement(2, "motive", 1, 0, VICTIM)], 4, VICTIM, 0, 0)
    assert now[1] == pytest.approx(2 / 4)  # twice as likely as 2 and as 3
    assert now[2] == now[3] == pytest.approx(1 / 4)


def test_what_was_said_about_another_victim_does_not_count():
    assert chances([DIED, statement(2, "saw", 1, 5, 1, victim=5)], 4, VICTIM, 0, 0)[1] == pytest.approx(1 / 3)


def test_told_that_agrees_with_no_world_leaves_all_open():
    odd = [DIED, *(SourcedFact(Fact("lacked", (seat, 2)), 0, True) for seat in (1, 2, 3))]
    assert chances(odd, 4, VICTIM, 0, 0) == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 1 / 3})


# -- what a question is worth ----------------------------------------------------------------------------------


def test_the_worth_is_the_expected_fall_of_the_entropy():
    now = {1: 0.5, 2: 0.5}
    # asked of 3: if 1 did it, 2 is cleared with chance 0.4, and the other way round
    prospect = Prospect({1: 0.4, 2: 0.4}, {1: 0.0, 2: 0.0})
    # with chance 0.4 one is cleared and nothing is left to learn, with 0.6 all is as before: 0.4 ln 2
    assert expected_fall(now, 3, prospect) == pytest.approx(0.4 * math.log(2))


def test_who_did_it_clears_nobody_so_that_asking_it_is_worth_less():
    now, prospect = {1: 0.5, 2: 0.5}, Prospect({1: 1.0, 2: 1.0}, {})
    honest = expected_fall(now, 3, prospect)
    assert honest == pytest.approx(math.log(2))
    # asked of 1: if it did it, 2 is not cleared; if 2 did it, 1 cannot clear itself, and 2 is never cleared
    assert expected_fall(now, 1, Prospect({2: 1.0}, {})) == pytest.approx(0.0)


def test_doubt_lowers_what_a_question_is_worth():
    now, prospect = {1: 0.5, 2: 0.5}, Prospect({1: 0.5, 2: 0.5}, {1: 0.2, 2: 0.2})
    assert expected_fall(now, 3, prospect, 0.3) < expected_fall(now, 3, prospect)


def test_a_gain_is_never_below_nothing_nor_above_what_is_open():
    rng = np.random.default_rng(0)
    for _ in range(50):
        weights = rng.dirichlet(np.ones(4))
        now = dict(enumerate(map(float, weights)))
        prospect = Prospect(*({seat: float(rng.random()) for seat in now} for _ in range(2)))
        assert 0.0 <= expected_fall(now, int(rng.integers(6)), prospect) <= uncertainty(now) + 1e-12


def test_a_witness_that_must_lie_if_a_seat_did_it_clears_that_seat_no_further():
    now, prospect = {1: 0.5, 2: 0.5}, Prospect({1: 1.0, 2: 1.0}, {})
    # asked of 3, which lies for certain if 1 did it: it then clears both, and never says which of the two worlds it is in
    # from 2's side: if 2 did it, 3 is honest, clears 1 and not 2
    assert expected_fall(now, 3, prospect, {1: 1.0, 2: 0.0}) == pytest.approx(math.log(2))
    # if 3 lies whoever did it, both are cleared either way: nothing is learned
    assert expected_fall(now, 3, prospect, {1: 1.0, 2: 1.0}) == pytest.approx(0.0)


def test_what_an_event_tells_is_split_into_who_did_it_and_who_lies():
    # worlds of three seats and one liar, 0 being the own seat: 1 did it and 2 lies, 2 did it and 1 lies
    statements = [SourcedFact(Fact("died", (3, 0, 1, 2)), NOBODY, True)]
    beliefs = believed(statements, 3, 3, 0, 1)
    assert beliefs.chances == {1: 0.5, 2: 0.5}
    assert beliefs.doubt(1) == {1: 1.0, 2: 1.0}
    first = np.array([float(world.murderer == 1) for world in beliefs.worlds])
    assert event_gains(beliefs, first) == pytest.approx((math.log(2), 0.0))  # who did it, and nothing else is open
    # four seats, one liar: whether 3 is a liar tells nothing of 1 against 2, and ln 2 of who lies, if 3 did not do it
    beliefs = believed([DIED], 4, VICTIM, 0, 1)
    liar = np.array([float(world.bad >> 3 & 1 and world.murderer != 3) for world in beliefs.worlds])
    who, lying = event_gains(beliefs, liar)
    # who did it: 1, 2, 3 alike, ln 3; with chance 1/3 it is 1 or 2, ln 2; with 2/3 it is 1, 2, 3 at 1/4, 1/4, 1/2: 1.5 ln 2
    assert who == pytest.approx(math.log(3) - math.log(2) / 3 - math.log(2))
    # who lies: ln 2 before; if 3 does, nothing is left; if not, ln 2 if 3 did it (half of 2/3), else nothing
    assert lying == pytest.approx(math.log(2) * 2 / 3)


# -- at the table ----------------------------------------------------------------------------------------------


def played(name: str, case: str, **options):
    env = rollout.table("murder_mystery_v0", case=case, **options)
    game = env.game_env.game
    players = [make_policy(name, "murder_mystery_v0", {}, OfflineModel()) for _ in range(game.seats)]
    return players, rollout.play(env, players, 1)


def plans(players) -> list[PlannedInterview]:
    return [player.procedure for player in players if isinstance(player.procedure, PlannedInterview)]


def test_it_finds_the_murderer_with_fewer_questions_to_the_model_than_by_score():
    job = CaseJob("seed:9:en:5:1", method_of("questum:mode=plan"), 3, CaseSetting(repetitions=0))
    played = play_case(job, OfflineModel())
    assert played.solved == played.victims == 1
    assert played.play.asked < play_case(replace(job, method=QUESTUM), OfflineModel()).play.asked


def test_no_question_is_put_when_none_is_worth_its_price():
    free, dear = (
        play_case(
            CaseJob("seed:9:en:4:1", method_of(f"questum:mode=plan,{words}"), 3, CaseSetting(repetitions=0)),
            OfflineModel(),
        ).asked
        for words in ("price=0", "price=1")
    )
    assert dear < free
    cheap = play_case(
        CaseJob("seed:9:en:4:1", method_of("questum:mode=plan,curiosity=0"), 3, CaseSetting(repetitions=0)),
        OfflineModel(),
    ).asked
    assert dear <= cheap < free  # without curiosity it stops when who did it is clear


def test_once_it_is_clear_only_curiosity_asks_on():
    players, _ = played("questum:mode=plan", "seed:9:en:5:1")
    for plan in plans(players):
        (victim,) = plan.room.scene.victims
        if uncertainty(plan.chances(victim)) == uncertainty(plan.table_view(victim).beliefs.chances) == 0:
            gains = plan.worth(victim, list(plan.room.others))
            assert max(gains.values()) <= plan.settings.curiosity


@pytest.mark.parametrize("reference", ["seed:5:en:4:1", "seed:2:en::::1", "seed:5:zh:5:1"])
def test_what_it_plans_depends_on_what_its_seat_may_know_alone(reference):
    """In another world, with all that the others hold in private changed, the same View gives the same questions and votes."""
    env = rollout.table("murder_mystery_v0", case=reference, rounds=2)
    game = env.game_env.game
    seat = next(s for s, character in enumerate(game.case.characters) if not any(character.murders))
    players = [make_policy("questum:mode=plan", "murder_mystery_v0", {}, OfflineModel()) for _ in range(game.seats)]
    rollout.play(env, players, 1)
    views = [view for view in _views(game, env.game_env.moves, seat) if view.legal]
    assert {view.legal[0].kind for view in views} >= {CHOOSE, SUSPECT, VOTE}
    other = redealt(game, seat, views[-1].events, np.random.default_rng(4))
    assert [person.facts for person in other.case.characters] != [character.facts for character in game.case.characters]
    for view in views:
        decided = [_decided(world, seat, view) for world in (game, other)]
        assert decided[0] == decided[1]


def _views(game, moves, seat):
    """The View of a seat at each of its turns."""
    state = game.initial()
    for move in moves:
        if game.actor(state) == seat:
            yield game.view(state, seat)
        state = game.apply(state, move)


def _decided(world, seat, view):
    """Belief, worth of all questions and vote of a seat in a world that shows it the events of a View."""
    private = world.view(world.initial(), seat)
    own = private._replace(**{name: getattr(view, name) for name in ("events", "legal", "phase", "round", "victim")})
    agent = make_policy("questum:mode=plan", "murder_mystery_v0", {}, OfflineModel())
    agent.reset(seat, 1)
    agent._view({"view": own})
    plan = agent.procedure
    (victim,) = plan.room.scene.victims
    return plan.chances(victim), plan.worth(victim, list(plan.room.others)), plan.vote(victim)


def test_what_one_seat_knows_alone_is_asked_on_for_the_table():
    """Seat 0 saw everybody else clear but one: it knows who did it, the table does not, and the table votes."""
    case, env = "seed:9:en:5:1", rollout.table("murder_mystery_v0", case="seed:9:en:5:1")
    game = env.game_env.game
    view = game.view(game.initial(), next(s for s, seat in enumerate(find(case).characters) if not any(seat.murders)))
    for share, least in ((0.0, False), (0.5, True)):
        agent = make_policy(f"questum:mode=plan,curiosity=0,table={share}", "murder_mystery_v0", {}, OfflineModel())
        agent.reset(view.seat, 1)
        agent._view({"view": view})
        plan = agent.procedure
        (victim,) = plan.room.scene.victims
        person = plan.room.scene.person(victim)
        sure = [SourcedFact(Fact("peace", (seat, person)), view.seat, True) for seat in plan.room.others[1:]]
        plan._heard._sure = [*plan.own_view(victim).statements, *sure]
        plan._views.clear()
        assert uncertainty(plan.chances(victim)) == 0
        assert uncertainty(plan.table_view(victim).beliefs.chances) > 0
        assert (max(plan.worth(victim, list(plan.room.others)).values()) > 0) == least


def test_a_claim_and_a_sighting_catch_a_liar_together_where_others_may_lie():
    """Who was asked where it was claims a place; that others may have seen it elsewhere is then worth something."""
    players, _ = played("questum:mode=random", "seed:2:en::::2", rounds=1)
    plan = plans(players)[0]
    (victim,) = plan.room.scene.victims
    seats, person = len(plan.room.scene.players), plan.room.scene.person(victim)
    by_liars = {}
    for liars in (0, 1):
        statements = plan.table_view(victim).statements
        beliefs = believed([], seats, person, NOBODY, liars)  # nothing is clear yet
        outlook = Outlook(plan.room.scene, plan._heard, victim, statements, beliefs, liars)
        by_liars[liars] = [
            outlook.exposure(PlannedQuestion(topic, -1), seat) for topic in TOPICS for seat in plan.room.others
        ]
    assert set(by_liars[0]) == {(0.0, 0.0)}
    assert max(lying for _, lying in by_liars[1]) > 0
    assert all(who >= 0 and lying >= 0 for who, lying in by_liars[1])


@pytest.mark.parametrize("reference", ["seed:2:en::::1", "seed:3:en::::3", "seed:3:en::::4"])
def test_where_and_when_the_victim_died_is_asked_first(reference):
    """The briefing never says both, and without them no sighting clears anybody."""
    game = GAME.build(case=reference)
    innocent = next(s for s, character in enumerate(game.case.characters) if not any(character.murders))
    agent = make_policy("questum:mode=plan", "murder_mystery_v0", {}, OfflineModel())
    agent.reset(innocent, 1)
    agent._view({"view": game.view(game.initial(), innocent)})
    worth = agent.procedure.worth(agent.procedure.room.scene.victims[0], list(agent.procedure.room.others))
    assert max(worth, key=lambda key: worth[key])[1] == (DEATH, -1)


@pytest.mark.parametrize("reference", ["seed:9:en:5:1", "seed:2:en::::3"])
def test_no_question_is_put_twice_to_the_same_seat(reference):
    """It would say the same again."""
    players, _ = played("questum:mode=plan", reference, rounds=2)
    talks = plans(players)[0].room.seat_memory.talks
    planners = {plan.room.me.name for plan in plans(players)}
    put = [(talk.speaker, talk.question) for talk in talks if talk.asker in planners]
    assert len(put) == len(set(put)) > 0


def test_random_questioning_reads_the_answers_alike_and_plans_nothing():
    players, _ = played("questum:mode=random", "seed:9:en:4:1", rounds=1)
    assert all(sum(plan.times.values()) == 3 for plan in plans(players))  # everybody else, once


def test_prose_without_facts_is_played_by_sensors(tmp_path):
    case = find("seed:5:en:4:1")
    none = {
        "places": (),
        "times": (),
        "means": (),
        "motives": (),
        "relations": (),
        "items": (),
        "public": (),
        "truth": None,
    }
    silent = [character.model_copy(update={"facts": (), "lies": ()}) for character in case.characters]
    path = tmp_path / "prose.json"
    path.write_text(dump(case.model_copy(update={**none, "characters": tuple(silent)})), "utf-8")
    players, _ = played("questum:mode=plan", str(path), rounds=2)
    assert plans(players)
    for plan in plans(players):
        assert not plan.has_facts
        assert plan.summaries  # the sensors were read


def test_settings_of_the_plan_are_held_to_their_bounds_and_saved(tmp_path):
    with pytest.raises(ParlourError, match="price"):
        InterviewSettings(price=2.0)
    with pytest.raises(ParlourError, match="mode"):
        make_policy("questum:mode=planned", "murder_mystery_v0", {}, OfflineModel())
    agent = make_policy("questum:mode=plan,price=0.1", "murder_mystery_v0", {}, OfflineModel())
    agent.save(tmp_path / "agent.json")
    assert QuestumAgent.load(tmp_path / "agent.json").chosen == agent.chosen


def test_settings_that_were_saved_before_there_was_a_plan_are_read(tmp_path):
    """An agent that was saved when the default was the score plays by score."""
    old = {"beta": 0.2, "epsilon": 0.1, "sensors": ["emotion"], "prune": True, "mode": "score", "counts": False}
    assert InterviewSettings.from_json(old).mode == "score"
    stored = {"policy": "questum", "settings": {"model": {"model": "offline"}, "chosen": old}}
    (tmp_path / "agent.json").write_text(json.dumps(stored), "utf-8")
    assert QuestumAgent.load(tmp_path / "agent.json").chosen == InterviewSettings(sensors=("emotion",))


def test_the_game_says_how_many_may_lie():
    case = "seed:2:en::::3"
    game = GAME.build(case=case)
    assert game.view(game.initial(), 0).liars == 2
