"""Records in the form of the site ProAvalon, made here: no real one is in the repository. See `proavalon.py`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from parlour.envs import replay
from parlour.envs.avalon.vocabulary import CARD, GUESS
from parlour.envs.core import ParlourError
from parlour.training.measure.avalon.measures import compute
from parlour.training.records.avalon.importing import transcripts
from parlour_people.records.proavalon import HELD, PROAVALON

from tests.refused_values import check, sentences
from tests.training.records.bound import changed
from tests.training.records.test_any_values import check_any_value

Game = dict[str, Any]
SEATS = ("Kim", "Lou", "Max", "Nan", "Oz", "Pip", "Quin")
ROLES = ("Resistance", "Merlin", "Spy", "Assassin", "Percival", "Resistance", "Morgana")
SPIES = ("Max", "Nan", "Quin")
# The team of each proposal and who approves, mission by mission; then the fails. Nan leads first, then Oz, ...
# Seven players: teams of 2, 3, 3, 4, 4; more than half are 4; mission 4 needs two fails.
MISSIONS: list[tuple[list[tuple[str, str]], int]] = [
    ([("Kim Max", "Kim Lou Max"), ("Kim Lou", "Kim Lou Max Nan")], 0),
    ([("Kim Max Nan", "Max Nan Oz Quin")], 1),  # who of two spies failed is not told
    ([("Kim Lou Oz", "Kim Lou Oz Pip")], 0),
    ([("Kim Lou Oz Quin", "Kim Lou Oz Pip Quin")], 1),  # one fail of two: it succeeds
]


def record(missions, results, **fields):
    """A document as the site writes it; `results` has a letter for each mission."""
    history: dict[str, list[list[str]]] = {name: [] for name in SEATS}
    leads = 3
    for proposals, _ in missions:
        for name in SEATS:
            history[name].append([])
        for team, approve in proposals:
            for name in SEATS:
                marks = ["VHpicked"] * (name in team.split()) + ["VHleader"] * (name == SEATS[leads % 7])
                history[name][-1].append(" ".join([*marks, "VHapprove" if name in approve.split() else "VHreject"]))
            leads += 1
    game: Game = {"_id": {"$oid": "5f0"}, "numberOfPlayers": 7, "playerUsernamesOrderedReversed": list(SEATS)}
    game["playerUsernamesOrdered"] = [SEATS[0], *SEATS[:0:-1]]
    game["playerRoles"] = {
        name: {"alliance": "Spy" if name in SPIES else "Resistance", "role": role}
        for name, role in zip(SEATS, ROLES, strict=True)
    }
    game |= {"spyTeam": list(SPIES), "resistanceTeam": [name for name in SEATS if name not in SPIES], "cards": []}
    game |= {"voteHistory": history, "missionHistory": ["succeeded" if r == "s" else "failed" for r in results]}
    return game | {"numFailsHistory": [fails for _, fails in missions], **fields}


def hunted(**fields):
    """Good has three successes; the Assassin shot a plain good player."""
    wrong = "Mission successes and assassin shot wrong."
    ending = {"winningTeam": "Resistance", "howTheGameWasWon": wrong, "whoAssassinShot": "Resistance"}
    return record(MISSIONS, "sfss", **(ending | fields))


def transcript_of(text):
    return replay.Transcript.parse(text.encode(), "made.jsonl")


def test_a_record_of_the_site_becomes_a_game_of_the_rule_sheet_without_talk(taken):
    transcript = transcript_of(taken(hunted())[0])
    config = transcript.header["config"]
    assert (config["rules"], config["talk"], config["num_players"]) == ("official", False, 7)
    assert transcript.header["record"]["names"] == list(SEATS)
    _, states = transcript.finished("avalon_v0") or pytest.fail("the game is finished")
    fails = [event.move.args for event in states[-1].log if event.move.kind == "fails"]
    assert fails == [(0, 0, 1), (1, 1, 0), (2, 0, 1), (3, 1, 1)]
    led = [event.move.args[1] for event in states[-1].log if event.move.kind == "leads"]
    assert led == [3, 4, 5, 6, 0]
    votes = [event.move.args[1:] for event in states[-1].log if event.move.kind == "votes"]
    assert votes[0] == (1, 1, 1, 0, 0, 0, 0)
    assert transcript.outcome is not None
    assert (transcript.outcome.winner, transcript.outcome.reason) == ("good", "quests")


def test_moves_that_the_record_does_not_tell_are_listed_in_the_header(taken):
    transcript = transcript_of(taken(hunted())[0])
    assumed = [transcript.entries[n] for n in transcript.header["record"]["assumed"]]
    # Max and Nan on mission 2 with one fail; the shot at one of Kim and Pip; all other cards follow from the numbers
    assert [(entry.seat, entry.move[:2]) for entry in assumed if entry.move] == [
        (2, (CARD, (0,))),
        (3, (CARD, (1,))),
        (3, (GUESS, (0,))),
    ]


def test_cards_that_are_assumed_are_not_counted(taken):
    transcript = transcript_of(taken(hunted())[0])
    counts = compute([transcript])["all"]
    # of 2 + 3 + 3 + 4 cards 10 are told: Max's and Nan's on mission 2 are not; the fail of mission 4 is Quin's
    assert sum(counts[role]["cards"] for role in {HELD[role] for role in ROLES}) == 10
    assert (counts["Assassin"]["cards"], counts["Minion"]["cards"], counts["Morgana"]["fails_host"]) == (0, 0, 1)
    for wrong in ("no list", [1, "2"], [True]):
        header = {**transcript.header, "record": {"assumed": wrong}}
        with pytest.raises(ParlourError, match=r"record\.assumed"):
            replace(transcript, header=header).assumed_moves()


def test_nothing_is_assumed_where_the_record_tells(taken):
    shot = {"winningTeam": "Spy", "howTheGameWasWon": "Assassinated Merlin correctly.", "whoAssassinShot": "Merlin"}
    missions = [*MISSIONS[:1], (MISSIONS[1][0], 2), *MISSIONS[2:]]
    transcript = transcript_of(taken(record(missions, "sfss", **shot))[0])
    assert transcript.header["record"]["assumed"] == []
    assert transcript.outcome is not None
    assert transcript.outcome.reason == "assassination"
    assert transcript.entries[-1].move == (GUESS, (1,), "")


def test_the_fifth_rejection_is_a_failed_mission_without_fails(taken, refused):
    rejected: list[tuple[list[tuple[str, str]], int]] = [([("Kim Lou", "Kim Lou Max")] * 5, 0)]
    game = record(rejected, "f", winningTeam="Spy", howTheGameWasWon="Hammer rejected.") | {"numFailsHistory": []}
    outcome = transcript_of(taken(game)[0]).outcome
    assert outcome is not None
    assert (outcome.winner, outcome.reason) == ("evil", "rejections")
    assert "missionHistory" in refused(game | {"missionHistory": []})


def test_three_fails_end_the_game(taken):
    failed = [MISSIONS[1]] * 2
    missions = [([("Kim Max", "Kim Lou Max Nan")], 1), *failed]
    text = taken(record(missions, "fff", winningTeam="Spy", howTheGameWasWon="Mission fails."))[0]
    outcome = transcript_of(text).outcome
    assert outcome is not None
    assert (outcome.winner, outcome.reason) == ("evil", "quests")


def test_an_id_that_is_none_is_repeated_in_short(refused):
    message = refused(record(MISSIONS, "sfss", _id={"many": ["fields"] * 500}))
    assert "_id" in message
    assert len(message) < 400


def test_a_mission_after_the_end_is_refused(refused):
    assert "mission 5: the missions end before it" in refused(record([*MISSIONS, MISSIONS[0]], "sfsss"))
    twice = [(MISSIONS[0][0] + MISSIONS[0][0][:1], 0), *MISSIONS[1:]]
    assert "mission 1, proposal 3: a team of this mission goes already" in refused(record(twice, "sfss"))
    shot = record(MISSIONS[:2], "sf", whoAssassinShot="Merlin")
    assert 'whoAssassinShot "Merlin" is not accepted (nobody is shot' in refused(shot)
    assert "missionHistory" in refused(record(MISSIONS[:2], "sfs"))


def test_a_record_may_end_early(taken):
    assert transcript_of(taken(record(MISSIONS[:2], "sf"))[0]).outcome is None


@pytest.mark.parametrize(
    ("way", "value", "reason"),
    [
        (("playerRoles", "Nan", "role"), "Spy", "one Assassin"),
        (("playerRoles", "Max", "role"), "Mordred", None),
        (("playerRoles", "Lou", "role"), "Percival", "game 5f0: roles"),
        (("playerUsernamesOrderedReversed",), ["Lou", "Kim", *SEATS[2:]], "Kim leads; accepted: Lou"),
        (("playerUsernamesOrderedReversed", 0), "Lou", "name"),
        (("voteHistory", "Kim", 0, 0), "VHpicked", "one vote in each"),
        (("voteHistory", "Kim", 0, 0), "VHreject", "mission 1, proposal 1: team [2]"),
        (("voteHistory", "Kim", 0, 1), "VHpicked VHreject", "proposals up to an approved team"),
        (("voteHistory", "Lou", 0, 0), "VHleader VHapprove", "has 2 leaders"),
        (("voteHistory", "Oz", 0, 1), "VHreject", "nobody leads"),
        (("missionHistory", 1), "succeeded", "(it has 1 fails); accepted: 'failed' for it"),
        (("numFailsHistory", 1), 3, "a number of fails 0..2 for it"),
        (("numFailsHistory", 2), 1, "numFailsHistory"),
        (("numFailsHistory",), [0, 1, 0, 1, 0], "numFailsHistory"),
        (("whoAssassinShot",), "Oberon", "whoAssassinShot"),
        (("whoAssassinShot",), "Merlin", "winningTeam"),
    ],
)
def test_contradictions_are_refused(way, value, reason, taken, refused):
    game = changed(hunted(), way, value)
    if reason is None:  # a plain Spy might as well be Mordred
        assert taken(game)
    else:
        assert reason in refused(game)


# -- damaged records -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=100)
@given(st.data())
def test_any_value_is_refused_or_makes_a_legal_game(data):
    check_any_value(PROAVALON, hunted, data)


def test_every_damaged_field_is_refused_in_these_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(game):
        Path("made.jsonl").write_text(json.dumps(game) + "\n", encoding="utf-8")
        return transcripts("made.jsonl", form="proavalon")

    check("proavalon", sentences(hunted(), read), Path(__file__).parent / "refusals")
