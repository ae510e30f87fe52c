"""The baselines of Werewolf: what they are shown, what they infer, what they do."""

from __future__ import annotations

import json
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies import RerankAgent, RetrievalAgent, WindowAgent, make_policy
from parlour.policies.agents.werewolf import asks
from parlour.policies.agents.werewolf.agents import QUERY, sentence_of
from parlour.policies.agents.werewolf.decide import WerewolfDecision
from parlour.policies.agents.werewolf.inference import infer, stance
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.reading import Observer
from parlour.policies.agents.werewolf.situation import SeerCheck, WerewolfSelfInfo, WerewolfSituation
from parlour.policies.llm.ask import Ask
from parlour.training.play import rollout
from parlour.wrappers import Recorder
from schema_fuzz import Listener

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
STANDING = [1.0, -0.3, -0.7, 0.5, 0.0, 0.1, 0.0, 0.0]


def choice(
    who: WerewolfSelfInfo,
    situation: WerewolfSituation,
    offered: dict[str, str],
    standing: list[float] = STANDING,
    messages: tuple[HeardMessage, ...] = (),
    seed: int = 0,
) -> str:
    return WerewolfDecision(who, situation, standing, messages, np.random.default_rng(seed)).choose(offered)


def test_the_village_votes_for_the_least_trusted_who_lives():
    vote = options("vote", *range(8))
    assert choice(me("Villager"), now("vote"), vote) == "vote:2"
    assert choice(me("Villager"), now("vote", alive=[0, 1, 3, 4]), vote) == "vote:1"
    assert choice(me("Villager"), now("vote", innocent=[2]), vote) == "vote:1"
    assert choice(me("Villager"), now("vote", wolves=[5]), vote) == "vote:5"
    assert choice(me("Villager"), now("vote"), vote, [1.0] + [0.3] * 7) == "vote"


def test_the_village_votes_together_with_those_it_does_not_distrust():
    vote = options("vote", *range(8))
    # player_1 is trusted less than player_5, but two who are believed accuse player_5, and one who is not player_1
    standing = [1.0, -0.5, -0.9, 0.0, 0.0, -0.4, 0.0, 0.0]
    heat = tuple(said(k, f"I accuse player_{j} of being evil.", 2) for k, j in ((3, 5), (4, 5), (2, 1)))
    assert choice(me("Villager"), now("vote"), vote, standing, heat) == "vote:5"
    assert choice(me("Villager"), now("vote"), vote, standing, heat[2:]) == "vote:2"
    assert choice(me("Villager"), now("vote"), vote, standing, heat[:1]) == "vote:5"
    trusted = [*standing[:5], 0.3, 0.0, 0.0]  # an ally is not voted out, whoever accuses him
    assert choice(me("Villager"), now("vote"), vote, trusted, heat) == "vote:2"


def test_the_village_says_what_it_holds():
    assert choice(me("Villager"), now("speak"), SPEECHES) == "accuse:2"
    assert choice(me("Villager"), now("speak"), SPEECHES, [1, 0, 0, 0.5, 0, 0, 0, -0.2]) == "defend:3"
    assert choice(me("Villager"), now("speak"), SPEECHES, [1.0] + [0.0] * 7) == "silent"


def test_the_seer_tells_of_a_werewolf_at_once_and_of_others_when_it_is_due():
    wolf, good = SeerCheck(player=4, werewolf=True), SeerCheck(player=5, werewolf=False)
    who, first = me("Seer"), {"day": 1, "checks": [wolf, good]}
    assert choice(who, now("speak", **first), SPEECHES) == "report:4,1"
    assert choice(who, now("speak", day=1, checks=[good]), SPEECHES) == "accuse:2"
    assert choice(who, now("speak", day=2, checks=[good]), SPEECHES) == "report:5,0"
    rival = (said(6, "I am Seer."),)
    assert choice(who, now("speak", day=1, checks=[good]), SPEECHES, messages=rival) == "report:5,0"
    # what it has reported it does not report again; the dead are past reporting
    told_before = (said(0, "I checked player_4: evil.", 1),)
    assert choice(who, now("speak", **first), SPEECHES, messages=told_before) == "accuse:2"
    assert choice(who, now("speak", day=1, checks=[wolf], alive=[0, 2]), SPEECHES) == "accuse:2"


def test_who_has_a_power_says_so_when_pressed():
    pressing = tuple(said(k, "I accuse player_0 of being evil.", 2) for k in (1, 2))
    assert choice(me("Witch"), now("speak"), SPEECHES, messages=pressing) == "claim_role:1"
    assert choice(me("Witch"), now("speak"), SPEECHES, messages=pressing[:1]) == "accuse:2"
    assert choice(me("Villager"), now("speak"), SPEECHES, messages=pressing) == "accuse:2"


def test_the_witch_saves_unless_she_distrusts_and_poisons_only_who_is_lost_to_her():
    save = {"save:0": "", "save:1": ""}
    assert choice(me("Witch"), now("save", attacked=3), save) == "save:1"
    assert choice(me("Witch"), now("save", attacked=1), save) == "save:1"
    assert choice(me("Witch"), now("save", attacked=2), save) == "save:0"
    assert choice(me("Witch"), now("save", attacked=0), save, [-1.0] * 8) == "save:1"
    poison = options("poison", *range(8))
    assert choice(me("Witch"), now("poison"), poison) == "poison:2"
    assert choice(me("Witch"), now("poison"), poison, [1, -0.5, -0.6, 0, 0, 0, 0, 0]) == "poison"


def test_the_guard_protects_a_credible_seer_then_the_most_trusted_then_himself():
    protect, claims = options("protect", *range(8)), (said(5, "I am Seer."), said(2, "I am Seer."))
    assert choice(me("Guard"), now("protect"), protect, messages=claims) == "protect:5"
    assert choice(me("Guard"), now("protect"), protect, messages=claims[1:]) == "protect:3"
    assert choice(me("Guard"), now("protect"), protect, [1.0] + [0.0] * 7) == "protect:0"
    without = {code: words for code, words in protect.items() if code != "protect:3"}
    assert choice(me("Guard"), now("protect"), without, messages=claims[1:]) == "protect:0"


def test_the_seer_checks_the_least_trusted_of_whom_it_is_not_certain():
    check = options("check", *range(1, 8))
    assert choice(me("Seer"), now("check"), check) == "check:2"
    assert choice(me("Seer"), now("check", wolves=[2]), check) == "check:1"
    assert choice(me("Seer"), now("check", wolves=[2], innocent=[1, 3, 4, 5, 6, 7]), check) == "check"


WOLF = me("Werewolf", 0, (1, 2))
KNOWN = {"wolves": [1, 2], "innocent": [3, 4, 5, 6, 7]}
DANGER = [1.0, 1.0, 1.0, -0.5, -0.9, -0.5, -0.5, -0.4]


def test_werewolves_kill_the_dangerous_claimed_seers_first_and_all_the_same_one():
    hunt = options("hunt", *range(8))
    assert choice(WOLF, now("hunt", **KNOWN), hunt, DANGER) == "hunt:4"
    assert choice(WOLF, now("hunt", **KNOWN), hunt, DANGER, (said(6, "I am Seer.", 1),)) == "hunt:6"
    assert choice(WOLF, now("hunt", **KNOWN), hunt, DANGER, (said(1, "I want to kill player_7.", 2),)) == "hunt:7"
    assert choice(WOLF, now("hunt", **KNOWN), hunt, DANGER, (said(1, "I want to kill player_7.", 1),)) == "hunt:4"
    whisper = options("recommend", *range(8)) | {"silent": ""}
    assert choice(WOLF, now("whisper", **KNOWN), whisper, DANGER) == "recommend:4"


def test_werewolves_vote_with_the_table_where_it_is_wrong():
    vote = options("vote", *range(8))
    heat = tuple(said(k, f"I accuse player_{j} of being evil.", 2) for k, j in ((3, 5), (4, 5), (5, 1), (6, 1), (7, 1)))
    assert choice(WOLF, now("vote", **KNOWN), vote, DANGER, heat) == "vote:5"
    lost = (*heat, said(4, "I accuse player_1 of being evil.", 2), said(3, "I accuse player_1 of being evil.", 2))
    assert choice(WOLF, now("vote", **KNOWN), vote, DANGER, lost) == "vote:1"  # five of eight: he is lost
    assert choice(WOLF, now("vote", **KNOWN), vote, DANGER) == "vote"
    own = (*heat, said(0, "I accuse player_6 of being evil.", 2))  # it stands by its own word
    assert choice(WOLF, now("vote", **KNOWN), vote, DANGER, own) == "vote:6"
    whispered = (said(1, "I want to kill player_5.", 2, private=True),)
    assert choice(WOLF, now("vote", **KNOWN), vote, DANGER, whispered) == "vote"


@pytest.mark.parametrize("seed", range(30))
def test_a_werewolf_never_accuses_a_fellow_and_is_never_the_second_false_seer(seed):
    claimed = (said(1, "I checked player_5: evil.", 1),)
    kinds = set()
    for messages in ((), claimed):
        wanted = choice(WOLF, now("speak", **KNOWN), SPEECHES, DANGER, messages, seed)
        kind, _, args = wanted.partition(":")
        assert kind in ({"accuse", "defend", "report"} if not messages else {"accuse", "defend"})
        assert int(args[0]) in KNOWN["innocent"]
        kinds.add(kind)
    assert kinds


def test_a_werewolf_that_was_reported_reports_the_seer():
    reported = (said(6, "I checked player_0: evil.", 2),)
    assert choice(WOLF, now("speak", **KNOWN), SPEECHES, DANGER, reported) == "report:6,1"


def test_options_that_are_none_of_werewolf_are_refused():
    with pytest.raises(ParlourError, match="accepted: Werewolf's options"):
        choice(me("Villager"), now("vote"), {"approve:1": ""})


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


def test_an_opinion_in_words():
    ally, unsure = (asks.InferredOpinion(player=2, stance=kind, trust=u) for kind, u in (("ally", 0.5), ("unsure", 0)))
    assert sentence_of(ally) == "player_2 is inferred to be my ally (trust +0.50)."
    assert sentence_of(unsure) == "player_2 may be on either side (trust +0.00)."


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


@pytest.mark.parametrize("agent", AGENTS)
def test_beliefs_are_noted_where_they_changed(agent, tmp_path):
    rollout.play(Recorder(rollout.table("werewolf_v0"), tmp_path / "game.jsonl"), [agent() for _ in range(8)], 5)
    lines = [json.loads(line) for line in (tmp_path / "game.jsonl").read_text("utf-8").splitlines()]
    own = [line for line in lines if line.get("seat") == "player_0"]
    beliefs = [line["beliefs"] for line in own if "beliefs" in line]
    assert 0 < len(beliefs) < len(own)
    for belief in beliefs:
        assert sorted(belief) == [f"player_{k}" for k in range(1, 8)]
        assert all(kind == stance(number) and -1 <= number <= 1 for kind, number in belief.values())
    assert all(a != b for a, b in pairwise(beliefs))


def test_settings_from_words_and_from_files(tmp_path):
    agent = make_policy("werewolf_rerank:window=7,top=2", "werewolf_v0", {})
    assert isinstance(agent, RerankAgent)
    assert (agent.chosen.window, agent.chosen.top) == (7, 2)
    agent.save(tmp_path / "agent.json")
    again = RerankAgent.load(tmp_path / "agent.json")
    assert again.settings() == agent.settings()
    assert pickle.loads(pickle.dumps(agent)).settings() == agent.settings()
    for bad in ("werewolf_window:top=3", "werewolf_rag:top=0", "werewolf_rag:window=x", "werewolf_window:window=-1"):
        with pytest.raises(ParlourError, match="accepted"):
            make_policy(bad, "werewolf_v0", {})


def test_it_plays_werewolf_alone():
    env = rollout.table("avalon_v0", num_players=6)
    with pytest.raises(ParlourError, match="werewolf_v0"):
        rollout.play(env, [WindowAgent() for _ in range(6)], 0)
