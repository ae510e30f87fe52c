"""Games that callers from outside play by an id (training/harnesses/sessions.py): one seat each, one call at a time."""

from __future__ import annotations

from threading import Thread

import numpy as np
import pytest
from parlour.envs import replay
from parlour.envs.common.plain import plain
from parlour.envs.core import ParlourError
from parlour.envs.language.headings import headings_of
from parlour.envs.language.text import render
from parlour.policies import RandomPolicy
from parlour.training.harnesses.sessions import SessionCounts, Sessions, SessionSettings

from tests.wrappers.test_conversation import news_of


def to_the_end(sessions, turn, rng):
    """Answer with options drawn; all that was told."""
    turns = [turn]
    while not turn.done:
        turn = sessions.say(turn.session, turn.options[int(rng.integers(len(turn.options)))])
        turns.append(turn)
    return turns


def test_what_a_caller_is_told_put_together_is_what_the_view_of_its_seat_holds(tmp_path):
    sessions = Sessions(SessionSettings(game="werewolf_v0", seat="player_1", options={"num_players": 6}, out=tmp_path))
    for seed in range(3):
        turns = to_the_end(sessions, sessions.begin(seed), np.random.default_rng(seed))
        game = sessions._games[turns[0].session].game.game_env
        headings = headings_of(game.text)
        text = "".join(news_of(turn.message, headings) for turn in turns)
        assert text == news_of(render(game.text, game.view(1)), headings)
        assert {tuple(plain(turn)) for turn in turns} == {
            ("session", "seat", "message", "options", "done", "reward", "faults")
        }


def test_a_game_by_id_is_an_ordinary_transcript_with_its_outcome(tmp_path):
    sessions = Sessions(SessionSettings(game="avalon_v0", options={"num_players": 5}, out=tmp_path, seed=4))
    turns = to_the_end(sessions, sessions.begin(), np.random.default_rng(0))
    sessions.close()
    transcript = replay.Transcript.read(tmp_path / "avalon_v0-1.jsonl")
    assert transcript.header["seed"] > 2**32  # nobody tries them all
    assert transcript.header["players"] == {"player_0": "caller", **{f"player_{k}": "heuristic" for k in range(1, 5)}}
    assert transcript.outcome.returns[0] == turns[-1].reward


def test_a_caller_may_take_another_seat_but_not_an_unknown_id_or_too_many_words():
    sessions = Sessions(SessionSettings(game="avalon_v0"))
    turn = sessions.begin(1, "player_3")
    assert "You are player_3." in turn.message
    with pytest.raises(ParlourError, match="seat 'player_7' is not accepted; accepted: player_0"):
        sessions.begin(1, "player_7")
    with pytest.raises(ParlourError, match="there is no such session"):
        sessions.say("0123", "x")
    with pytest.raises(ParlourError, match="4001 characters are not accepted; accepted: 4000 at most"):
        sessions.say(turn.session, "x" * 4001)


def test_a_caller_that_is_gone_frees_its_place_and_its_game_is_played_to_its_end_and_counted(tmp_path):
    sessions = Sessions(SessionSettings(game="avalon_v0", out=tmp_path, max_games=1))
    turn = sessions.begin(5)
    turn = sessions.say(turn.session, turn.options[0])
    sessions.end(turn.session)
    with pytest.raises(ParlourError, match="there is no such session"):
        sessions.say(turn.session, turn.options[0])
    whole = to_the_end(sessions, sessions.begin(6), np.random.default_rng(0))[-1]
    sessions.end(whole.session)
    assert sessions.counts == SessionCounts(begun=2, in_progress=0, left=1)
    sessions.close()
    transcript = replay.Transcript.read(tmp_path / "avalon_v0-1.jsonl")
    assert transcript.outcome is not None
    assert any(line.get("by") == "table" and line["seat"] == "player_0" for line in transcript.lines)


def test_a_game_that_is_over_makes_room_for_another_and_one_in_progress_does_not():
    sessions = Sessions(SessionSettings(game="template_v0", max_games=2))
    first = to_the_end(sessions, sessions.begin(0), np.random.default_rng(0))[-1]
    sessions.begin(1)
    third = sessions.begin(2)
    with pytest.raises(ParlourError, match="there is no such session"):
        sessions.look(first.session)
    with pytest.raises(ParlourError, match="2 games are in progress"):
        sessions.begin(3)
    assert not sessions.look(third.session).done


def test_a_caller_that_was_not_heard_of_for_too_long_gives_its_place_away_where_one_is_needed(tmp_path):
    """With a patience of no time at all the one that called longest ago: the second of two, as the first one called again."""
    sessions = Sessions(SessionSettings(game="avalon_v0", max_games=2, patience=0.0, out=tmp_path))
    first, second = sessions.begin(1), sessions.begin(2)
    first = sessions.say(first.session, first.options[0])
    sessions.begin(3)
    assert not sessions.look(first.session).done
    with pytest.raises(ParlourError, match="there is no such session"):
        sessions.look(second.session)
    assert sessions.counts == SessionCounts(begun=3, in_progress=2, left=1)
    sessions.close()
    assert replay.Transcript.read(tmp_path / "avalon_v0-2.jsonl").outcome is not None


def test_two_calls_at_once_are_one_call_and_one_refusal():
    """The opponent asks for the second call in the midst of the first one."""
    refused = []

    class Calls(RandomPolicy):
        def act(self, observation, info):
            if sessions.current is not None and not refused:
                caller = Thread(target=self.call)
                caller.start()
                caller.join()
            return super().act(observation, info)

        def call(self):
            try:
                sessions.say(sessions.current, "I approve the team.")
            except ParlourError as error:
                refused.append(str(error))

    sessions = Sessions(SessionSettings(game="avalon_v0", opponents=Calls))
    sessions.current = None
    turn = sessions.begin(3)
    sessions.current = turn.session
    assert not sessions.say(turn.session, turn.options[0]).done
    assert refused == ["this game answers another call; accepted: one call at a time"]


def dealt(sessions, count):
    """Roles of so many games, each of which is left."""
    return [sessions.leave(sessions.begin_for_caller().session).message for _ in range(count)]


def test_deals_are_random_and_those_of_a_host_s_seed_are_repeatable_without_telling_one_another(tmp_path):
    unseeded, again = (dealt(Sessions(SessionSettings(game="avalon_v0")), 6) for _ in range(2))
    assert unseeded != again
    folders = [tmp_path / "one", tmp_path / "other"]
    for out in folders:
        sessions = Sessions(SessionSettings(game="avalon_v0", out=out, seed=7))
        dealt(sessions, 3)
        sessions.close()
    seeds = [
        [replay.Transcript.read(out / f"avalon_v0-{k}.jsonl").header["seed"] for k in (1, 2, 3)] for out in folders
    ]
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 3
    assert min(abs(one - other) for one in seeds[0] for other in seeds[0] if one != other) > 2**32


def test_a_caller_names_a_seed_where_the_host_allows_it_and_the_host_s_own_process_always_does():
    sessions = Sessions(SessionSettings(game="avalon_v0"))
    with pytest.raises(ParlourError, match="a seed is not accepted from callers of this server; accepted: begin"):
        sessions.begin_for_caller(3)
    allowed = Sessions(SessionSettings(game="avalon_v0", callers_may_seed=True))
    assert allowed.begin_for_caller(3).message == sessions.begin(3).message
    with pytest.raises(ParlourError, match="a seed of 16607 bits is not accepted; accepted: 63 at most"):
        allowed.begin_for_caller(10**4999)


def test_the_file_of_a_game_in_progress_is_private_under_a_random_name_and_numbers_go_on(tmp_path):
    for number in (1, 2):
        sessions = Sessions(SessionSettings(game="avalon_v0", out=tmp_path))
        turn = sessions.begin()
        (playing,) = tmp_path.glob("playing-*.jsonl")
        assert playing.stat().st_mode & 0o777 == 0o600
        assert len(playing.stem) == len("playing-") + 32
        sessions.leave(turn.session)
        assert not playing.exists()
        assert replay.Transcript.read(tmp_path / f"avalon_v0-{number}.jsonl").outcome is not None
        sessions.begin()  # it stays unfinished
        (tmp_path / f"avalon_v0-{number + 1}.jsonl").touch()  # of another server
        sessions.close()
        (tmp_path / f"avalon_v0-{number + 1}.jsonl").unlink()
        unfinished = tmp_path / f"avalon_v0-{number + 2}.jsonl"
        assert replay.Transcript.read(unfinished).outcome is None
        unfinished.unlink()


def test_games_in_a_minute_and_bytes_on_disk_have_limits(tmp_path):
    sessions = Sessions(SessionSettings(game="template_v0", games_per_minute=2), "new_game")
    dealt(sessions, 2)
    with pytest.raises(ParlourError, match="2 games in a minute are not accepted; accepted: new_game again in 60 s"):
        sessions.begin_for_caller()
    sessions.begin()
    full = Sessions(SessionSettings(game="template_v0", out=tmp_path, max_disk=100), "new_game")
    dealt(full, 1)
    with pytest.raises(ParlourError, match="the transcripts fill 100 bytes; accepted: new_game when"):
        full.begin_for_caller()


def test_games_that_their_callers_left_count_until_they_are_over():
    """Whoever begins another game waits for the end of one that was left."""
    at_work = []

    class Slow(RandomPolicy):
        def act(self, observation, info):
            at_work.append(sum(not game.over for game in sessions._games.values()) + sessions._ending)
            return super().act(observation, info)

    sessions = Sessions(SessionSettings(game="avalon_v0", opponents=Slow, max_games=2))
    for _ in range(20):
        sessions.end(sessions.begin().session)
    sessions.close()
    assert max(at_work) == 2
    assert sessions.counts.begun == 20


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"game": "chess"}, "game 'chess' is not accepted"),
        ({"game": "avalon_v0", "seat": "me"}, "seat 'me' is not accepted; accepted: player_0"),
        ({"game": "avalon_v0", "opponents": "nobody"}, "'nobody' is not accepted"),
        ({"game": "avalon_v0", "on_bad": "hope"}, "on_bad 'hope' is not accepted"),
        ({"game": "avalon_v0", "options": {"num_players": 3}}, "num_players"),
        ({"game": "avalon_v0", "max_games": 0}, "max_games"),
        ({"game": "avalon_v0", "games_per_minute": 0}, "games_per_minute"),
        ({"game": "avalon_v0", "max_disk": 0}, "max_disk"),
        ({"game": "avalon_v0", "patience": -1.0}, "patience -1.0 is not accepted"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_before_anybody_calls(settings, why):
    with pytest.raises(ParlourError, match=why):
        SessionSettings(**settings)
