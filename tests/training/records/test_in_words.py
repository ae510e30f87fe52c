"""The form `words`: games of ours there and back, the examples of docs/howto/records.md, and what is refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from parlour.envs import replay
from parlour.envs.core import NATURE, OVER, ParlourError
from parlour.envs.language.speech import ACTS
from parlour.training.cli import run
from parlour.training.records.in_words import AVALON_IN_WORDS, WEREWOLF_IN_WORDS, InWords
from parlour.training.records.json_objects import JsonObject, read_records
from parlour.training.records.reading import RecordedMoves, read_as
from parlour.training.records.werewolf import importing as werewolf

from tests import ROOT
from tests.training.records.bound import changed

PAGE = ROOT / "docs" / "howto" / "records.md"
EXAMPLES = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)]
EVENING, QUEST = EXAMPLES
TABLES: list[tuple[InWords, dict[str, Any]]] = [
    (AVALON_IN_WORDS, {"num_players": 5, "rules": "official", "talk": False}),
    (AVALON_IN_WORDS, {"num_players": 7, "rules": "paper"}),
    (AVALON_IN_WORDS, {"num_players": 6, "rules": "reference"}),
    (WEREWOLF_IN_WORDS, {"num_players": 8, "rules": "paper"}),
    (WEREWOLF_IN_WORDS, {"num_players": 6, "rules": "official", "max_days": 3}),
    (WEREWOLF_IN_WORDS, {"num_players": 9, "rules": "reference", "talk": False}),
]


def of_words(form, path):
    return read_as((form.format,), path, None, "words")


def played(form, config, seed):
    """The transcript of a random game, with free words at every speech."""
    game: Any = form.spec.build(form.spec.options(**config))
    table: RecordedMoves[Any] = RecordedMoves(form.spec.id, game, form.spec.text(game))
    rng, at = np.random.default_rng(seed), JsonObject("here", {})
    while (actor := table.actor) != OVER:
        legal = game.legal(table.state)
        move = game.nature(table.state, rng) if actor == NATURE else legal[int(rng.integers(len(legal)))]
        if move.kind in ACTS and rng.random() < 0.7:
            move = move._replace(words=f'I, player_{actor}, say “{move.kind}” to Eve & "all".')
        table.play(move, at)
    return table.transcript({})


def transcript_of(text):
    return replay.Transcript.parse(text.encode(), "made.jsonl")


@pytest.mark.parametrize(("form", "config"), TABLES)
def test_a_game_of_ours_comes_back_with_the_same_rules_and_moves(form, config, tmp_path):
    for seed in range(4):
        before = transcript_of(played(form, config, seed))
        record = form.record_of(before, "game")
        (tmp_path / "game.jsonl").write_text(json.dumps(record, ensure_ascii=False) + "\n")
        after = transcript_of(of_words(form, tmp_path / "game.jsonl")["game"])
        assert after.header["config"] == before.header["config"]
        assert [line["move"] for line in after.lines] == [line["move"] for line in before.lines]
        plain = [{key: value for key, value in line.items() if key != "raw"} for line in after.lines]
        assert plain == list(before.lines)  # seats, moves, words, sentences, and who saw them
        assert after.outcome == before.outcome
        assert form.record_of(after, "game") == record


def test_a_game_without_its_deal_is_not_written():
    whole = transcript_of(played(WEREWOLF_IN_WORDS, {"num_players": 4}, 1))
    with pytest.raises(ParlourError, match="'evening' has no deal of werewolf_v0; accepted: a game from its beginning"):
        WEREWOLF_IN_WORDS.record_of(replace(whole, entries=()), "evening")


def test_a_tied_hunt_is_drawn_by_nature(tmp_path):
    kinds = {
        line["does"]
        for seed in range(6)
        for line in WEREWOLF_IN_WORDS.record_of(transcript_of(played(WEREWOLF_IN_WORDS, TABLES[3][1], seed)), "game")[
            "moves"
        ]
        if line["who"] == "nature"
    }
    assert kinds == {"draw"}


# -- the page --------------------------------------------------------------------------------------------------


def test_the_example_of_werewolf_is_a_whole_game(tmp_path):
    (tmp_path / "games.jsonl").write_text(json.dumps(EVENING) + "\n")
    (path,) = werewolf.import_records(tmp_path / "games.jsonl", tmp_path / "out")
    transcript = replay.Transcript.read(path)
    assert path.name == "evening_1.jsonl"
    assert transcript.outcome is not None
    assert (transcript.outcome.winner, transcript.outcome.reason) == ("village", "wolves_dead")
    moves = transcript.moves
    assert moves[3] == ("report", (0, 1), "I checked player_0 last night: evil!")
    assert moves[4] == ("defend", (1,), "player_1 has never lied to us.")
    assert moves[5] == ("silent", (), "Everyone, player_1 makes it up.")
    assert transcript.entries[5].raw == "Everyone, Bo makes it up."
    *_, last = replay.reenact(transcript)
    assert last.move is None


def test_the_example_of_avalon_ends_early(taken):
    transcript = transcript_of(taken(QUEST)[0])
    assert transcript.outcome is None
    *_, state = replay.states(transcript.game(), transcript.moves)
    assert (state.standing.good, state.standing.evil) == (0, 1)
    assert transcript.header["record"]["names"] == ["Ann", "Bo", "Cy", "Dee", "Eve"]


def test_the_page_names_all_formats_and_kinds_of_moves():
    page = PAGE.read_text()
    for form, config in TABLES:
        for kind in {move.kind for move in form.spec.build(form.spec.options(**config)).catalogue}:  # type: ignore[attr-defined]
            assert f"`{kind}`" in page, kind
    for name in ("published-2023", "words", *(form.name for form in werewolf.FORMATS)):
        assert f"`{name}`" in page


# -- refusals --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "value", "reason"),
    [
        (("config",), {"num_players": 4}, "the list of players implies it"),
        (("config",), {"moon": "full"}, "config and roles cannot be used"),
        (("players", 0, "name"), "Bo", "a name of its own"),
        (("order",), ["Bo", "Cy", "Dee"], "all players, each once"),
        (("order",), ["Bo", "Cy", "Dee", "Zoe"], "order"),
        (("moves", 0, "whom"), ["Cy", "Cy"], "move 1: whom"),
        (("moves", 1, "whom"), "Bo", "move 2: check [1] is not accepted"),
        (("moves", 4), {"who": "Ann", "wrods": "?"}, "wrods is not accepted"),
        (("moves", 4), "?", "move 5 is not an object"),
        (("moves", 2, "words"), 7, "words"),
        (
            ("moves",),
            [*EVENING["moves"], {"who": "Bo", "words": "Good night."}],
            "the game ended before it, by wolves_dead",
        ),
        (("moves",), EVENING["moves"][:-1], 'winner "village" is not accepted'),
    ],
)
def test_contradictions_are_refused_with_their_place(way, value, reason, tmp_path):
    (tmp_path / "games.jsonl").write_text(json.dumps(changed(EVENING, way, value)) + "\n")
    with pytest.raises(ParlourError) as caught:
        werewolf.import_records(tmp_path / "games.jsonl", tmp_path / "out", form="words")
    message = str(caught.value)
    assert reason in message
    assert "games.jsonl' line 1" in message
    assert "accepted: " in message
    assert "\n" not in message
    assert not (tmp_path / "out").exists()


def test_both_forms_of_werewolf_are_told_apart(tmp_path):
    published = {"game": 7, "seats_1_2": "a", "roles": {"1": "werewolf", "2": "seer"}}
    (tmp_path / "games.jsonl").write_text(json.dumps(published) + "\n")
    (path,) = werewolf.import_records(tmp_path / "games.jsonl", tmp_path / "out")
    assert path.name == "werewolf-7.jsonl"
    (tmp_path / "games.jsonl").write_text('{"moves": []}\n')
    with pytest.raises(ParlourError, match=r"gratr \(with game, roles\); words \(with game, players, moves\)"):
        werewolf.import_records(tmp_path / "games.jsonl", tmp_path / "out")


# -- the command -----------------------------------------------------------------------------------------------


def test_transcripts_are_exported_and_imported_again(tmp_path, capsys):
    (tmp_path / "games.jsonl").write_text(json.dumps(EVENING) + "\n")
    assert run(["import", "werewolf", str(tmp_path / "games.jsonl"), "--out", str(tmp_path / "a")]) == 0
    assert run(["export", str(tmp_path / "a"), "--out", str(tmp_path / "again" / "games.jsonl")]) == 0
    assert run(["import", "werewolf", str(tmp_path / "again" / "games.jsonl"), "--out", str(tmp_path / "b")]) == 0
    first, second = (replay.Transcript.read(tmp_path / folder / "evening_1.jsonl") for folder in "ab")
    assert first.moves == second.moves
    assert first.outcome == second.outcome
    capsys.readouterr()
    (tmp_path / "other.jsonl").write_text('{"parlour": 1, "game": "mediated_qa_v0", "config": {}}\n')
    assert run(["export", str(tmp_path / "other.jsonl"), "--out", str(tmp_path / "c.jsonl")]) == 2
    assert "accepted: avalon_v0, werewolf_v0" in capsys.readouterr().err


def test_a_file_may_be_json_and_a_folder_may_hold_many(tmp_path):
    second = QUEST | {"game_id": "made_2"}
    (tmp_path / "one.json").write_text(json.dumps(QUEST, indent=1))
    (tmp_path / "two.json").write_text(json.dumps([second, QUEST | {"game_id": "made_3"}]))
    assert list(of_words(AVALON_IN_WORDS, tmp_path / "one.json")) == ["evening_2"]
    assert list(of_words(AVALON_IN_WORDS, tmp_path)) == ["evening_2", "made_2", "made_3"]
    (tmp_path / "three.jsonl").write_text(json.dumps(second) + "\n")
    assert list(of_words(AVALON_IN_WORDS, tmp_path)) == ["made_2"]  # a folder with *.jsonl is read by those


def test_files_without_known_endings_are_read_where_they_begin_with_a_brace(tmp_path):
    """Several lines: an object a line, also after an empty one, or one object over all lines. Other files are passed over."""
    (tmp_path / "a").write_text('\n{"x": 1}\n{"x": 2}\n')
    (tmp_path / "b").write_text('{\n"x": 3\n}\n')
    (tmp_path / "README").write_text("three records\n")
    assert [record.fields["x"] for record in read_records(tmp_path)] == [1, 2, 3]
