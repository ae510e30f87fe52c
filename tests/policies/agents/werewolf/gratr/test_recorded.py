"""A trust graph as a transcript's notes give it: the same as the player's own, and written by `parlour replay --graph`."""

from __future__ import annotations

import json

import networkx as nx
import pytest
from parlour.envs import replay as transcripts
from parlour.envs.core import ParlourError
from parlour.policies import make_policy
from parlour.policies.agents.werewolf.gratr.export import as_json
from parlour.policies.agents.werewolf.gratr.recorded import DIGITS, GraphNews, RecordedGraph, recorded_graphs
from parlour.training.play import rollout
from parlour.wrappers.record import Recorder


def close(one, other):
    """Whether plain values are the same, numbers to the digits that a note keeps."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(close, one, other))
    return abs(one - other) <= 10.0**-DIGITS if isinstance(one, float) else one == other


@pytest.fixture(
    scope="module", params=["gratr", "gratr:mode=grounded", "gratr:mode=paper", "gratr:mode=paper,floor=none"]
)
def game(request, tmp_path_factory):
    """The file of a game, and the players that played it."""
    table = rollout.table("werewolf_v0")
    base = table.game_env
    seated = [make_policy(request.param, "werewolf_v0", base.game.config) for _ in range(base.game.seats)]
    path = tmp_path_factory.mktemp("graphs") / "game.jsonl"
    recorder = Recorder(table, path)
    rollout.play(recorder, seated, 3)
    recorder.close()
    return path, seated


def graphs_in(path):
    transcript = transcripts.Transcript.read(path)
    noted = ((entry.seat, line) for entry, line in zip(transcript.entries, transcript.lines, strict=True))
    return {seat: graph for _, seat, graph in recorded_graphs(noted)}


def test_the_graph_of_the_notes_is_the_player_s_own_at_its_last_decision(game):
    path, seated = game
    recorded = graphs_in(path)
    assert recorded
    for seat, graph in recorded.items():
        own, written = as_json(seated[seat].graph), as_json(graph)
        assert close(own["moments"], written["moments"])
        for key in ("evidence", "beliefs"):  # what was heard after the last decision is in no note
            assert all(any(close(item, other) for other in own[key]) for item in written[key])
        for player in range(8):
            if graph.parameters.floor != "none":
                assert all(chain.weight > 0 for chain in graph.belief(player).chains)
            assert graph.explain(player).lines()


def test_news_are_told_once(game):
    _, seated = game
    graph = next(player.graph for player in seated if player.graph is not None)
    news = GraphNews()
    assert RecordedGraph.begin(news.since(graph)).me == graph.me
    assert news.since(graph) == {}
    graph.mark("day 9", 9)
    assert news.since(graph).keys() == {"moments", "evidence", "beliefs", "now"}


def test_replay_writes_the_last_graph_of_a_seat(game, tmp_path, output_of, error_of):
    path, _ = game
    recorded = graphs_in(path)
    assert "--seat" in error_of(["replay", str(path), "--graph", str(tmp_path / "g.json")])  # several have one
    for ending in ("json", "graphml"):
        assert "player_2" in output_of(
            ["replay", str(path), "--graph", str(tmp_path / f"g.{ending}"), "--seat", "player_2"]
        )
    assert json.loads((tmp_path / "g.json").read_text("utf-8")) == json.loads(json.dumps(as_json(recorded[2])))
    assert len(nx.read_graphml(tmp_path / "g.graphml")) == 8
    output_of(["replay", str(path), "--graph", str(tmp_path / "g.png"), "--seat", "player_2"])
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")
    assert "graph.pdf" in error_of(["replay", str(path), "--graph", str(tmp_path / "graph.pdf"), "--seat", "player_2"])


def test_a_game_without_a_graph_is_refused(tmp_path, output_of, error_of):
    output_of(["play", "werewolf_v0", "--players", "5", "--out", str(tmp_path)])
    assert "gratr" in error_of(["replay", str(tmp_path / "werewolf_v0-1.jsonl"), "--graph", str(tmp_path / "g.json")])


def test_a_note_that_continues_another_graph_is_refused_whole(game):
    _, seated = game
    first, second = (player.graph for player in seated[:2])
    graph = RecordedGraph.begin(GraphNews().since(first))
    before = as_json(graph)
    with pytest.raises(ParlourError, match="note"):
        graph.take(
            {
                key: value
                for key, value in GraphNews().since(second).items()
                if key not in ("me", "players", "parameters")
            }
        )
    assert as_json(graph) == before
