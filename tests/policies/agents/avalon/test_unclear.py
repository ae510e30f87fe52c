"""Appendix A.4 of arXiv 2310.14985: what counts where a model's vote, card or team cannot be read, and that it is not its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.envs.replay import Transcript
from parlour.policies import AvalonAgent, BaselineAgent, make_policy
from parlour.policies.agents.avalon import asks
from parlour.policies.agents.avalon.decide import by_default
from parlour.policies.llm.ask import from_inputs
from parlour.policies.llm.chat import ChatModel
from parlour.policies.llm.config import ModelConfig
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.llm.transport.meter import Meter
from parlour.policies.llm.transport.request import Completion, Request, Usage
from parlour.training.measure.decision_tables import PAPER, decision_tables
from parlour.training.play import rollout
from parlour.training.play.decisions import of_transcript
from parlour.training.play.parallel.concurrent_games import Job
from parlour.training.play.runner import GameRunner

from tests.policies.llm.schema_fuzz import Listener

DECIDES = ("avalon_agent.act", "avalon_agent.answer_table", "avalon_agent.respond")


class Vague:
    """A server that answers by heuristics, but says nothing clear where one of these is to be decided."""

    def __init__(self, *decisions: str) -> None:
        self.decisions = decisions

    def complete(self, request: Request) -> Completion:
        question: Any = from_inputs(request.inputs["kind"], request.inputs["inputs"])
        if question.kind in DECIDES and question.now.does in self.decisions:
            text = "That is hard to say; let me think about it."
        else:
            text = question.heuristic(np.random.default_rng(request.sample)).model_dump_json()
        return Completion((text,), Usage(10, 5), ("stop",))


def played(make: Any, *decisions: str, rules: str = "paper", **settings: Any) -> tuple[Any, list[Any]]:
    """A game at a table of such seats, and its moves with the seat."""
    model = ChatModel(ModelConfig(model="vague"), Meter(Vague(*decisions), Prices()))
    env = rollout.table("avalon_v0", num_players=6, rules=rules)
    episode = rollout.play(env, [make(model, **settings) for _ in range(6)], 4)
    return episode, [event for event in env.unwrapped.state_now.log if event.seat >= 0]


@pytest.mark.parametrize("make", [AvalonAgent, BaselineAgent])
def test_an_unclear_vote_agrees_and_an_unclear_card_fails_unless_the_seat_is_good(make):
    episode, events = played(make, "vote", "card")
    roles = [view.role for view in episode.last_views]
    votes = [event.move.args[0] for event in episode.last_views[0].events if event.move.kind == "votes"]
    assert votes
    assert all(set(event.move.args[1:]) == {1} for event in episode.last_views[0].events if event.move.kind == "votes")
    cards = [(event.seat, event.move.args[0]) for event in events if event.move.kind == "card"]
    free = {(seat, card) for seat, card in cards if roles[seat] in ("Morgana", "Assassin")}
    assert free
    assert all(card == (roles[seat] not in ("Morgana", "Assassin")) for seat, card in cards)
    for seat, decisions in enumerate(episode.decisions):
        unclear = len(votes) + sum(evil == seat for evil, _ in cards if roles[evil] in ("Morgana", "Assassin"))
        assert decisions.paper == {"unclear=paper": unclear}  # a good seat has one card, so that nothing is asked
        assert decisions.own == decisions.decisions - unclear
        assert decisions.heuristic == {}


def test_what_the_appendix_decides_is_named_where_decisions_are_shown(tmp_path, output_of):
    """In the transcript, which counts the same again, in the replay and in the tables."""
    model = ChatModel(ModelConfig(model="vague"), Meter(Vague("vote"), Prices()))
    job = Job(4, (("agent", lambda: AvalonAgent(model)),) * 6, tmp_path / "game.jsonl")
    (episode,) = GameRunner().play_each(rollout.table("avalon_v0", rules="paper"), [job], lambda _, game: game)
    transcript = Transcript.read(tmp_path / "game.jsonl")
    assert of_transcript(transcript) == episode.decisions
    marks = {(line.get("by"), line.get("reason")) for line in transcript.lines if line["move"][0] == "vote"}
    assert marks == {("paper", "unclear=paper")}
    made = sum(episode.decisions, Decisions())
    votes = sum(made.paper.values())
    assert output_of(["replay", str(tmp_path / "game.jsonl")]).count("[by the paper's rule: unclear=paper]") == votes
    whose, _, asked = decision_tables({"agent": made})
    act = next(row for row in asked.texts() if DECIDES[0] in row)
    for table, row in ((whose, whose.texts()[0]), (asked, act)):
        cells = dict(zip(table.headings, row, strict=True))
        assert (cells["heuristic"], cells[PAPER]) == ("0", f"{votes} (unclear=paper {votes})")


@pytest.mark.parametrize(
    ("replies", "shown"),
    [
        ((), "Approve: player_0, player_3, player_4. Reject: player_1, player_2, player_5."),
        (("vote",), "Approve: player_0, player_3, player_4, player_5. Reject: player_1, player_2."),
    ],
)
def test_a_vote_that_an_altered_reply_leaves_unclear_is_agreement_in_the_next_prompt_of_another(replies, shown):
    """Player_5 alone has the server; its first vote is no longer readable, and player_0 hears of it before it speaks again."""
    vague = ChatModel(ModelConfig(model="vague"), Meter(Vague(*replies), Prices()))
    model, env = Listener(), rollout.table("avalon_v0", num_players=6, rules="paper")
    agents = [AvalonAgent(vague if seat == 5 else model if seat == 0 else None) for seat in range(6)]
    rollout.play(env, agents, 4)
    analyses = [question.prompt() for question in model.questions if isinstance(question, asks.Analyse)]
    assert shown in next(prompt for prompt in analyses if "The team is accepted." in prompt)


def test_the_heuristic_decides_where_it_is_set_or_the_rules_are_others():
    for episode, _ in (played(AvalonAgent, "vote", unclear="heuristic"), played(AvalonAgent, "vote", rules="official")):
        votes = [event.move.args[1:] for event in episode.last_views[0].events if event.move.kind == "votes"]
        assert {0, 1} == {vote for ballots in votes for vote in ballots}
        assert all(decisions.heuristic == {"invalid": len(votes)} for decisions in episode.decisions)
        assert not any(decisions.paper for decisions in episode.decisions)


def test_without_the_action_module_the_response_is_what_is_unclear():
    episode, _ = played(AvalonAgent, "vote", without=("action",))
    assert all(set(event.move.args[1:]) == {1} for event in episode.last_views[0].events if event.move.kind == "votes")


def test_a_missing_team_is_drawn_among_the_whole_ones_and_a_card_succeeds_in_the_code():
    env = rollout.table("avalon_v0", num_players=6, rules="reference")
    agents = [AvalonAgent() for _ in range(6)]
    rollout.play(env, agents, 4)
    evil = next(agent.me for agent in agents if agent.me is not None and agent.me.role == "Morgana")
    now: Any = type("Now", (), {"does": "propose"})
    rng, teams = np.random.default_rng(0), ["propose", "propose:1", "propose:0,1", "propose:2,5"]
    drawn = {by_default("paper", evil, now, teams, rng) for _ in range(50)}
    assert drawn == {"propose:0,1", "propose:2,5"}
    now.does = "card"
    assert [by_default(rule, evil, now, ["card:1", "card:0"], rng) for rule in ("paper", "code", "heuristic")] == [
        "card:0",
        "card:1",
        None,
    ]


def test_another_rule_is_refused():
    with pytest.raises(ParlourError, match=r"unclear 'random' is not accepted; accepted: None, paper, code, heuristic"):
        make_policy("avalon_agent:unclear=random", "avalon_v0", {})
