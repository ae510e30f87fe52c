"""One model, one game: the endpoint's player and the conversation behind Inspect, verifiers and MCP lead to the same games.

The packages themselves are not needed here; tests/integrations plays the same model through each of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from parlour.training.harnesses.inspect_ai.played import play_again, played
from parlour.training.harnesses.sessions import Sessions, SessionSettings
from parlour.training.play.outside import OutsideSeats, OutsideTable

from tests.training.harnesses.bridged_games import TABLES
from tests.training.harnesses.one_stub import by_endpoint, dealt, same_games, seat_of, stub_words

QUICK = 2
"""Deals at each table."""
SLOW = {"murder_mystery_v0": pytest.mark.slow}
OBSERVED = (
    "# Who you are\nYou are player_0.\n# What has happened\nplayer_3 says: I trust player_1.\n# What you may do now\nVote.\n"
    + "".join(f"- I vote for player_{seat}.\n" for seat in range(1, 50))
)


def in_sessions(game: str, out: Path) -> list[float]:
    """Sessions, as MCP and OpenEnv keep them: one game after another; the model's rewards."""
    sessions = Sessions(SessionSettings(game=game, seat=seat_of(game, 0), options=TABLES[game], out=out))
    rewards = []
    for k, seed in enumerate(dealt(QUICK)):
        turn, messages = sessions.begin(seed, seat_of(game, k)), []
        while not turn.done:
            messages.append({"role": "user", "content": turn.message})
            words = stub_words(messages)
            messages.append({"role": "assistant", "content": words})
            turn = sessions.say(turn.session, words)
        rewards.append(turn.reward)
    sessions.close()
    return rewards


def stored_and_played_again(game: str, out: Path) -> list[float]:
    """Games as Inspect's log stores them, written as transcripts from there; the model's rewards."""
    rewards = []
    for k, seed in enumerate(dealt(QUICK)):
        agent = seat_of(game, k)
        talk, messages = OutsideSeats(OutsideTable(game=game, options=TABLES[game]), [agent]), []
        talk.deal(seed)
        while not talk.done:
            messages.append({"role": "user", "content": talk.hear(agent)})
            talk.say(stub_words(messages))
        stored = played(talk, [agent], {agent: "stub"})
        play_again(stored, out / f"{k}.jsonl", {})
        rewards.append(stored.returns[agent])
    return rewards


@pytest.mark.parametrize("game", [pytest.param(game, marks=SLOW.get(game, ())) for game in TABLES])
def test_a_model_plays_the_same_games_as_chat_player_in_sessions_and_in_stored_games(game, tmp_path):
    endpoint = by_endpoint(game, QUICK, tmp_path / "endpoint")
    for route in (in_sessions, stored_and_played_again):
        out = tmp_path / route.__name__
        out.mkdir()
        same_games(endpoint, game, out, route(game, out))


def test_a_stub_that_reads_one_word_less_plays_another_game(tmp_path):
    """Without this, equal games would show nothing: a model that ignores what it reads plays the same everywhere."""
    messages = [{"role": "user", "content": OBSERVED}]
    less = [{"role": "user", "content": OBSERVED.replace("player_3 says: I trust player_1.\n", "")}]
    assert stub_words(messages) != stub_words(less)
