"""Metrics count what the moves of a game say, by the definitions in `metrics.py`, and reproduce the published counts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from avalon_transcripts import cards, game as game_of, proposal, write
from parlour.envs.avalon import GAME
from parlour.envs.core import Move, ParlourError
from parlour.envs.entries import Entry
from parlour.envs.registry import registry
from parlour.envs.replay import Transcript
from parlour.training.measure.avalon import compute, of_directory
from parlour.training.records.avalon import import_records
from reference_data import reference as data

Playout = Callable[..., Any]
KEYS = ["games", "rounds", "proposals", "wins_good", "wins_evil", "wins_by_assassination"]
SEVEN = ("Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Assassin", "Mordred", "Oberon")


def transcript(game: Any, played: Any, game_id: str = "avalon_v0", **header: Any) -> Transcript:
    entries = tuple(Entry(game.actor(before), move, None) for before, move, _ in played.steps)
    head = {"parlour": 1, "game": game_id, "config": dict(game.config), **header}
    return Transcript(head, entries, game.outcome(played.states[-1]))


def table(seed: int) -> Any:
    """Tables of all sizes and rules."""
    if seed % 7 == 0:
        return GAME.build(num_players=7, roles=SEVEN)
    return GAME.build(num_players=5 + seed % 6, rules=("paper", "reference", "official")[seed % 3])


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


def _naive(games: list[tuple[Any, Any]]) -> dict[str, Any]:
    """The same measures from states and moves, counted one by one."""
    hits: dict[tuple[str, str], int] = defaultdict(int)
    shares: dict[str, list[float]] = defaultdict(list)
    totals: dict[str, int] = defaultdict(int)
    for game, played in games:
        last, carried = {}, {}
        roles = [game.role_names[role] for role in played.states[-1].standing.roles]
        for before, move, after in played.steps:
            quest, role = before.standing.quest, roles[before.actor]
            if move.kind == "vote" and before.turn == game.seats - 1:
                votes = (*before.secret, *move.args)
                shares[roles[before.standing.leader]].append(sum(votes) / game.seats)
                last[quest] = before.team
                totals["proposals"] += 1
            if move.kind == "card":
                carried[quest] = before.team
                hits[role, "cards"] += 1
                hits[role, "fails_host"] += move == Move("card", (0,))
            assert after.log[: len(before.log)] == before.log
        totals["rounds"] += len(last)
        for role in roles:
            hits[role, "chances"] += len(last)
        for key, teams in (("voted", last), ("executed", carried)):
            for seat in (seat for team in teams.values() for seat in team):
                hits[roles[seat], key] += 1
    return {"totals": totals, "hits": hits, "shares": shares}


def test_random_games_of_all_sizes_are_counted_as_one_by_one(playout: Playout) -> None:
    games = [(table(seed), playout(table(seed), seed)) for seed in range(40)]
    measured = compute(transcript(game, played) for game, played in games)["all"]
    naive = _naive(games)
    hits = naive["hits"]
    assert list(measured)[: len(KEYS)] == KEYS
    assert (measured["games"], measured["wins_good"] + measured["wins_evil"]) == (40, 40)
    assert all(measured[key] == count for key, count in naive["totals"].items())
    for role in list(measured)[len(KEYS) :]:
        row = measured[role]
        assert row["qer_voted"] == f"{hits[role, 'voted']}/{hits[role, 'chances']}"
        assert row["qer_executed"] == f"{hits[role, 'executed']}/{hits[role, 'chances']}"
        assert (row["cards"], row["fails_host"]) == (hits[role, "cards"], hits[role, "fails_host"])
        assert row["lar_all_n"] == len(naive["shares"][role])
        assert row["lar_all"] == pytest.approx(mean(naive["shares"][role]), abs=1e-4)
        assert (row["lar_confirmed"], row["fails_text"]) == (row["lar_all"], row["fails_host"])


# -- which transcripts -----------------------------------------------------------------------------------------


def test_unfinished_games_are_left_out_and_told(playout: Playout) -> None:
    games = [transcript(table(1), playout(table(1), seed)) for seed in range(3)]
    cut = replace(games[0], entries=games[0].entries[:20], outcome=None)
    assert "unfinished" not in compute(games)
    assert compute([*games, cut]) == compute(games) | {"unfinished": 1}
    assert compute([cut]) == {"unfinished": 1}
    assert compute([]) == {}


def test_a_folder_is_read_in_full_and_other_files_are_left_alone(playout: Playout, tmp_path: Path) -> None:
    games = []
    for seed in range(3):
        game = table(seed)
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
    game = GAME.build(num_players=5)
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
