"""Published games become transcripts, move for move."""

from __future__ import annotations

import json
from functools import partial

import pytest
from parlour.envs import replay
from parlour.envs.avalon import GAME
from parlour.training.records.avalon.importing import import_records, transcripts as all_transcripts

from tests.reference_data import reference as data

import_file = partial(import_records, form="published-2023")
transcripts = partial(all_transcripts, form="published-2023")

RULES = GAME.build(GAME.options(num_players=6, rules="reference"))
SEEDS = range(40, 80)


@pytest.mark.parametrize("seed", [None, *SEEDS])
def test_a_transcript_holds_the_moves_of_the_game(seed, steps, record, written, tmp_path):
    (path,) = import_file(written(tmp_path, record(seed)), tmp_path / "out")
    transcript = replay.Transcript.read(path)
    assert path == tmp_path / "out" / f"game_{seed}.jsonl"
    assert list(transcript.moves) == [move for _, move, _ in steps(seed)]
    assert transcript.outcome == RULES.outcome(steps(seed)[-1][2])


def test_the_generated_games_hold_every_case(record):
    games = [record(seed) for seed in SEEDS]
    rounds = [round_ for game in games for round_ in game["rounds"]]
    proposals = [proposal for round_ in rounds for proposal in round_["proposals"]]
    asked = [round_["assassin"] for round_ in rounds if round_["assassin"]]
    assert {game["winner_method"] for game in games} == {"proposed", "baseline"}
    assert {len(game["rounds"]) for game in games} == {1, 2, 3, 4, 5}
    assert {round_["quest"]["team_source"] for round_ in rounds} == {"proposal", "random_sample"}
    assert {proposal["approvals"] for proposal in proposals if proposal["forced_by_retry_limit"]} == {0, 1, 2}
    assert any(proposal["short"] and proposal["forced_by_retry_limit"] for proposal in proposals)
    assert any(proposal["short"] and not proposal["executed"] for proposal in proposals)
    assert {guess["correct"] for guess in asked} == {None, True, False}
    assert {game["win_by"] for game in games} == {"quests", "assassination"}


def test_the_header_tells_how_events_were_read(record, written, tmp_path):
    game = record()
    game["rounds"][1]["quest"]["cards"]["6"] |= {"basis": "count", "text_class": "success"}
    game["rounds"][0]["quest"]["cards"]["3"] |= {"basis": "unclear_default", "text_class": "unclear"}
    (path,) = import_file(written(tmp_path, game), tmp_path)
    published = replay.Transcript.read(path).header["published"]
    assert published["confirm_logged"] == [True, True, False, True, True, True, False, True, True]
    assert published["cards"][:5] == [
        ["unclear_default", "unclear"],
        ["text"],
        ["text"],
        ["text"],
        ["count", "success"],
    ]
    assert (published["proposed_method_side"], published["baseline_side"]) == ("good", "evil")


def test_the_same_file_gives_the_same_bytes_and_may_be_imported_again(record, written, tmp_path):
    source = written(tmp_path, *(record(seed) for seed in SEEDS[:8]))
    first = import_file(source, tmp_path / "a")
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in first]
    assert import_file(source, tmp_path / "a") == first
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in first] == before
    assert [path.read_bytes() for path in import_file(source, tmp_path / "b")] == [text for text, _ in before]
    assert sorted((tmp_path / "a").iterdir()) == sorted(first)


def test_blank_lines_and_line_ends_of_other_systems_do_not_matter(record, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"\r\n".join(json.dumps(record(seed)).encode() for seed in (1, 2)) + b"\n\n")
    assert list(transcripts(path)) == ["game_1", "game_2"]


# -- the published games themselves ----------------------------------------------------------------------------


@pytest.fixture
def reference():
    return data("avalon_logs/extracted.jsonl").parent


def test_the_published_games_replay_to_their_outcomes(reference, tmp_path):
    records = [json.loads(line) for line in (reference / "extracted.jsonl").read_text().splitlines()]
    paths = import_file(reference / "extracted.jsonl", tmp_path)
    assert [path.stem for path in paths] == [record["game_id"] for record in records]
    for path, record in zip(paths, records, strict=True):
        *_, last = replay.reenact(replay.Transcript.read(path))
        outcome = replay.Transcript.read(path).outcome
        assert outcome is not None
        assert (outcome.winner, outcome.reason) == (record["winner"], record["win_by"])
        assert last.move is None
