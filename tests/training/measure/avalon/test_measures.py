"""Metrics count what the moves of a game say, by the definitions in `metrics.py`, and reproduce the published counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from parlour.envs.avalon import GAME
from parlour.envs.core import Move, ParlourError
from parlour.envs.language.entries import Entry
from parlour.envs.registry import registry
from parlour.envs.replay import Transcript
from parlour.training.measure.avalon.measures import compute, of_directory
from parlour.training.records.avalon.importing import import_records

from tests.reference_data import reference as data
from tests.training.measure.avalon.transcripts import cards, game as game_of, proposal, write

Playout = Callable[..., Any]
KEYS = ["games", "rounds", "proposals", "wins_good", "wins_evil", "wins_by_assassination"]


def transcript(game: Any, played: Any, game_id: str = "avalon_v0", **header: Any) -> Transcript:
    entries = tuple(Entry(game.actor(before), move, None) for before, move, _ in played.steps)
    head = {"parlour": 1, "game": game_id, "config": dict(game.config), **header}
    return Transcript(head, entries, game.outcome(played.states[-1]))


# -- definitions -----------------------------------------------------------------------------------------------


def test_membership_counts_the_last_voted_team_and_the_team_that_went() -> None:
    game = game_of(*proposal((0, 1), "aadddd"), *proposal((5,), "aaaddd"), Move("draw", (0, 4)), *cards("sf"))
    measured = compute([game])["all"]
    assert measured["rounds"] == 1
    assert measured["proposals"] == 2
    assert (measured["Assassin"]["qer_voted"], measured["Assassin"]["qer_executed"]) == ("1/1", "0/1")
    assert (measured["Merlin"]["qer_voted"], measured["Merlin"]["qer_executed"]) == ("0/1", "1/1")
    assert (measured["Morgana"]["qer_voted"], measured["Morgana"]["qer_executed"]) == ("0/1", "1/1")


def test_nothing_to_count_is_none() -> None:
    measured = compute([game_of(*proposal((0, 1), "aadddd"))])["all"]
    for key in ("fvr_host", "fvr_text", "lar_confirmed", "lar_all"):
        assert measured["Assassin"][key] is None
    empty = compute([game_of()])["all"]
    assert empty["Merlin"]["qer_voted"] == "0/0"
    assert empty["Merlin"]["qer_voted_rate"] is None


def test_published_games_tell_sides_confirmations_and_readings() -> None:
    game = game_of(*proposal((0, 1), "aadddd"), *proposal((4, 5), "aaaaaa"), *cards("ff"))
    notes = {"proposed_method_side": "evil", "confirm_logged": [True, False], "cards": [["count", "success"], ["text"]]}
    measured = compute([replace(game, header={**game.header, "published": notes})])
    assert list(measured) == ["evil"]
    assert [measured["evil"]["Percival"][key] for key in ("lar_confirmed_n", "lar_all_n")] == [0, 1]
    assert [measured["evil"]["Morgana"][key] for key in ("fails_host", "fails_text")] == [1, 0]
    assert [measured["evil"]["Assassin"][key] for key in ("fails_host", "fails_text", "fvr_text")] == [1, 1, 1.0]


def test_games_by_hand() -> None:
    first = game_of(
        *(*proposal((0, 1), "aadddd"), *proposal((1, 5), "aaaadd"), *cards("sf"), Move("guess")),
        *(*proposal((2, 3, 4), "aaaaaa"), *cards("sfs")),
    )
    rejected = proposal((2, 3, 4), "dddddd")
    second = game_of(*proposal((0, 1), "aaaaaa"), *cards("ss"), Move("guess"), *rejected, winner="evil")
    measured = compute([first, second])["all"]
    assert [measured[key] for key in KEYS] == [2, 4, 5, 1, 1, 0]
    # role: membership in voted and in executed teams, cards and fails, proposals led and their mean agreement
    expected = {
        "Merlin": ("1/4", "1/4", 1, 0, 2, 0.6667),  # 2 of 6, then 6 of 6
        "Percival": ("2/4", "2/4", 2, 0, 2, 0.3333),
        "Loyal Servant": ("4/8", "2/8", 2, 1, 1, 1.0),
        "Morgana": ("2/4", "1/4", 1, 0, 0, None),
        "Assassin": ("1/4", "1/4", 1, 1, 0, None),
    }
    keys = ("qer_voted", "qer_executed", "cards", "fails_host", "lar_all_n", "lar_all")
    assert {role: tuple(measured[role][key] for key in keys) for role in expected} == expected
    for role in expected:
        assert measured[role]["lar_confirmed"] == measured[role]["lar_all"]
        assert measured[role]["fails_text"] == measured[role]["fails_host"]


# -- which transcripts -----------------------------------------------------------------------------------------


def test_unfinished_games_are_left_out_and_told(playout: Playout) -> None:
    game = GAME.build(GAME.options(num_players=6, rules="reference"))
    games = [transcript(game, playout(game, seed)) for seed in range(3)]
    cut = replace(games[0], entries=games[0].entries[:20], outcome=None)
    assert "unfinished" not in compute(games)
    assert compute([*games, cut]) == compute(games) | {"unfinished": 1}
    assert compute([cut]) == {"unfinished": 1}
    assert compute([]) == {}


def test_a_folder_is_read_in_full_and_other_files_are_left_alone(playout: Playout, tmp_path: Path) -> None:
    games = []
    for seed in range(3):
        game = GAME.build(GAME.options(num_players=5 + seed))
        games.append(transcript(game, playout(game, seed), players={"player_0": "random"}))
        write(tmp_path / f"{seed}.jsonl", games[-1])
    (tmp_path / "notes.txt").write_text("no transcript")
    assert of_directory(tmp_path) == compute(games)
    other = registry["template_v0"].raw_env().game
    write(tmp_path / "other.jsonl", transcript(other, playout(other, 1), "template_v0"))
    with pytest.raises(ParlourError, match=r"other\.jsonl.*template_v0.*avalon_v0"):
        of_directory(tmp_path)
    with pytest.raises(ParlourError, match="holds no transcript"):
        of_directory(tmp_path / "none")


def test_a_broken_transcript_is_refused_by_its_name(playout: Playout, tmp_path: Path) -> None:
    game = GAME.build(GAME.options(num_players=5))
    sound = transcript(game, playout(game, 1))
    short = replace(sound, entries=sound.entries[:-1])
    for broken in (
        short,
        replace(sound, entries=sound.entries[1:]),
        replace(sound, header={**sound.header, "config": {"rules": ["paper"]}}),
        replace(sound, header={**sound.header, "published": {"proposed_method_side": "good"}}),
        replace(sound, header={**sound.header, "published": None}),
        replace(sound, header={**sound.header, "published": notes(side="blue")}),
        replace(sound, header={**sound.header, "published": notes(side="good")}),
    ):
        with pytest.raises(ParlourError, match="transcript 2: "):
            compute([sound, broken])
    write(tmp_path / "short.jsonl", short)
    with pytest.raises(ParlourError, match=r"short\.jsonl': the outcome"):
        of_directory(tmp_path)


def notes(side: str) -> dict[str, Any]:
    return {"proposed_method_side": side, "confirm_logged": [], "cards": []}


# -- the published games ---------------------------------------------------------------------------------------


@pytest.fixture
def reference() -> Path:
    return data("avalon_logs/metrics_shared.json").parent


def test_the_published_games_give_the_published_counts(reference: Path, tmp_path: Path) -> None:
    import_records(reference / "extracted.jsonl", tmp_path)
    data = json.loads((reference / "metrics_shared.json").read_text())
    measured = of_directory(tmp_path)
    assert measured == {"good": data["blue_shared"], "evil": data["red_shared"]}
    assert json.dumps(measured["good"]) == json.dumps(data["blue_shared"])
