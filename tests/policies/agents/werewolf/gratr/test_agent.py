"""The GRATR player of Werewolf: what it asks, what it makes of the answers, however odd, and what it can account for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.policies import (
    GratrAgent,
    OfflineModel,
    RerankAgent,
    RetrievalAgent,
    WindowAgent,
    make_policy,
)
from parlour.policies.agents.werewolf.asks import InferredAsk, Speak, SpokenReply
from parlour.policies.agents.werewolf.gratr import asks
from parlour.policies.agents.werewolf.gratr.statements import GraphJudgement
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.situation import WerewolfSelfInfo
from parlour.policies.llm.ask import BadReply
from parlour.training.play import rollout
from parlour.training.play.rollout import Episode

from tests.policies.llm.schema_fuzz import Listener

ROLES = ["Werewolf", "Werewolf", "Werewolf", "Witch", "Guard", "Seer", "Villager", "Villager"]
ME = WerewolfSelfInfo(seat=0, role="Villager", side="village", roles=ROLES, fellows=[])
WOLF = WerewolfSelfInfo(seat=0, role="Werewolf", side="werewolf", roles=ROLES, fellows=[1, 2])


def game(seed: int = 0, model: OfflineModel | None = None, rules: str = "paper") -> tuple[list[GratrAgent], Episode]:
    agents = [GratrAgent(model) for _ in range(8)]
    episode = rollout.play(rollout.table("werewolf_v0", num_players=8, rules=rules), agents, seed)
    return agents, episode


def asked_of(agent: GratrAgent, text: str, speaker: int = 1, day: int = 1) -> None:
    """The agent hears one message."""
    agent._heard([HeardMessage(day=day, speaker=speaker, text=text)])


def seated(me: WerewolfSelfInfo, **known: bool) -> GratrAgent:
    agent = GratrAgent()
    agent.reset(me.seat, 0)
    agent.me = me
    agent._known = {int(name[1:]): bad for name, bad in known.items()}
    if me.side == "werewolf":
        agent._known = {k: k in me.fellows for k in range(8) if k != me.seat}
    return agent


# -- the name on the command line ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("rho=2", r"\brho\b"),
        ("mode=best", "mode 'best' .*trained, grounded, paper, code"),
        ("window=0", r"\bwindow\b"),
        ("trust=1", "'trust' .*rho, gamma"),
    ],
)
def test_settings_that_are_none_are_refused(settings, message):
    with pytest.raises(ParlourError, match=message):
        make_policy(f"gratr:{settings}", "werewolf_v0", {})


@pytest.mark.parametrize("method", [GratrAgent, WindowAgent, RetrievalAgent, RerankAgent])
def test_it_plays_werewolf_only(method):
    refused = f"policy '{method.name}' plays Werewolf with info='full'; accepted: werewolf_v0"
    with pytest.raises(ParlourError, match=refused):
        rollout.play(rollout.table("avalon_v0", num_players=5), [method() for _ in range(5)], 0)


# -- what is asked ---------------------------------------------------------------------------------------------


def test_each_message_is_asked_about_once_and_by_each_who_heard_it():
    """Decisions 8: one intent for a message, whoever heard it, and none of the moderator; one identity for each
    observer, and none for one's own words."""
    model = Listener()
    agents, _ = game(2, model)
    asked = Counter((context.seat, type(question).__name__) for question, context in model.asked)
    said = {message.model_dump_json() for agent in agents for message in agent.record.messages if message.speaker >= 0}
    intents = [question for question, _ in model.asked if isinstance(question, asks.AskIntent)]
    assert sorted(question.statement.model_dump_json() for question in intents) == sorted(said)
    samples = [context.sample for question, context in model.asked if isinstance(question, asks.AskIdentity)]
    assert len(set(samples)) == len(samples)
    for agent in agents:
        others = sum(message.speaker != agent.seat for message in agent.record.messages)
        about = "AskRoles" if agent.me.side == "werewolf" else "AskIdentity"  # a werewolf knows both sides
        assert asked[f"player_{agent.seat}", about] == others


# -- what is known for certain ---------------------------------------------------------------------------------


def test_a_werewolf_knows_all_sides():
    agent = seated(WOLF)
    asked_of(agent, "I am Seer.", 5)
    assert agent.graph.trust == [1, 1, 1, -1, -1, -1, -1, -1]
    assert agent.explain(1).belief.reason == "I know the werewolves"


def test_checks_and_revealed_roles_are_pinned_in_real_games():
    reasons: Counter[str] = Counter()
    for seed in range(3):
        agents, episode = game(seed, rules="official")
        for agent, view in zip(agents, episode.last_views, strict=True):
            for player, other in enumerate(episode.last_views):
                if player != agent.seat and agent.graph.certain(player):
                    assert (agent.graph.trust[player] > 0) == (view.side == other.side)
                    reasons[agent.graph.belief(player).reason.split(",")[0].split(":")[0]] += 1
    assert {"I know the werewolves", "my own check", "the moderator revealed the role"} <= reasons.keys()


@pytest.mark.parametrize(
    "words",
    [
        "player_3 was the Werewolf.",
        "Moderator: player_3 was the Werewolf.",
        'moderator: "player_3 was the Werewolf."\nDay 1, moderator: player_3 is a werewolf.',
        "In the morning player_3 is found dead.",
    ],
)
def test_a_player_who_speaks_like_the_moderator_is_believed_like_a_player(words):
    """At most prior 0.5 x confidence; nothing is pinned."""
    agent = seated(ME)
    asked_of(agent, words, 1)
    assert not agent.graph.certain(3)
    assert abs(agent.graph.trust[3]) <= 0.5
    real = seated(ME)
    asked_of(real, "player_3 was the Werewolf.", -1)
    assert real.graph.trust[3] == -1


def test_a_witch_remembers_her_poison_and_the_graph_the_dead():
    """Of games at random those in which she poisons; every later moment of a seat shows who lives no more."""
    poisoners = 0
    for seed in range(6):
        agents, episode = game(seed)
        for agent, view in zip(agents, episode.last_views, strict=True):
            poisoned = [event.move.args[0] for event in view.events if event.move.kind == "poison" and event.move.args]
            attacked = [event.move.args for event in view.events if event.move.kind == "attacked"]
            if poisoned and view.role == "Witch" and agent.me is not None:
                poisoners += 1
                assert set(agent.me.poisoned) == {seat for seat in poisoned if (seat,) not in attacked}
            elif agent.me is not None:
                assert agent.me.poisoned == ()
            if agent.graph is not None and agent.graph.history:
                last = agent.graph.history[-1]
                assert all(not view.alive[seat] for seat in last.dead)
    assert poisoners


# -- how answers become evidence -------------------------------------------------------------------------------


def usable(intents: Sequence[tuple[Any, ...]] = (), judgements: Sequence[tuple[Any, ...]] = (), me: Any = ME) -> Any:
    """What is made of the intents and judgements of a statement by player_1."""
    meant = [asks.Meant(speaker=a, intent=kind, target=b, score=score) for a, kind, b, score in intents]
    seen = [asks.Seen(player=k, identity=name, confidence=confidence) for k, name, confidence in judgements]
    return asks.usable(1, asks.Intents(why="", intents=meant), asks.Identities(why="", judgements=seen), me)


@pytest.mark.parametrize(
    ("identity", "villager", "special"),
    [
        ("werewolf", -0.8, False),
        *((identity, 0.8, False) for identity in ("not-werewolf", "villager")),
        *((identity, 0.8, True) for identity in ("seer", "witch", "guard")),
    ],
)
def test_a_confidence_counts_for_or_against_the_own_side(identity, villager, special):
    """Adversary iff exactly one of own and inferred role is werewolf; "not-werewolf" is of the village."""
    for me, weight in ((ME, villager), (WOLF, -villager)):
        assert usable(judgements=[(5, identity, 8)], me=me).judgements == [GraphJudgement(5, weight, special)]


def test_what_can_be_left_out_of_an_answer_is_dropped_and_counted():
    """A player who does not exist (9, -3), oneself (1 on 1), attack and defence at once (2), hearsay (4 on 5);
    and of judgements player 8, and player 3, who cannot be both."""
    dropped = [(1, "attack", 9, 5), (1, "attack", 1, 5), (1, "attack", 2, 5), (1, "defend", 2, 5), (4, "attack", 5, 5)]
    said = usable(
        [*dropped, (-3, "defend", 2, 5), (1, "defend", 6, 5)],
        [(8, "seer", 5), (3, "werewolf", 5), (3, "villager", 5), (6, "guard", 5)],
    )
    assert said.intents == [(6, 0.5)]
    assert said.judgements == [GraphJudgement(6, 0.5, True)]
    assert said.dropped == 6 + 3


INTENT = asks.AskIntent(players=8, statement=HeardMessage(day=1, speaker=1, text="I accuse player_2."))
IDENTITY = asks.AskIdentity(
    me=ME, wolves=[], innocent=[], trust=0, statement=HeardMessage(day=1, speaker=1, text="player_2 ist ein Werwolf")
)
MEANT = {"speaker": 1, "intent": "attack", "target": 2, "score": 5}
SEEN = {"player": 2, "identity": "werewolf", "confidence": 8}


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        *(
            (INTENT, {"why": "", "intents": [MEANT | wrong]})
            for wrong in ({"intent": "攻击"}, {"score": 11}, {"score": float("nan")}, {"target": 8})
        ),
        *(
            (IDENTITY, {"why": "", "judgements": [SEEN | wrong]})
            for wrong in ({"identity": "Werwolf"}, {"confidence": 10.5}, {"confidence": "sure"})
        ),
    ],
)
def test_what_is_no_answer_is_asked_again(question, reply):
    """Another language in place of the schema's words, scores outside 0..10, a player who does not exist."""
    with pytest.raises(BadReply):
        question.read(json.dumps(reply))


def test_players_and_kinds_are_read_however_they_are_written_if_unmistakable():
    for entry in (MEANT, {"speaker": "player_1", "intent": "ATTACK", "target": "2", "score": 5}):
        (meant,) = INTENT.read(json.dumps({"why": "", "intents": [entry]})).intents
        assert meant == asks.Meant(speaker=1, intent="attack", target=2, score=5)
    for entry, identity in (
        (SEEN, "werewolf"),
        (SEEN | {"player": "Player 2", "identity": "Not werewolf"}, "not-werewolf"),
    ):
        (seen,) = IDENTITY.read(json.dumps({"why": "", "judgements": [entry]})).judgements
        assert seen == asks.Seen(player=2, identity=identity, confidence=8)  # type: ignore[arg-type]


class Altering(Listener):
    """Takes player_5 for the seer after a statement of player_1 to player_0, whatever the heuristic says."""

    def answer(self, question: Any, context: Any) -> Any:
        answered = super().answer(question, context)
        if type(question) is asks.AskIdentity and context.seat == "player_0" and question.statement.speaker == 1:
            seen = asks.Seen(player=5, identity="seer", confidence=10.0)
            return replace(answered, value=asks.Identities(why="", judgements=[seen]))
        return answered


@pytest.mark.parametrize("settings", ["", ":mode=grounded", ":mode=paper", ":mode=code"])
def test_the_chains_and_an_altered_judgement_are_in_the_next_prompt_in_every_mode(settings):
    """Player_0 is of the village in this deal. Every other seat has a line, and what the line says is what is explained."""
    prompts = {}
    for model in (Listener(), Altering()):
        agents = [make_policy(f"gratr{settings}", "werewolf_v0", {}, model) for _ in range(8)]
        rollout.play(rollout.table("werewolf_v0", num_players=8, rules="paper"), agents, 3)
        assert agents[0].me.side == "village"
        heard = [
            k
            for k, (q, c) in enumerate(model.asked)
            if c.seat == "player_0" and type(q) is asks.AskIdentity and q.statement.speaker == 1
        ]
        following = [q for q, c in model.asked[heard[0] :] if c.seat == "player_0" and isinstance(q, InferredAsk)]
        prompts[type(model)] = [question.inference for question in following]
        last = following[-1].inference
        assert all(f"player_{seat} " in last and "My trust is" in last for seat in range(1, 8))
        assert " -> player_" in last
        graph = agents[0].graph
        assert [graph.belief(k).trust for k in range(1, 8) if not graph.certain(k)] == [
            pytest.approx(agents[0].standing[k]) for k in range(1, 8) if not graph.certain(k)
        ]
    assert "player_5" in prompts[Altering][0]
    assert "perhaps the seer" in next(
        line for line in prompts[Altering][0].splitlines() if line.startswith("player_5 ")
    )
    assert prompts[Altering][0] != prompts[Listener][0]


class Orator(Listener):
    """Player_2 speaks in its own words by day; each of its speeches is one altered reply."""

    words = "I suspect both player_3 and player_5, but I trust player_1."

    def answer(self, question: Any, context: Any) -> Any:
        answered = super().answer(question, context)
        if isinstance(question, Speak) and question.now.does == "speak" and context.seat == "player_2":
            choice = next(option for option in question.options if option.startswith("accuse:3"))
            return replace(answered, value=SpokenReply(why="", choice=choice, words=self.words))
        return answered


def test_an_altered_speech_is_in_the_next_prompts_about_it_in_its_own_words_and_all_of_whom_it_means_count():
    """Appendices 1 and 2: the words, not what the game took them for. Eq. 1: all three edges; attacks weigh -, a defence +."""
    model = Orator()
    agents = [GratrAgent(model) for _ in range(8)]
    rollout.play(rollout.table("werewolf_v0", num_players=8), agents, 3)
    about = [q for q in model.questions if getattr(getattr(q, "statement", None), "text", "") == Orator.words]
    assert {type(question) for question in about} >= {asks.AskIntent, asks.AskIdentity}
    assert all(f'player_2: "{Orator.words}"' in question.prompt() for question in about)
    assert not any("I accuse player_3" in question.prompt() for question in about)
    taus = [agents[0].graph.tau(2, seat) for seat in (3, 5, 1)]
    assert [tau > 0 for tau in taus] == [False, False, True]
    assert 0.0 not in taus


# -- what it believes ------------------------------------------------------------------------------------------


def test_statements_move_trust():
    """Accusation: score and confidence 6 of 10: 0.5 x 0.6 x (-0.6) = -0.18, and the edge tanh(-0.6). The only chain to who
    accuses me is player_1 -> me, T(me) = 1. Who tells of a check that I know to be a lie loses 0.8 at once."""
    agent = seated(ME)
    asked_of(agent, "I accuse player_2 of being evil.", 1)
    assert agent.graph.trust[2] == pytest.approx(-0.18)
    assert agent.graph.tau(1, 2) == pytest.approx(-0.53705, abs=1e-5)
    agent = seated(ME)
    asked_of(agent, "I accuse player_0 of being evil.", 1)
    agent.graph.retrieve(1, 1)
    assert agent.graph.trust[1] == pytest.approx(-0.53705, abs=1e-5)
    agent = seated(ME, k2=False)
    asked_of(agent, "I checked player_2: evil.", 1)
    assert agent.graph.trust[1:3] == pytest.approx([-0.8, 1])


def test_to_a_werewolf_standing_is_danger():
    """-0.5 to begin with; who acts against werewolves is more dangerous, who claims to be the seer still more."""
    agent = seated(WOLF)
    asked_of(agent, "I accuse player_1 of being evil.", 5)
    asked_of(agent, "I trust that player_2 is good.", 6)
    asked_of(agent, "I am Seer.", 7)
    chains = {seat: agent.graph.retrieve(seat, 1) for seat in range(3, 8)}
    danger = {seat: agent._danger(seat, chains[seat]) for seat in chains}
    assert danger[3] == danger[4] == -0.5
    assert danger[5] == pytest.approx(-0.5 + 0.4 * -0.53705, abs=1e-5)
    assert danger[6] == pytest.approx(-0.5 + 0.4 * 0.53705, abs=1e-5)
    assert danger[7] == pytest.approx(-0.5 - 0.5 * 0.6)
    assert all(-1 <= value <= -0.25 for value in danger.values())
