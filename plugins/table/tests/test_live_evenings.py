"""Evenings at a live table: new deals for the same people, scores, names, a folder that goes on, and where games turned."""

from __future__ import annotations

import json

import pytest
from parlour.envs import replay

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("websockets", reason="the extra `serve` is not installed")
from evenings import GAMES, evening
from live_tables import Browser, browsed, move, next_message, opened, socket_of, until
from parlour_table.live.settings import WATCHING

NAMES = ("Ana", "Ben", "Cleo", "Dan", "Eva")


def over(opening, game: int = 1) -> dict:
    """Press the first option for the person at seat 0 until a game is over; its last message."""
    with socket_of(opening, opening.keys.of(0)) as socket:
        while (message := next_message(socket))["type"] != "over" or message["number"] < game:
            if message["type"] == "asked":
                socket.send(move(message["turn"], option=0))
            if message["type"] == "over":
                socket.send(json.dumps({"type": "next", "game": message["number"]}))
        return message


@pytest.mark.slow
@pytest.mark.parametrize("game", ["avalon_v0", "werewolf_v0"])
def test_no_move_of_an_evening_is_lost_or_counts_twice(game, tmp_path):
    """Two people, three games, lines that are cut before and behind moves, moves sent twice, a table that is opened anew."""
    made, wrong = evening(tmp_path, 7, game)
    assert wrong == []
    assert min(made.values()) > 0
    assert len(list(tmp_path.glob("*.jsonl"))) == GAMES


def test_people_play_again_as_long_as_they_like_with_new_deals_and_running_scores(tmp_path):
    with opened(tmp_path, "avalon_v0", (0,), games=None, seed=5) as opening:
        last = over(opening, 3)
    assert last["games"] is None
    assert [game["replay"] for game in last["evening"]] == [f"/replay/{opening.keys.of_replay(n)}" for n in (1, 2, 3)]
    outcomes = [replay.Transcript.read(tmp_path / f"avalon_v0-{number}.jsonl").outcome for number in (1, 2, 3)]
    deals = {replay.Transcript.read(tmp_path / f"avalon_v0-{number}.jsonl").moves[0] for number in (1, 2, 3)}
    assert len(deals) == 3
    for seat, score in enumerate(last["seats"]):
        assert score["wins"] == sum(outcome.returns[seat] > 0 for outcome in outcomes)
        assert score["total"] == sum(outcome.returns[seat] for outcome in outcomes)
        assert score["told"].startswith("You won: " if outcomes[-1].returns[seat] > 0 else "You lost: ")


def test_a_folder_of_a_finished_evening_goes_on_with_the_next_game_and_its_scores(tmp_path):
    for number in (1, 2):
        with opened(tmp_path, "template_v0", (0,), games=None, seed=3) as opening:
            last = over(opening, number)
    assert last["number"] == 2
    assert [len(last["evening"]), len(list(tmp_path.glob("*.jsonl")))] == [2, 2]
    seeds = [replay.Transcript.read(tmp_path / f"template_v0-{number}.jsonl").header["seed"] for number in (1, 2)]
    assert seeds == [3, 4]


def test_a_folder_from_before_tables_had_names_resumes(tmp_path):
    """Its transcript names no players; the game that was interrupted continues with the same lines, and is shown with names."""
    path = tmp_path / "avalon_v0-1.jsonl"
    with opened(tmp_path, "avalon_v0", (0,), num_players=5, seed=1) as opening:
        over(opening)
    header, *lines = path.read_text("utf-8").splitlines(keepends=True)
    assert "names" not in json.loads(header)
    path.write_text("".join((header, *lines[:9], lines[9][:20])), "utf-8")
    with opened(tmp_path, "avalon_v0", (0,), names=NAMES, num_players=5, seed=1) as opening:
        assert over(opening)["seats"][0]["told"].startswith("You ")
    assert path.read_text("utf-8").startswith("".join((header, *lines[:9])))
    assert replay.Transcript.read(path).outcome is not None


def test_people_read_and_say_names_and_the_record_keeps_seats(tmp_path):
    with opened(tmp_path, "avalon_v0", (0,), names=NAMES, num_players=5, seed=1) as opening:
        watcher = Browser(opening, WATCHING)
        watcher.start()
        with socket_of(opening, opening.keys.of(0)) as socket:
            assert until(socket, "table")["agents"] == list(NAMES)
            message = until(socket, "asked")
            socket.send(move(message["turn"], words="I think dan is evil."))
            assert until(socket, "told")["lines"][0]["text"].startswith('Ana says: "I think Dan is evil."')
        last = over(opening)
        watcher.join(30)
    assert "player_" not in json.dumps([watcher.sent, last])
    path = tmp_path / "avalon_v0-1.jsonl"
    spoken = next(entry for entry in replay.Transcript.read(path).entries if entry.seat == 0)
    assert (spoken.move.args, spoken.raw) == ((3,), "I think player_3 is evil.")
    assert replay.Transcript.read(path).header["names"] == list(NAMES)
    assert not any(name in line for name in NAMES for line in path.read_text().splitlines()[1:])


def test_the_replay_of_a_game_with_names_shows_them(tmp_path, output_of):
    with opened(tmp_path, "avalon_v0", (0,), names=NAMES, num_players=5, seed=1) as opening:
        last = over(opening)
        page = opening.games.page(last["replay"].rpartition("/")[2])
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert [seat["called"] for seat in data["header"]["seats"]] == list(NAMES)
    assert "player_" not in json.dumps([data["lines"], data["who"], data["header"]["turned"]])
    assert data["header"]["turned"] == last["turned"]
    assert "player_" not in output_of(["replay", str(tmp_path / "avalon_v0-1.jsonl")]).partition("wins: ")[0]


@pytest.mark.parametrize("seed", range(4))
def test_the_end_says_where_the_game_turned(seed, tmp_path):
    """Quests: the vote that sent the deciding team. A named Merlin: a step at which an onlooker's chance rose."""
    with opened(tmp_path, "avalon_v0", (), seed=seed) as opening:
        (watcher,) = browsed(opening, WATCHING)
    transcript = replay.Transcript.read(tmp_path / "avalon_v0-1.jsonl")
    turned = watcher.sent[-1]["turned"]
    assert 0 <= turned["step"] < len(transcript.entries)
    if transcript.outcome.reason == "quests":
        assert "approved the team" in turned["why"]
        assert transcript.entries[turned["step"]].move.kind == "vote"
    else:
        assert "is Merlin rose from" in turned["why"]


def test_a_seat_alone_sees_marks_of_what_the_night_showed_it(tmp_path):
    """Each seat's marks that are secret are those of its View; a watcher has none."""
    with opened(tmp_path, "avalon_v0", (0, 1, 2, 3, 4), num_players=5, seed=2) as opening:
        browsers = browsed(opening, *opening.boards)
    transcript = replay.Transcript.read(tmp_path / "avalon_v0-1.jsonl")
    states = list(replay.states(transcript.game(), transcript.moves))
    for browser in browsers:
        laid = [message for message in browser.sent if message["type"] == "board"][-1]
        marked = {n for n, seat in enumerate(laid["seats"]) if any(m["kind"] == "secret" for m in seat["marks"])}
        view = None if browser.place == WATCHING else transcript.game().view(states[-1], browser.place)
        assert marked == ({seat for fact in view.knows for seat in fact.seats} if view else set())
    assert any(browser.place == WATCHING for browser in browsers)
