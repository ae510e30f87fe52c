"""The baselines of Werewolf: what they are shown, what they infer, what they do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from parlour.envs.core import NATURE, Event, Move, ParlourError
from parlour.policies import RerankAgent, RetrievalAgent, WindowAgent
from parlour.policies.agents.werewolf import asks, notes
from parlour.policies.agents.werewolf.agents import QUERY
from parlour.policies.agents.werewolf.decide import WerewolfDecision
from parlour.policies.agents.werewolf.inference import infer, stance
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.reading import Observer
from parlour.policies.agents.werewolf.situation import SeerCheck, WerewolfSelfInfo, WerewolfSituation
from parlour.policies.llm.ask import Ask
from parlour.training.play import rollout

from tests.policies.llm.schema_fuzz import Listener

ROLES = ["Werewolf", "Werewolf", "Werewolf", "Witch", "Guard", "Seer", "Villager", "Villager"]
AGENTS = (WindowAgent, RetrievalAgent, RerankAgent)


def said(speaker: int, text: str, day: int = 1, *, private: bool = False) -> HeardMessage:
    return HeardMessage(day=day, speaker=speaker, text=text, private=private)


# -- the inference of the baselines ----------------------------------------------------------------------------

VILLAGER = Observer(0, "villager", ("witch", "guard", "seer"), (), ())


def trusts(observer: Observer, *messages: HeardMessage) -> list[float]:
    return infer(observer, 8, messages, [1.0] * len(messages))


ACCUSES = "I accuse player_{} of being evil."


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        # a stranger is half believed: -0.6 * 0.5 = -0.3, tanh(-0.3). Without his own word nothing is held of the accused
        ([(1, ACCUSES.format(3))], {3: -0.291313}),
        # an echo counts half: two strangers, 0.3 + 0.15 = 0.45, tanh(-0.45); of each accuser the other's word says nothing
        ([(1, ACCUSES.format(3)), (2, ACCUSES.format(3))], {3: -0.421899}),
        # who accuses the observer: a wrong opinion, 4, counts half: tanh(-0.4 * 0.5). His other word is that of a stranger
        ([(1, ACCUSES.format(0)), (1, ACCUSES.format(3))], {1: -0.197375, 3: -0.291313}),
        # tanh(0.9) = 0.716298 of trust in the dead of the night. Who accuses them: tanh(-0.6 * 0.716298), and tanh(0.9 - 0.3)
        ([(2, ACCUSES.format(1)), (-1, "In the morning player_1 is found dead.")], {1: 0.537050, 2: -0.405136}),
        # whom they accuse, being believed by 0.5 + 0.5 * 0.716298: tanh(-0.6 * 0.858149)
        ([(1, ACCUSES.format(3)), (-1, "In the morning player_1 is found dead.")], {1: 0.716298, 3: -0.473746}),
    ],
)
def test_trust_after_words(messages, expected):
    values = trusts(VILLAGER, *(said(*message) for message in messages))
    assert values == pytest.approx([1, *(expected.get(seat, 0) for seat in range(1, 8))], abs=1e-6)


def test_the_word_of_a_known_werewolf_counts_the_other_way_round():
    knows = VILLAGER._replace(bad=(1,), good=(2,))
    assert trusts(knows, said(1, ACCUSES.format(3)))[3] == pytest.approx(np.tanh(0.6))
    assert trusts(knows, said(2, ACCUSES.format(3)))[3] == pytest.approx(-np.tanh(0.6))
    assert trusts(knows)[:3] == [1, -1, 1]


def test_to_a_werewolf_its_accusers_and_the_seer_are_dangerous():
    wolf = Observer(0, "werewolf", ("witch", "guard", "seer"), (1, 2), (3, 4, 5, 6, 7))
    values = trusts(
        wolf,
        said(3, "I accuse player_1 of being evil."),  # -0.5 - 0.02 * 6
        said(4, "I am Seer."),  # -0.5 - 0.5 * 0.6
        said(5, "I trust that player_2 is good."),  # -0.5 + 0.02 * 6
        said(6, "I accuse player_7 of being evil."),
    )
    assert values == pytest.approx([1, 1, 1, -0.62, -0.8, -0.38, -0.5, -0.5])


def test_the_classes_of_trust():
    # table 1 with a tolerance of 0.2: the border itself is unsure
    assert [stance(trust) for trust in (-1, -0.21, -0.2, 0, 0.2, 0.21)] == [
        *("adversary", "adversary", "unsure"),
        *("unsure", "unsure", "ally"),
    ]


# -- what the rule does ----------------------------------------------------------------------------------------


def me(role: str, seat: int = 0, fellows: tuple[int, ...] = ()) -> WerewolfSelfInfo:
    side = "werewolf" if role == "Werewolf" else "village"
    return WerewolfSelfInfo(seat=seat, role=role, side=side, roles=ROLES, fellows=list(fellows))


def now(does: str, **more: Any) -> WerewolfSituation:
    base: dict[str, Any] = {"day": 2, "alive": list(range(8)), "wolves": [], "innocent": []}
    return WerewolfSituation(**(base | {"does": does, "checks": [], "attacked": None} | more))


def options(kind: str, *seats: int) -> dict[str, str]:
    return {f"{kind}:{seat}": "" for seat in seats} | {kind: ""}


SPEECHES = (
    {"silent": ""}
    | {f"{kind}:{seat}": "" for kind in ("accuse", "defend") for seat in range(1, 8)}
    | {f"claim_role:{number}": "" for number in range(5)}
    | {f"report:{seat},{evil}": "" for seat in range(1, 8) for evil in (0, 1)}
)
OFFERED = {kind: options(kind, *range(8)) for kind in ("vote", "poison", "protect", "hunt")}
OFFERED |= {"speak": SPEECHES, "check": options("check", *range(1, 8)), "save": {"save:0": "", "save:1": ""}}
OFFERED["whisper"] = options("recommend", *range(8)) | {"silent": ""}
STANDING = [1.0, -0.3, -0.7, 0.5, 0.0, 0.1, 0.0, 0.0]
EQUAL = [1.0] + [0.0] * 7
DANGER = [1.0, 1.0, 1.0, -0.5, -0.9, -0.5, -0.5, -0.4]
WOLF = me("Werewolf", 0, (1, 2))
KNOWN = {"wolves": [1, 2], "innocent": [3, 4, 5, 6, 7]}


def choice(
    who: str | WerewolfSelfInfo,
    does: str,
    standing: list[float] = STANDING,
    messages: tuple[HeardMessage, ...] = (),
    seed: int = 0,
    without: str = "",
    **more: Any,
) -> str:
    situation = now(does, **more)
    if who == "Werewolf":
        who, situation = WOLF, now(does, **KNOWN | more)
    offered = {code: words for code, words in OFFERED[does].items() if code != without}
    seat = me(who) if isinstance(who, str) else who
    return WerewolfDecision(seat, situation, standing, messages, np.random.default_rng(seed)).choose(offered)


def rule(*args: Any, **more: Any) -> Callable[[], str]:
    return partial(choice, *args, **more)


def accusations(*pairs: tuple[int, int]) -> tuple[HeardMessage, ...]:
    return tuple(said(speaker, ACCUSES.format(target), 2) for speaker, target in pairs)


# player_1 is trusted less than player_5, but two who are believed accuse player_5, and one who is not player_1
DISTRUSTED, HEAT = [1.0, -0.5, -0.9, 0.0, 0.0, -0.4, 0.0, 0.0], accusations((3, 5), (4, 5), (2, 1))
CHECKED_4, CHECKED_5 = SeerCheck(player=4, werewolf=True), SeerCheck(player=5, werewolf=False)
PRESSING = accusations((1, 0), (2, 0))
SEERS = (said(5, "I am Seer."), said(2, "I am Seer."))
TABLE = accusations((3, 5), (4, 5), (5, 1), (6, 1), (7, 1))
NAMED = "I want to kill player_7."


@pytest.mark.parametrize(
    ("expected", "asked"),
    [
        # the village votes for the least trusted who lives, or for whom it knows, or passes
        ("vote:2", rule("Villager", "vote")),
        ("vote:1", rule("Villager", "vote", alive=[0, 1, 3, 4])),
        ("vote:1", rule("Villager", "vote", innocent=[2])),
        ("vote:5", rule("Villager", "vote", wolves=[5])),
        ("vote", rule("Villager", "vote", [1.0] + [0.3] * 7)),
        # together with those whom it does not distrust; an ally is not voted out, whoever accuses him
        ("vote:5", rule("Villager", "vote", DISTRUSTED, HEAT)),
        ("vote:2", rule("Villager", "vote", DISTRUSTED, HEAT[2:])),
        ("vote:5", rule("Villager", "vote", DISTRUSTED, HEAT[:1])),
        ("vote:2", rule("Villager", "vote", [*DISTRUSTED[:5], 0.3, 0.0, 0.0], HEAT)),
        # it says what it holds
        ("accuse:2", rule("Villager", "speak")),
        ("defend:3", rule("Villager", "speak", [1, 0, 0, 0.5, 0, 0, 0, -0.2])),
        ("silent", rule("Villager", "speak", EQUAL)),
        # the seer tells of a werewolf at once, of others when it is due, and nothing twice or of the dead
        ("report:4,1", rule("Seer", "speak", day=1, checks=[CHECKED_4, CHECKED_5])),
        ("accuse:2", rule("Seer", "speak", day=1, checks=[CHECKED_5])),
        ("report:5,0", rule("Seer", "speak", day=2, checks=[CHECKED_5])),
        ("report:5,0", rule("Seer", "speak", messages=(said(6, "I am Seer."),), day=1, checks=[CHECKED_5])),
        (
            "accuse:2",
            rule("Seer", "speak", messages=(said(0, "I checked player_4: evil."),), day=1, checks=[CHECKED_4]),
        ),
        ("accuse:2", rule("Seer", "speak", day=1, checks=[CHECKED_4], alive=[0, 2])),
        # who has a power says so when pressed
        ("claim_role:1", rule("Witch", "speak", messages=PRESSING)),
        ("accuse:2", rule("Witch", "speak", messages=PRESSING[:1])),
        ("accuse:2", rule("Villager", "speak", messages=PRESSING)),
        # the witch saves unless she distrusts, and poisons only who is lost to her
        *((f"save:{saved}", rule("Witch", "save", attacked=seat)) for seat, saved in ((3, 1), (1, 1), (2, 0))),
        ("save:1", rule("Witch", "save", [-1.0] * 8, attacked=0)),
        ("poison:2", rule("Witch", "poison")),
        ("poison", rule("Witch", "poison", [1, -0.5, -0.6, 0, 0, 0, 0, 0])),
        # the guard protects a credible seer, then the most trusted, then himself
        ("protect:5", rule("Guard", "protect", messages=SEERS)),
        ("protect:3", rule("Guard", "protect", messages=SEERS[1:])),
        ("protect:0", rule("Guard", "protect", EQUAL)),
        ("protect:0", rule("Guard", "protect", messages=SEERS[1:], without="protect:3")),
        # the seer checks the least trusted of whom it is not certain
        ("check:2", rule("Seer", "check")),
        ("check:1", rule("Seer", "check", wolves=[2])),
        ("check", rule("Seer", "check", wolves=[2], innocent=[1, 3, 4, 5, 6, 7])),
        # werewolves kill the dangerous, claimed seers first, and all the same one
        ("hunt:4", rule("Werewolf", "hunt", DANGER)),
        ("hunt:6", rule("Werewolf", "hunt", DANGER, (said(6, "I am Seer."),))),
        ("hunt:7", rule("Werewolf", "hunt", DANGER, (said(1, NAMED, 2),))),
        ("hunt:4", rule("Werewolf", "hunt", DANGER, (said(1, NAMED, 1),))),
        ("recommend:4", rule("Werewolf", "whisper", DANGER)),
        # they vote with the table where it is wrong, against a fellow who is lost, or by their own word
        ("vote:5", rule("Werewolf", "vote", DANGER, TABLE)),
        ("vote:1", rule("Werewolf", "vote", DANGER, (*TABLE, *accusations((4, 1), (3, 1))))),  # five of eight
        ("vote", rule("Werewolf", "vote", DANGER)),
        ("vote:6", rule("Werewolf", "vote", DANGER, (*TABLE, *accusations((0, 6))))),
        ("vote", rule("Werewolf", "vote", DANGER, (said(1, "I want to kill player_5.", 2, private=True),))),
        # one that was reported reports the seer
        ("report:6,1", rule("Werewolf", "speak", DANGER, (said(6, "I checked player_0: evil.", 2),))),
    ],
)  # fmt: skip
def test_what_the_rule_does(expected, asked):
    assert asked() == expected


@pytest.mark.parametrize("seed", range(30))
def test_a_werewolf_never_accuses_a_fellow_and_is_never_the_second_false_seer(seed):
    for messages, kinds in (
        ((), {"accuse", "defend", "report"}),
        ((said(1, "I checked player_5: evil."),), {"accuse", "defend"}),
    ):
        kind, _, args = choice("Werewolf", "speak", DANGER, messages, seed).partition(":")
        assert kind in kinds
        assert int(args[0]) in KNOWN["innocent"]


def test_options_that_are_none_of_werewolf_are_refused():
    rule = WerewolfDecision(me("Villager"), now("vote"), STANDING, (), np.random.default_rng(0))
    with pytest.raises(ParlourError, match="accepted: Werewolf's options"):
        rule.choose({"approve:1": ""})


# -- reranking -------------------------------------------------------------------------------------------------


def test_the_traversal_by_hand():
    # dot products with the query: .9, .1, .5; between the texts: 01 = .8, 02 = .1, 12 = .6. It starts at text 0. From there
    # text 1 costs -.8 and is expected to cost -.1 more: -.9; text 2: -.1 - .5 = -.6. Text 1, then text 2.
    between = np.array([[1, 0.8, 0.1], [0.8, 1, 0.6], [0.1, 0.6, 1]])
    assert asks.order(between, np.array([0.9, 0.1, 0.5])) == [0, 1, 2]
    # with .6 more to the query, text 2 costs -.1 - 1.1 = -1.2 and comes first, but the start does not change
    assert asks.order(between, np.array([1.2, 0.1, 1.1])) == [0, 2, 1]
    assert asks.order(np.ones((3, 3)), np.zeros(3)) == [0, 1, 2]
    # costs add up along the way: by text 1 (-.5) text 2 is reached at -.5 - .2 = -.7, before text 3 at -.45
    between = np.array([[1, 0.5, 0.1, 0.45], [0.5, 1, 0.2, 0], [0.1, 0.2, 1, 0], [0.45, 0, 0, 1]])
    assert asks.order(between, np.array([1.0, 0, 0, 0])) == [0, 1, 2, 3]
    assert asks.traverse("q", []) == []


# -- what each method is shown ---------------------------------------------------------------------------------


def listened(agent: Any, seed: int = 3) -> list[Ask[Any]]:
    """What the first village seat asks in a game."""
    env = rollout.table("werewolf_v0")
    env.reset(seed=seed)
    base: Any = env.unwrapped
    seat = next(k for k in range(8) if base.view(k).side == "village" and base.view(k).role == "Villager")
    model = Listener()
    rollout.play(env, [agent(model) if k == seat else WindowAgent() for k in range(8)], seed)
    return model.questions


def test_the_window_agent_sees_fifteen_messages():
    questions = listened(WindowAgent)
    assert {type(question) for question in questions} == {asks.Infer, asks.ReflectOnWindow, asks.Speak, asks.Choose}
    inferences = [question for question in questions if isinstance(question, asks.Infer)]
    assert max(len(question.messages) for question in inferences) == 15
    assert all(question.found == [] for question in inferences)
    assert all(len(q.messages) <= 15 for q in questions if isinstance(q, (asks.Speak, asks.Choose)))
    few = [q for q in listened(lambda model: WindowAgent(model, window=3)) if isinstance(q, asks.Infer)]
    assert max(len(question.messages) for question in few) == 3


def test_the_window_agent_may_look_three_messages_further_back():
    """Xu et al. 2023, as Zhu et al. 2024 compare with it: three similar messages for the standing questions."""
    questions = listened(lambda model: WindowAgent(model, older=3))
    inferences = [question for question in questions if isinstance(question, asks.Infer)]
    assert {len(question.found) for question in inferences} == {0, 3}
    for question in inferences:
        assert not question.found or len(question.messages) == 15
        assert not any(message in question.messages for message in question.found)


@pytest.mark.parametrize("agent", [RetrievalAgent, RerankAgent])
def test_retrieval_brings_back_what_the_window_has_lost(agent):
    inferences = [question for question in listened(agent) if isinstance(question, asks.Infer)]
    assert max(len(question.found) for question in inferences) == 5
    old = [[message for message in question.found if message not in question.messages] for question in inferences]
    assert any(old)
    assert all(len(question.messages) <= 15 for question in inferences)


def test_the_reranker_is_asked_for_what_was_retrieved():
    questions = [question for seed in range(3, 9) for question in listened(RerankAgent, seed)]
    orders = [question for question in questions if isinstance(question, asks.Rerank)]
    assert orders
    assert all(question.query == QUERY for question in orders)
    inferences = [question for question in questions if isinstance(question, asks.Infer) and len(question.found) > 1]
    assert len(inferences) == len(orders)
    moved = 0
    for question, inference in zip(orders, inferences, strict=True):
        order = question.heuristic(np.random.default_rng(0)).order
        assert inference.found == [question.texts[str(k)] for k in order]
        moved += order != sorted(order)
    assert moved
    assert not [question for question in listened(RetrievalAgent) if isinstance(question, asks.Rerank)]


def test_all_methods_put_the_same_question_to_act():
    acts = {}
    for agent in AGENTS:
        first = next(question for question in listened(agent) if isinstance(question, (asks.Speak, asks.Choose)))
        acts[agent] = (first.kind, first.me, first.now, first.messages, first.options)
    assert len({repr(act) for act in acts.values()}) == 1


# -- whole games -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    "config", [{}, {"rules": "reference"}, {"rules": "official", "num_players": 12}, {"talk": False, "num_players": 6}]
)
def test_games_end_without_a_fault_and_the_same_seed_gives_the_same_game(agent, config):
    env = rollout.table("werewolf_v0", **config)
    seats = config.get("num_players", 8)
    games = [rollout.play(env, [agent() for _ in range(seats)], 11) for _ in range(2)]
    assert games[0] == games[1]
    assert all(not any(faults.values()) for faults in games[0].faults.values())


# -- the hunter ------------------------------------------------------------------------------------------------

SHOT = 0
"""A seed of a game in which the hunter shoots."""
WITH_HUNTER = ["Werewolf"] * 3 + ["Witch", "Seer", "Hunter"] + ["Villager"] * 3


@pytest.mark.parametrize(("trust", "shot"), [(-0.5, "shoot:4"), (0.0, "shoot")])
def test_a_dying_hunter_shoots_whom_it_distrusts(trust, shot):
    me = WerewolfSelfInfo(seat=0, role="Hunter", side="village", roles=WITH_HUNTER, fellows=[])
    now = WerewolfSituation(does="shoot", day=2, alive=[3, 4], wolves=[], innocent=[], checks=[], attacked=None)
    options = {"shoot": "", "shoot:3": "", "shoot:4": ""}
    standing = [1, 0, 0, 0, trust, 0, 0, 0, 0]
    assert WerewolfDecision(me, now, standing, [], np.random.default_rng(0)).choose(options) == shot


def test_a_shot_is_an_attack_and_the_hunter_is_known():
    role_names = ("Werewolf", "Witch", "Seer", "Hunter", "Villager")
    shown, shot = Event(NATURE, Move("hunter", (3,)), None), Event(3, Move("shoot", (1,)), None)
    heard = [message for event in (shown, shot) for message in notes.messages(event, role_names, 2)]
    assert [message.line() for message in heard] == [
        'Day 2, moderator: "player_3 is the Hunter."',
        'Day 2, player_3 acts: "I shoot player_1."',
    ]
    villager = Observer(0, "villager", ("witch", "seer", "hunter"), (), ())
    trust = infer(villager, 9, heard, [1.0] * 2)
    assert trust[1] < 0 < trust[3]
    agents, table = [WindowAgent() for _ in range(9)], rollout.table("werewolf_v0", num_players=9, roles="hunter")
    views = rollout.play(table, agents, SHOT).last_views
    (hunter,) = (event.seat for event in views[0].events if event.move.kind == "shoot")
    for agent, view in zip(agents, views, strict=True):
        agent._take(view)
        assert agent._known.get(hunter) is (None if agent.seat == hunter else False)
