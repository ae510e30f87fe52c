"""Questum as a planner: what a seat believes, what a question is worth, when it stops, and that nothing enters which it may not know."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from parlour.envs.murder_mystery import GAME
from parlour.envs.murder_mystery.redealt import redealt
from parlour.envs.murder_mystery.vocabulary import CHOOSE, SUSPECT, VOTE
from parlour.envs.murder_mystery.vocabulary.facts import Fact
from parlour.policies import make_policy
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
from parlour.training.measure.murder_mystery.games import CaseJob, CaseResult, CaseSetting, play_case
from parlour.training.measure.murder_mystery.methods import method_of
from parlour.training.play import rollout

from tests.policies.agents.murder_mystery.players import game_of, plans, seats_of

PLAN = "questum:mode=plan"
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


CLEARED = [SourcedFact(Fact("lacked", (seat, 2)), 0, True) for seat in (1, 2, 3)]
"""By the own script."""


@pytest.mark.parametrize(
    ("statements", "liars", "left"),
    [
        ([], 0, (1 / 3, 1 / 3, 1 / 3)),
        ([statement(2, "saw", 1, 5, 1)], 0, (0.0, 0.5, 0.5)),  # who is cleared has no chance
        ([statement(2, "saw", 1, 5, 1, victim=5)], 0, (1 / 3, 1 / 3, 1 / 3)),  # said about another victim
        ([statement(2, "motive", 1, 0, VICTIM)], 0, (1 / 2, 1 / 4, 1 / 4)),  # a reason makes it twice as likely
        (CLEARED[:1], 1, (0.0, 0.5, 0.5)),  # the own script is certain even where others may lie
        (CLEARED, 0, (1 / 3, 1 / 3, 1 / 3)),  # agrees with no world: all is open
    ],
)
def test_what_is_believed_of_the_others(statements, liars, left):
    assert chances([DIED, *statements], 4, VICTIM, 0, liars) == pytest.approx(dict(zip((1, 2, 3), left, strict=True)))


def test_who_tells_it_may_be_the_liar():
    assert chances([DIED, statement(2, "lacked", 1, 2)], 4, VICTIM, 0, 1)[1] > 0.0


# -- what a question is worth ----------------------------------------------------------------------------------


EVEN = {1: 0.5, 2: 0.5}
SURE = Prospect({1: 1.0, 2: 1.0}, {})


def test_the_worth_is_the_expected_fall_of_the_entropy():
    # asked of 3: if 1 did it, 2 is cleared with chance 0.4, and the other way round
    prospect = Prospect({1: 0.4, 2: 0.4}, {1: 0.0, 2: 0.0})
    # with chance 0.4 one is cleared and nothing is left to learn, with 0.6 all is as before: 0.4 ln 2
    assert expected_fall(EVEN, 3, prospect) == pytest.approx(0.4 * math.log(2))


def test_who_did_it_clears_nobody_so_that_asking_it_is_worth_less():
    assert expected_fall(EVEN, 3, SURE) == pytest.approx(math.log(2))
    # asked of 1: if it did it, 2 is not cleared; if 2 did it, 1 cannot clear itself, and 2 is never cleared
    assert expected_fall(EVEN, 1, Prospect({2: 1.0}, {})) == pytest.approx(0.0)


def test_doubt_lowers_what_a_question_is_worth():
    prospect = Prospect(EVEN, {1: 0.2, 2: 0.2})
    assert expected_fall(EVEN, 3, prospect, 0.3) < expected_fall(EVEN, 3, prospect)


def test_a_gain_is_never_below_nothing_nor_above_what_is_open():
    rng = np.random.default_rng(0)
    for _ in range(50):
        now = dict(enumerate(map(float, rng.dirichlet(np.ones(4)))))
        prospect = Prospect(*({seat: float(rng.random()) for seat in now} for _ in range(2)))
        assert 0.0 <= expected_fall(now, int(rng.integers(6)), prospect) <= uncertainty(now) + 1e-12


def test_a_witness_that_must_lie_if_a_seat_did_it_clears_that_seat_no_further():
    # asked of 3, which lies for certain if 1 did it: it then clears both, and never says which of the two worlds it is in
    # from 2's side: if 2 did it, 3 is honest, clears 1 and not 2
    assert expected_fall(EVEN, 3, SURE, {1: 1.0, 2: 0.0}) == pytest.approx(math.log(2))
    # if 3 lies whoever did it, both are cleared either way: nothing is learned
    assert expected_fall(EVEN, 3, SURE, {1: 1.0, 2: 1.0}) == pytest.approx(0.0)


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


def result(name: str, case: str = "seed:9:en:4:1") -> CaseResult:
    return play_case(CaseJob(case, method_of(name), 3, CaseSetting(repetitions=0)), OfflineModel())


def test_it_finds_the_murderer_with_fewer_questions_to_the_model_than_by_score():
    planned, scored = (result(f"questum:mode={mode}", "seed:9:en:5:1") for mode in ("plan", "score"))
    assert planned.solved == planned.victims == 1
    assert planned.play.asked < scored.play.asked


def test_no_question_is_put_when_none_is_worth_its_price():
    free, dear, cheap = (result(f"questum:mode=plan,{words}").asked for words in ("price=0", "price=1", "curiosity=0"))
    assert dear < free
    assert dear <= cheap < free  # without curiosity it stops when who did it is clear


def test_once_it_is_clear_only_curiosity_asks_on():
    for plan in plans(game_of(PLAN, "seed:9:en:5:1")[0]):
        (victim,) = plan.room.scene.victims
        if uncertainty(plan.chances(victim)) == uncertainty(plan.table_view(victim).beliefs.chances) == 0:
            gains = plan.worth(victim, list(plan.room.others))
            assert max(gains.values()) <= plan.settings.curiosity


def beginning(view: Any, settings: str = "") -> PlannedInterview:
    """The plan of an agent that sees this View first."""
    agent: Any = make_policy(f"{PLAN}{settings}", "murder_mystery_v0", {}, OfflineModel())
    agent.reset(view.seat, 1)
    agent._view({"view": view})
    return agent.procedure


def innocent_of(game: Any) -> int:
    return next(seat for seat, character in enumerate(game.case.characters) if not any(character.murders))


@pytest.mark.parametrize("reference", ["seed:5:en:4:1", "seed:2:en::::1", "seed:5:zh:5:1"])
def test_what_it_plans_depends_on_what_its_seat_may_know_alone(reference):
    """In another world, with all that the others hold in private changed, the same View gives the same questions and votes."""
    env = rollout.table("murder_mystery_v0", case=reference, rounds=2)
    game = env.game_env.game
    seat = innocent_of(game)
    rollout.play(env, seats_of(PLAN, OfflineModel(), reference), 1)
    views, state = [], game.initial()
    for move in env.game_env.moves:
        if game.actor(state) == seat:
            views.append(game.view(state, seat))
        state = game.apply(state, move)
    assert {view.legal[0].kind for view in views} >= {CHOOSE, SUSPECT, VOTE}
    other = redealt(game, seat, views[-1].events, np.random.default_rng(4))
    assert [person.facts for person in other.case.characters] != [character.facts for character in game.case.characters]
    for view in views:
        decided = [_decided(world, seat, view) for world in (game, other)]
        assert decided[0] == decided[1]


def _decided(world, seat, view):
    """Belief, worth of all questions and vote of a seat in a world that shows it the events of a View."""
    private = world.view(world.initial(), seat)
    shown = {name: getattr(view, name) for name in ("events", "legal", "phase", "round", "victim")}
    plan = beginning(private._replace(**shown))
    (victim,) = plan.room.scene.victims
    return plan.chances(victim), plan.worth(victim, list(plan.room.others)), plan.vote(victim)


def test_a_claim_and_a_sighting_catch_a_liar_together_where_others_may_lie():
    """Who was asked where it was claims a place; that others may have seen it elsewhere is then worth something."""
    players, _ = game_of("questum:mode=random", "seed:2:en::::2", rounds=1)
    assert all(sum(plan.times.values()) == len(plan.room.others) for plan in plans(players))  # everybody else, once
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
    game = GAME.build(GAME.options(case=reference))
    plan = beginning(game.view(game.initial(), innocent_of(game)))
    worth = plan.worth(plan.room.scene.victims[0], list(plan.room.others))
    assert max(worth, key=lambda key: worth[key])[1] == (DEATH, -1)


@pytest.mark.parametrize("reference", ["seed:9:en:5:1", "seed:2:en::::3"])
def test_no_question_is_put_twice_to_the_same_seat(reference):
    """It would say the same again."""
    planned = plans(game_of(PLAN, reference, rounds=2)[0])
    planners = {plan.room.me.name for plan in planned}
    put = [(talk.speaker, talk.question) for talk in planned[0].room.seat_memory.talks if talk.asker in planners]
    assert len(put) == len(set(put)) > 0


def test_the_game_says_how_many_may_lie():
    game = GAME.build(GAME.options(case="seed:2:en::::3"))
    assert game.view(game.initial(), 0).liars == 2
