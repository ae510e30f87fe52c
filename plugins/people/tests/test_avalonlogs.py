"""Games of people in the form of avalongame.online, made here: none of the site's is in the repository. See `avalonlogs.py`.

Where a folder with games of the site lies beside the checkout, all of them are imported too.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.training.records.avalon.importing import import_records, transcripts
from parlour.training.records.reading import CONTRADICTS, Refusal
from parlour_people.records.avalonlogs import AVALONLOGS

from tests.reference_data import reference
from tests.refused_values import check, sentences
from tests.training.records.bound import GONE, changed
from tests.training.records.test_any_values import check_any_value

Game = dict[str, Any]
SEATS = ("Kim", "Lou", "Max", "Nan", "Oz", "Pip", "Quin")
ROLES = ("LOYAL FOLLOWER", "MERLIN", "EVIL MINION", "MORDRED", "PERCIVAL", "LOYAL FOLLOWER", "MORGANA")
SIZES, NEEDED = (2, 3, 3, 4, 4), (1, 1, 1, 2, 1)
# The team of each proposal and who approves, mission by mission; then who fails. Nan leads first, then Oz, ...
MISSIONS: list[tuple[list[tuple[str, str]], str]] = [
    ([("Max Kim", "Kim Lou Max"), ("Kim Lou", "Kim Lou Max Nan")], ""),
    ([("Kim Max Nan", "Max Nan Oz Quin")], "Max"),
    ([("Kim Lou Oz", "Kim Lou Oz Pip")], ""),
    ([("Kim Lou Oz Quin", "Kim Lou Oz Pip Quin")], "Quin"),  # one fail of two: it succeeds
]


def logged(missions=MISSIONS, marked="Max", **outcome) -> Game:
    """A document as the site writes it; `marked` are those who name Merlin."""
    leads, entries, cards = 3, [], []
    for number, (proposals, fails) in enumerate(missions):
        listed = []
        for team, approve in proposals:
            state = "APPROVED" if len(approve.split()) > 3 else "REJECTED"
            listed.append(
                {"proposer": SEATS[leads % 7], "team": team.split(), "votes": approve.split(), "state": state}
            )
            leads += 1
        mission: Game = {"teamSize": SIZES[number], "failsRequired": NEEDED[number], "proposals": listed}
        if listed[-1]["state"] == "APPROVED":
            count = len(fails.split())
            state = "FAIL" if count >= NEEDED[number] else "SUCCESS"
            mission |= {"team": listed[-1]["team"][::-1], "numFails": count, "state": state}
            cards.append({name: name not in fails.split() for name in listed[-1]["team"]})
        else:
            mission |= {"team": [], "state": "PENDING"}
        entries.append(mission)
    for number in range(len(missions), 5):
        waiting = {"team": [], "proposals": [], "state": "PENDING"}
        entries.append({"teamSize": SIZES[number], "failsRequired": NEEDED[number], **waiting})
    roles = [
        {"name": name, "role": role, "assassin": name in marked.split()}
        for name, role in zip(SEATS[::-1], ROLES[::-1], strict=True)
    ]
    end = {"state": "GOOD_WIN", "message": "Three successful missions", "assassinated": "Oz"} | outcome
    return {
        "id": "g1",
        "players": [{"name": name} for name in SEATS],
        "missions": entries,
        "outcome": {**end, "roles": roles, "votes": cards},
        "options": {"inGameLog": False},
    }


def read(game: Game, taken) -> replay.Transcript:
    (text,) = taken(game)
    return replay.Transcript.parse(text.encode(), "made.jsonl")


def left_out(*games: Game, folder: Path) -> list[Refusal]:
    """Which games are left out, beside one that can be played."""
    path, refused = folder / "games.jsonl", []
    path.write_text("".join(json.dumps(game) + "\n" for game in (logged() | {"id": "fine"}, *games)))
    assert list(transcripts(path, leave_out=refused.append)) == ["fine"]
    return refused


def test_a_log_becomes_a_game_of_the_rule_sheet_without_talk(taken):
    transcript = read(logged(), taken)
    config = transcript.header["config"]
    assert (config["rules"], config["talk"], config["num_players"]) == ("official", False, 7)
    assert transcript.header["record"]["names"] == list(SEATS)
    _, states = transcript.finished("avalon_v0") or pytest.fail("the game is finished")
    seen = {kind: [e.move.args for e in states[-1].log if e.move.kind == kind] for kind in ("leads", "fails", "votes")}
    assert [args[1] for args in seen["leads"]] == [3, 4, 5, 6, 0]
    assert seen["fails"] == [(0, 0, 1), (1, 1, 0), (2, 0, 1), (3, 1, 1)]
    assert seen["votes"][0] == (0, 1, 1, 1, 0, 0, 0, 0)
    assert transcript.outcome is not None
    assert (transcript.outcome.winner, transcript.outcome.reason) == ("good", "quests")
    assert not transcript.assumed_moves()


def test_a_minion_who_names_merlin_is_the_assassin_and_other_minions_stay_minions(taken):
    roles = read(logged(), taken).header["config"]["roles"]
    assert (roles.count("Assassin"), roles.count("Minion")) == (1, 0)
    two = changed(logged(), ("outcome", "roles", 0, "role"), "EVIL MINION")  # Quin, besides Max
    roles = read(two, taken).header["config"]["roles"]
    assert (roles.count("Assassin"), roles.count("Minion")) == (1, 1)


@pytest.mark.parametrize(("name", "role"), [("Nan", "Mordred"), ("Quin", "Morgana")])
def test_any_evil_role_may_name_merlin(taken, name, role):
    game = read(logged(marked=name, assassinated="Lou", state="EVIL_WIN"), taken)
    assert game.header["config"]["guesser"] == role
    assert "Assassin" not in game.header["config"]["roles"]
    assert game.outcome is not None
    assert (game.outcome.winner, game.outcome.reason) == ("evil", "assassination")
    assert game.entries[-1].seat == SEATS.index(name)


@pytest.mark.parametrize("marked", ["Max Nan", ""])
def test_the_guess_is_assumed_where_the_log_marks_several_players_or_nobody(taken, marked):
    game = read(logged(marked=marked, assassinated="Max"), taken)  # Max is not the one who named himself
    last = len(game.entries) - 1
    assert game.entries[last].seat == SEATS.index("Nan")
    assert game.assumed_moves() == {last}


def test_an_old_log_without_players_seats_them_by_who_proposed(taken):
    transcript = read(changed(logged(), ("players",), GONE), taken)
    led = ["Nan", "Oz", "Pip", "Quin", "Kim"]
    names = transcript.header["record"]["names"]
    assert names[:5] == led
    assert sorted(names) == sorted(SEATS)


def test_five_rejections_end_the_game(taken):
    game = logged([([("Kim Max", "Max")] * 5, "")], state="EVIL_WIN", assassinated=None)
    outcome = read(game, taken).outcome
    assert outcome is not None
    assert (outcome.winner, outcome.reason) == ("evil", "rejections")


def test_three_failed_missions_end_the_game_without_a_shot(taken):
    failed = [([("Kim Max", "Kim Lou Max Nan")], "Max"), ([("Kim Max Nan", "Max Nan Oz Quin")], "Max Nan")]
    game = logged([*failed, failed[1]], state="EVIL_WIN", assassinated=None)
    outcome = read(game, taken).outcome
    assert outcome is not None
    assert (outcome.winner, outcome.reason) == ("evil", "quests")


def test_a_game_that_was_given_up_becomes_an_unfinished_transcript(taken):
    given_up = logged(MISSIONS[:2], state="CANCELED", assassinated=None)
    given_up["missions"][2]["proposals"] = [{"proposer": "Quin", "team": ["Kim"], "votes": [], "state": "PENDING"}]
    transcript = read(given_up, taken)
    assert transcript.outcome is None
    assert transcript.entries[-1].move == ("card", (1,), "")


def test_a_log_without_an_id_is_named_by_its_time(tmp_path):
    game = logged() | {"timeCreated": {"_seconds": 1578366457, "_nanoseconds": 246000000}}
    del game["id"]
    (tmp_path / "2020-01-07T03:07:37.246Z_ABC").write_text(json.dumps(game, indent=1))
    assert list(transcripts(tmp_path)) == ["2020-01-07T03-07-37.246"]


@pytest.mark.parametrize("name", ["games.jsonl", "games.jsonl.gz", "game.json", "game.json.gz", "document"])
def test_files_are_read_as_lines_or_documents_compressed_or_not(tmp_path, name):
    text = json.dumps(logged(), indent=None if "jsonl" in name else 2).encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert list(transcripts(tmp_path)) == list(transcripts(tmp_path / name)) == ["g1"]


def test_a_damaged_archive_is_refused_in_one_line(tmp_path):
    path = tmp_path / "games.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(logged()).encode())[:-20])
    with pytest.raises(ParlourError, match=r"games\.jsonl\.gz' cannot be read"):
        transcripts(path)


@pytest.mark.parametrize(
    ("way", "value", "reason", "message"),
    [
        (("outcome", "roles", 5, "role"), "LOYAL FOLLOWER", "without Merlin", "a game with Merlin"),
        (("outcome", "assassinated"), None, "good has three successes and nobody is shot", "Merlin is guessed"),
        (("missions",), [{"proposals": []}], "no team was proposed", "a game with a proposal"),
        (("outcome", "assassinated"), "Max", CONTRADICTS, "guess [2]"),
        (("outcome", "assassinated"), "Lou", CONTRADICTS, "state"),
        (("outcome", "roles", 0, "role"), "LOYAL FOLLOWER", CONTRADICTS, "hold 2 evil"),
        (("outcome", "roles", 0, "name"), "Lou", CONTRADICTS, "one role for each player"),
        (("outcome", "votes", 1, "Kim"), False, CONTRADICTS, "card [0]"),
        (("outcome", "votes", 1, "Max"), True, CONTRADICTS, "numFails"),
        (("outcome", "votes"), [{"Kim": True, "Lou": True}], CONTRADICTS, "mission 3"),
        (("missions", 2, "team"), ["Kim", "Lou", "Max"], CONTRADICTS, "the approved team"),
        (("missions", 2, "proposals", 0, "proposer"), "Kim", CONTRADICTS, "the lead goes round"),
        (("missions", 2, "proposals", 0, "team"), ["Kim", "Lou"], CONTRADICTS, "3 different seats"),
        (("missions", 2, "proposals", 0, "votes"), ["Kim", "Lou", "Oz"], CONTRADICTS, "whether more than half"),
        (("players", 0, "name"), "Lou", CONTRADICTS, "a name of its own"),
        (("players",), [{"name": name} for name in SEATS[:4]], CONTRADICTS, "5 to 10 players"),
    ],
)
def test_a_game_that_cannot_be_played_is_left_out_with_its_reason(tmp_path, way, value, reason, message):
    (refusal,) = left_out(_without_shot(changed(logged(), way, value), reason), folder=tmp_path)
    assert (refusal.game, refusal.reason) == ("g1", reason)
    assert message in refusal.message
    assert "\n" not in refusal.message


def _without_shot(game: Game, reason: str) -> Game:
    return changed(game, ("outcome", "assassinated"), None) if reason == "without Merlin" else game


def test_the_command_prints_the_share_left_out_by_reason_and_lists_the_games(tmp_path, output_of):
    plain = changed(logged(assassinated=None), ("outcome", "roles", 5, "role"), "LOYAL FOLLOWER") | {"id": "plain"}
    wrong = changed(logged(), ("missions", 2, "teamSize"), 4) | {"id": "wrong"}
    path = tmp_path / "games.jsonl"
    path.write_text("".join(json.dumps(game) + "\n" for game in (logged(), plain, wrong)))
    output = output_of(["import", "avalon", str(path), "--out", str(tmp_path / "out")])
    assert "1 of 3 games written" in output
    assert "1 (33.33%): without Merlin; the first is plain" in output
    assert f"1 (33.33%): {CONTRADICTS}; the first is wrong" in output
    assert sorted(path.name for path in (tmp_path / "out").glob("*.jsonl")) == ["g1.jsonl"]
    assert (tmp_path / "out" / "left_out.csv").read_text().count("\n") == 3


def test_from_python_a_game_that_cannot_be_played_is_an_error_unless_the_caller_counts_it(tmp_path):
    path = tmp_path / "games.jsonl"
    plain = changed(logged(assassinated=None), ("outcome", "roles", 5, "role"), "LOYAL FOLLOWER")
    path.write_text(json.dumps(plain) + "\n")
    with pytest.raises(ParlourError, match="without Merlin"):
        import_records(path, tmp_path / "out")
    with pytest.raises(ParlourError, match="none of 1 games can be played"):
        import_records(path, tmp_path / "out", leave_out=lambda _: None)


@pytest.mark.slow
def test_at_least_97_of_100_games_of_people_with_merlin_can_be_played():
    refused: list[Refusal] = []
    played = len(transcripts(reference("avalonlogs"), leave_out=refused.append))
    reasons = Counter(refusal.reason for refusal in refused)
    with_merlin = played + len(refused) - reasons["without Merlin"]
    assert played >= 0.97 * with_merlin


# -- damaged records -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=100)
@given(st.data())
def test_any_value_is_refused_or_makes_a_legal_game(data):
    check_any_value(AVALONLOGS, logged, data)


def test_every_damaged_field_is_refused_in_these_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(game):
        Path("made.jsonl").write_text(json.dumps(game) + "\n", encoding="utf-8")
        return transcripts("made.jsonl", form="avalonlogs")

    check("avalonlogs", sentences(logged(), read), Path(__file__).parent / "refusals")
