"""Records of the form `gpt51` become transcripts, field for field; contradictions are refused, early ends are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gpt51_changes import bound, choices
from gpt51_record import game_made
from hypothesis import given, settings, strategies as st
from parlour.envs import replay
from parlour.envs.avalon.vocabulary import BALLOT, CARD, DEALT, GUESS, TEAM
from parlour.envs.core import NATURE, ParlourError
from parlour.envs.language.speech import ACTS
from parlour.training.cli import run
from parlour.training.records.avalon.importing import import_records, transcripts
from parlour.training.records.json_objects import JsonObject
from parlour_people.multi_round.rules import CONSULT
from parlour_people.records.gpt51 import GPT51, ROLES

from tests.refused_values import check, sentences
from tests.training.records.bound import changed
from tests.training.records.test_any_values import check_any_value

SAMPLED = 61
"""Of the changes of a published game every so manieth is tried here; a prime, so that all kinds of fields come up."""


def transcript_of(text):
    return replay.Transcript.parse(text.encode(), "made.jsonl")


def tell(game):
    """The transcript of a record as it is in memory. Raises `ParlourError`."""
    return GPT51.transcript(JsonObject("here", game), None)


def recorded(game):
    """What a record tells, by kind of move: names as in the record, words as written."""
    parts: dict[str, list[Any]] = {"said": [], "teams": [], "votes": [], "cards": [], "consulted": [], "guess": []}
    for mission in game["missions"]:
        parts["said"] += [(message["player"], message["content"]) for message in mission["discussion"]]
        for proposal in mission["proposals"]:
            parts["teams"].append((proposal["leader"], sorted(proposal["team_members"]), proposal["reasoning"]))
            votes = sorted((vote["player"], vote["vote"], vote["comment"]) for vote in proposal["votes"])
            parts["votes"] += votes
        parts["cards"] += sorted((card["player"], card["action"]) for card in mission["quest_actions"])
    if hunt := game.get("assassin_phase"):
        parts["consulted"] = [(message["player"], message["content"]) for message in hunt["evil_discussion"]]
        parts["guess"] = [(hunt["assassin"], hunt["guess"], hunt["reasoning"])]
    return parts


def played(transcript):
    """The same of a transcript."""
    names = transcript.header["record"]["names"]
    parts: dict[str, list[Any]] = {"said": [], "teams": [], "votes": [], "cards": [], "consulted": [], "guess": []}
    for seat, move, _, raw, *_ in transcript.entries:
        assert move is not None
        who = names[seat]
        if move.kind in ACTS:
            parts["said"].append((who, raw))
        elif move.kind == TEAM:
            parts["teams"].append((who, sorted(names[k] for k in move.args), raw))
        elif move.kind == BALLOT:
            parts["votes"].append((who, "approve" if move.args[0] else "reject", raw))
        elif move.kind == CARD:
            parts["cards"].append((who, "success" if move.args[0] else "fail"))
        elif move.kind == CONSULT:
            parts["consulted"].append((who, raw))
        elif move.kind == GUESS:
            parts["guess"].append((who, names[move.args[0]], raw))
        else:
            assert (seat, move.kind) == (NATURE, DEALT)
    return parts


def same_game(game, transcript):
    """Every field of a record is in its transcript."""
    result = transcript.finished("avalon_multi_round_v0")
    assert result is not None
    rules, states = result
    names = [player["name"] for player in game["players"]]
    assert transcript.header["record"]["names"] == names
    assert [rules.role_names[r] for r in states[-1].standing.roles] == [ROLES[p["role"]] for p in game["players"]]
    assert list(rules.sizes) == game["config"]["mission_team_sizes"]
    seats = {name: k for k, name in enumerate(names)}
    by_seat = recorded(game)
    assert played(transcript) == by_seat  # the names of these games are in the order of the seats: sorted is by seat
    fails = [event.move.args for event in states[-1].log if event.move.kind == "fails"]
    assert fails == [
        (k, m["fail_count"], int(m["mission_result"] == "success")) for k, m in enumerate(game["missions"])
    ]
    goes = [event.move.args[0] for event in states[-1].log if event.move.kind == "votes"]
    assert goes == [int(p["vote_result"] == "approved") for m in game["missions"] for p in m["proposals"] if p["votes"]]
    assert transcript.outcome is not None
    assert transcript.outcome.winner == game["winner"]
    hunt = game.get("assassin_phase")
    assert (transcript.outcome.reason == "assassination") == bool(hunt and hunt["correct"])
    for player in game["players"]:
        known = [k for fact in rules.view(states[1], seats[player["name"]]).knows for k in fact.seats]
        assert sorted(known) == sorted(seats[name] for name in player["special_knowledge"])


# -- one game made here ----------------------------------------------------------------------------------------


def test_every_field_of_a_record_is_in_its_transcript(made, taken):
    (text,) = taken(made)
    transcript = transcript_of(text)
    same_game(made, transcript)
    assert transcript.header["record"] == {
        "format": "gpt51",
        "source": "made/game_1.json",
        "game_id": "made_1",
        "model": "a-model",
        "reasoning_effort": "low",
        "memory": True,
        "names": ["Ann", "Bo", "Cy", "Dee", "Eve"],
    }
    assert (transcript.header["game"], transcript.header["config"]) == ("avalon_multi_round_v0", {"num_players": 5})
    *_, last = replay.reenact(transcript)  # all five seats observe
    assert last.move is None


def test_a_statement_is_heard_with_names_of_seats_and_read_by_the_game(made, taken):
    statement = transcript_of(taken(made)[0]).entries[1]
    assert statement.raw == "Ann here: Everyone, I trust that Bo is good, Eve's plan too."
    assert statement.move == (
        "defend",
        (1,),
        "player_0 here: Everyone, I trust that player_1 is good, player_4's plan too.",
    )
    assert statement.to is None


def test_comments_are_seen_by_the_voter_alone_and_consultations_by_evil(made, taken):
    transcript = transcript_of(taken(made)[0])
    rules, states = transcript.finished("avalon_multi_round_v0") or pytest.fail("the game is finished")
    for seat in range(5):
        seen = rules.view(states[-1], seat).events
        # 4 missions have 7 proposals with votes: mission 1 two, mission 2 four, missions 3 and 4 one each: 8
        assert [event.seat for event in seen if event.move.kind == BALLOT] == [seat] * 8
        assert len([event for event in seen if event.move.kind == CONSULT]) == (2 if seat in (2, 3) else 0)


def test_the_fifth_team_goes_without_a_vote(made, taken, refused):
    kinds = [entry.move.kind for entry in transcript_of(taken(made)[0]).entries if entry.move]
    assert kinds.count(TEAM) == 9
    assert kinds.count(BALLOT) == 8 * 5
    votes = made["missions"][0]["proposals"][0]["votes"]
    assert "the fifth team goes without a vote" in refused(
        changed(made, ("missions", 1, "proposals", 4, "votes"), votes)
    )


def test_every_bound_field_is_refused_after_any_single_change(made):
    tell(made)
    tried = 0
    for way, value in bound(made):
        with pytest.raises(ParlourError) as caught:
            tell(changed(made, way, value))
        message = str(caught.value)
        assert message.startswith("here")
        assert "\n" not in message
        tried += 1
    assert tried > 500


def test_another_choice_makes_another_game(made):
    before = tell(made)
    changes = list(choices(made))
    assert len(changes) > 80
    for way, value in changes:
        after = transcript_of(tell(changed(made, way, value)))
        assert after.outcome == transcript_of(before).outcome
        same_game(changed(made, way, value), after)


@pytest.mark.parametrize(
    ("way", "value", "reason"),
    [
        (("missions", 1, "proposals", 2, "leader"), "Ann", 'game made_1, mission 2, proposal 3: leader "Ann"'),
        (("missions", 0, "discussion", 3, "player"), "Ann", 'game made_1, mission 1, statement 4: player "Ann"'),
        (("players", 2, "special_knowledge"), [], "game made_1, player 3: special_knowledge [] is not accepted"),
        (("missions", 0, "proposals", 0, "team_members"), ["Ann"], "mission 1, proposal 1: team [0] is not accepted"),
        (
            ("players", 0, "role"),
            "percival",
            'the roles of players are ["percival", "good", "assassin", "evil", "good"]',
        ),
    ],
)
def test_a_refusal_names_line_game_mission_and_field(way, value, reason, made, refused):
    message = refused(made | {"game_id": "other"}, changed(made, way, value))
    assert "games.jsonl' line 2, game made_1" in message
    assert reason in message


# -- records that end early ------------------------------------------------------------------------------------


def cut(made, missions):
    """The record with so many whole missions."""
    gone = ("winner", "assassin_phase", "post_game_reflections")
    return {key: value for key, value in made.items() if key not in gone} | {"missions": made["missions"][:missions]}


def test_a_record_may_end_after_any_mission(made, taken):
    whole = transcript_of(tell(made))
    for missions in range(1, 5):
        transcript = transcript_of(taken(cut(made, missions))[0])
        assert transcript.outcome is None
        assert transcript.closing == {"unfinished": "the record ends here"}
        assert transcript.entries == whole.entries[: len(transcript.entries)]
        states = list(replay.states(transcript.game(), transcript.moves))
        assert states[-1].standing.good + states[-1].standing.evil == missions
        assert list(replay.reenact(transcript))


@pytest.mark.parametrize("gone", ["quest_actions", "final_team_index mission_result fail_count quest_actions"])
def test_a_record_may_end_within_a_mission(gone, made, taken, refused):
    early = cut(made, 2)
    for key in gone.split():
        del early["missions"][1][key]
    last, proposals = early["missions"][1], early["missions"][1]["proposals"]
    last["proposals"] = proposals[:3]
    if gone == "quest_actions":
        assert "final_team_index" in refused(early)
        return
    assert len([e for e in transcript_of(taken(early)[0]).entries if e.move and e.move.kind == TEAM]) == 5
    last["proposals"] = []
    assert taken(early)
    last["discussion"] = last["discussion"][:2]
    assert transcript_of(taken(early)[0]).entries[-1].seat == 1
    last["proposals"] = proposals[:1]  # a team before all have spoken
    assert "mission 2, proposal 1" in refused(early)


def test_a_record_may_end_before_the_guess(made, taken):
    for key in ("winner", "post_game_reflections"):
        del made[key]
    del made["assassin_phase"]["guess"]
    assert [e.move.kind for e in transcript_of(taken(made)[0]).entries[-2:] if e.move] == [CONSULT, CONSULT]
    made["assassin_phase"]["evil_discussion"].pop()
    assert transcript_of(taken(made)[0]).closing == {"unfinished": "the record ends here"}


# -- formats, files, folders -----------------------------------------------------------------------------------


def test_a_file_may_be_json_and_a_folder_may_hold_many(made, tmp_path):
    second = made | {"game_id": "made_2"}
    (tmp_path / "one.json").write_text(json.dumps(made, indent=1))
    (tmp_path / "two.json").write_text(json.dumps([second, made | {"game_id": "made_3"}]))
    assert list(transcripts(tmp_path / "one.json")) == ["made_1"]
    assert list(transcripts(tmp_path)) == ["made_1", "made_2", "made_3"]
    (tmp_path / "three.jsonl").write_text(json.dumps(second) + "\n")
    assert list(transcripts(tmp_path)) == ["made_2"]  # a folder with *.jsonl is read by those


def test_a_game_without_an_id_is_named_by_its_source(made, taken, tmp_path, refused):
    del made["game_id"]
    (tmp_path / "one.jsonl").write_text(json.dumps(made))
    assert list(transcripts(tmp_path / "one.jsonl")) == ["made-game_1"]
    del made["source"]
    assert "game_id is missing" in refused(made)


def test_games_that_began_in_one_second_are_told_apart_by_their_source(made, tmp_path, refused):
    twin = made | {"source": "made/game_2.json"}
    (tmp_path / "two.jsonl").write_text(json.dumps(made) + "\n" + json.dumps(twin) + "\n")
    assert list(transcripts(tmp_path / "two.jsonl")) == ["made_1", "made-game_2"]
    assert 'game_id "made-game_2" is not accepted (an earlier line has it)' in refused(made, twin, twin)


def test_words_may_be_null(made, taken):
    silent = changed(made, ("missions", 0, "proposals", 0, "votes", 1, "comment"), None)
    assert transcript_of(taken(silent)[0]).entries[8][1:4:2] == (("vote", (0,), ""), None)


def test_what_cannot_be_told_is_refused_with_the_formats(refused):
    message = refused({"moves": "?"})
    assert "gpt51" in message
    assert "published-2023" in message


def test_the_first_record_tells_the_format_and_the_others_are_held_to_it(made, refused):
    assert "players is missing" in refused(made, {"game_id": "b", "log_file": "x", "rounds": []})


def test_logs_go_with_the_games_of_2023_only(made, tmp_path, error_of):
    (tmp_path / "games.jsonl").write_text(json.dumps(made))
    command = ["import", "avalon", str(tmp_path / "games.jsonl"), "--out", str(tmp_path / "out")]
    assert "accepted: published-2023" in error_of([*command, "--logs", str(tmp_path)])
    assert run([*command, "--format", "gpt51"]) == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["made_1.jsonl"]


def test_transcripts_of_a_folder_are_read_finished_or_not(made, tmp_path):
    source = tmp_path / "games.jsonl"
    source.write_text(json.dumps(made) + "\n" + json.dumps(cut(made, 2) | {"game_id": "a_part"}) + "\n")
    import_records(source, tmp_path / "out")
    transcripts = [replay.Transcript.read(path) for path in replay.Transcript.files(tmp_path / "out")]
    assert [transcript.outcome is None for transcript in transcripts] == [True, False]  # by name


# -- damaged records -------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(st.data())
def test_any_value_is_refused_or_makes_a_legal_game(data):
    check_any_value(GPT51, game_made, data)


def test_every_damaged_field_is_refused_in_these_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(game):
        Path("made.jsonl").write_text(json.dumps(game) + "\n")
        return transcripts(Path("made.jsonl"), form="gpt51")

    check("gpt51", sentences(game_made(), read), Path(__file__).parent / "refusals")


# -- the published games ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_all_games_import_with_every_field_as_recorded(gpt51, gpt51_games, tmp_path):
    paths = import_records(gpt51, tmp_path)
    assert len(paths) == len(gpt51_games) == 94
    for game, path in zip(gpt51_games, paths, strict=True):
        assert path.stem == game["game_id"]
        transcript = replay.Transcript.read(path)
        same_game(game, transcript)
        *_, last = replay.reenact(transcript)  # all seats observe
        assert last.move is None


@pytest.mark.slow
def test_published_games_are_refused_after_any_single_change(gpt51_games):
    tried = 0
    for number, game in enumerate(gpt51_games):
        for way, value in list(bound(game))[number % SAMPLED :: SAMPLED]:
            with pytest.raises(ParlourError):
                tell(changed(game, way, value))
            tried += 1
    assert tried > 500
