"""A game as a conversation (wrappers/conversation.py): only the news, all of it, and nothing else; and many games in step."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest
from parlour.envs import avalon_v0
from parlour.envs.core import ParlourError
from parlour.envs.language.headings import ENGLISH, LANGUAGES, SeatNews, headings_of
from parlour.envs.language.text import render
from parlour.policies import HeuristicPolicy
from parlour.training.harnesses.in_flight import TalkGame, play_in_flight
from parlour.training.play import rollout
from parlour.wrappers import Conversation, ConversationSeat, Recorder
from parlour.wrappers.conversation import table

GAMES = [
    ("avalon_v0", {"num_players": 5}),
    ("werewolf_v0", {"num_players": 6}),
    ("murder_mystery_v0", {}),
    ("murder_mystery_v0", {"case": "seed:3:zh"}),
    ("mediated_qa_v0", {}),
    ("template_v0", {}),
]
TABLES = pytest.mark.parametrize(("game", "options"), GAMES, ids=[f"{game}-{n}" for n, (game, _) in enumerate(GAMES)])


def news_of(message, headings):
    """The lines of the record in a message, without its last section."""
    last = headings.over if headings.over in message else headings.choice
    before = message[: message.rindex(last)]
    heading = headings.record if headings.record in before else headings.since
    return before.partition(heading)[2]


def answered(talk, seed):
    """Play a game at random by the options; who was asked, what it was told, and what its observation was."""
    rng, asked = np.random.default_rng(seed), []
    while (agent := talk.agent) is not None:
        base = talk.game_env
        asked.append((agent, talk.hear(agent), render(base.text, base.view(base.seat_of[agent]))))
        assert talk.record(agent) == asked[-1][2]
        talk.say(talk.options[int(rng.integers(len(talk.options)))])
    return asked


@TABLES
def test_the_messages_of_a_seat_put_together_are_its_observation(game, options):
    talk = Conversation(table(game, **options))
    talk.reset(seed=3)
    headings, texts = headings_of(talk.game_env.text), dict.fromkeys(talk.agents, "")
    first = {}
    for agent, message, observation in answered(talk, 3):
        first.setdefault(agent, message.partition(headings.record)[0])
        texts[agent] += news_of(message, headings)
        choice = message[message.rindex(headings.choice) :]
        assert f"{first[agent]}{headings.record}{texts[agent]}{choice}" == observation
    for agent in talk.agents:
        base = talk.game_env
        last = news_of(talk.hear(agent), headings)
        own = render(base.text, base.view(base.seat_of[agent]))
        assert news_of(own, headings) == texts[agent] + last


def test_without_the_list_of_options_a_message_still_says_what_is_asked():
    shown, asked = (Conversation(table("template_v0"), list_options=kept) for kept in (True, False))
    for talk in (shown, asked):
        talk.reset(seed=0)
    agent = shown.agent
    longer, shorter = shown.hear(agent), asked.hear(agent)
    listed = "".join(f"- {option}\n" for option in shown.options)
    assert listed
    assert longer == shorter + listed


# -- the game is the environment's -------------------------------------------------------------------------------


def test_a_seat_in_words_among_heuristics_plays_the_game_that_the_heuristic_plays(tmp_path):
    """The heuristic's own sentences, said by the seat, give the same transcript lines and returns as `rollout.play`."""
    env = Recorder(rollout.table("avalon_v0", num_players=5), tmp_path / "played.jsonl")
    episode = rollout.play(env, [HeuristicPolicy() for _ in range(5)], seed=8)
    env.close()
    own = [e for e in _lines(tmp_path / "played.jsonl") if e.get("seat") == "player_3"]
    seat = ConversationSeat(table("avalon_v0", num_players=5, transcript=tmp_path / "said.jsonl"), "player_3")
    seat.reset(seed=8)
    for line in own:
        assert not seat.done
        seat.say(line["say"])
    assert seat.done
    assert seat.reward == episode.returns[3]
    seat.conversation.env.close()
    played, said = _lines(tmp_path / "played.jsonl"), _lines(tmp_path / "said.jsonl")
    assert [line["move"] for line in said[1:-1]] == [line["move"] for line in played[1:-1]]


def _lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_seat_that_waits_for_others_leaves_the_loop_free():
    async def play():
        seat = ConversationSeat(table("template_v0"), "player_0")
        await seat.areset(seed=1)
        while not seat.done:
            await seat.asay(seat.options[0])
        return seat.reward

    assert asyncio.run(play()) in (-1.0, 0.0, 1.0)


# -- words that cannot be used -----------------------------------------------------------------------------------


def test_words_that_cannot_be_used_are_told_and_counted_and_then_replaced():
    seat = ConversationSeat(table("avalon_v0", num_players=5, talk=False, tries=2), "player_0")
    seat.reset(seed=2)
    before = seat.record
    text = seat.say("I fly to the moon.")
    assert "Your answer could not be used" in text
    assert headings_of(seat.conversation.game_env.text).since not in text  # nothing has happened
    assert seat.record.startswith(before)
    seat.say("I fly to the moon.")
    assert seat.faults == {"unreadable": 2, "ambiguous": 0, "illegal": 0, "replaced": 1}


@pytest.mark.parametrize("on_bad", ["ask_again", "default", "random", "raise", "forfeit"])
def test_a_seat_that_leaves_does_not_keep_the_others_from_the_end(on_bad):
    seat = ConversationSeat(table("avalon_v0", num_players=5, on_bad=on_bad), "player_0")
    seat.reset(seed=5)
    text = seat.leave()
    assert seat.done
    assert "# Game over" in text
    counted = seat.faults
    assert counted["unreadable"] + counted["illegal"] > 0
    assert seat.reset(seed=6)  # the table goes on
    assert not seat.done


def test_a_transcript_that_cannot_be_written_is_no_silence_of_a_seat(tmp_path, monkeypatch):
    env = table("avalon_v0", num_players=5, transcript=tmp_path / "game.jsonl")
    seat = ConversationSeat(env, "player_0")
    seat.reset(seed=5)

    def full(action):
        raise ParlourError("there is no room left")

    monkeypatch.setattr(env, "step", full)
    with pytest.raises(ParlourError, match="no room left"):
        seat.leave()
    env.close()


# -- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "seats", "why"),
    [
        (table("template_v0"), ["player_9"], "seat 'player_9' is not accepted; accepted: player_0, "),
        (table("template_v0"), ["player_0", "player_0"], "each once"),
        (avalon_v0.env(info="full"), None, "takes numbers alone"),
    ],
)
def test_seats_and_environments_that_cannot_talk_are_refused(env, seats, why):
    with pytest.raises(ParlourError, match=why):
        Conversation(env, seats)


def test_before_the_deal_and_after_the_end_nothing_is_said():
    talk = Conversation(table("template_v0"))
    with pytest.raises(ParlourError, match=r"no game was dealt yet; accepted: reset\(\)"):
        talk.hear("player_0")
    talk.reset(seed=0)
    while talk.agent is not None:
        talk.say(talk.options[0])
    with pytest.raises(ParlourError, match="the game is over"):
        talk.say("I have nothing to say.")


THREE_TABLES = pytest.mark.parametrize(
    ("game", "options"), [("avalon_v0", {"num_players": 5}), ("werewolf_v0", {"num_players": 6}), ("template_v0", {})]
)
SEVEN = [TalkGame(seed) for seed in range(7)]


def seat_at(game, **options):
    return lambda: ConversationSeat(table(game, **options), "player_1")


class Drawing:
    """Answers each turn by an option drawn by a generator of the game's own; keeps which turns came together."""

    def __init__(self):
        self.rngs, self.calls = {}, []

    def __call__(self, turns):
        self.calls.append([turn.game for turn in turns])
        return [self.drawn(turn) for turn in turns]

    def drawn(self, turn):
        rng = self.rngs.setdefault(turn.game, np.random.default_rng(turn.seed))
        return turn.options[int(rng.integers(len(turn.options)))]


@THREE_TABLES
@pytest.mark.parametrize("at_once", [1, 3, 32])
def test_games_in_step_are_the_games_that_one_seat_plays_alone(game, options, at_once):
    played = play_in_flight(seat_at(game, **options), SEVEN, Drawing(), at_once=at_once)
    seat = seat_at(game, **options)()
    for number, row in enumerate(played):
        texts = [seat.reset(seed=row.seed)]
        rng = np.random.default_rng(row.seed)
        while not seat.done:
            texts.append(seat.say(seat.options[int(rng.integers(len(seat.options)))]))
        assert (row.game, row.reward, row.faults, row.left) == (number, seat.reward, seat.faults, False)
        assert [reply.message for reply in row.replies] + [row.end] == texts


def test_a_game_that_ends_makes_room_for_the_next_and_turns_come_in_the_order_of_the_games():
    drawing = Drawing()
    play_in_flight(seat_at("avalon_v0"), SEVEN, drawing, at_once=3)
    assert all(call == sorted(set(call)) and len(call) <= 3 for call in drawing.calls)
    assert drawing.calls[0] == [0, 1, 2]
    assert {number for call in drawing.calls for number in call} == set(range(7))
    last = next(number for number, call in enumerate(drawing.calls) if 6 in call)
    assert {len(call) for call in drawing.calls[: last + 1]} == {3}


def test_faults_stand_at_the_reply_that_made_them():
    """Three tries: two refusals are counted at their replies, the third brings the table's own move."""
    words = iter(["???", "", "???"])
    maker = seat_at("template_v0")
    (game,) = play_in_flight(maker, SEVEN[:1], lambda turns: [next(words, turn.options[0]) for turn in turns])
    told = [dict(reply.faults) for reply in game.replies[:3]]
    assert told == [{"unreadable": 1}, {"unreadable": 1}, {"unreadable": 1, "replaced": 1}]
    assert game.faults == {"unreadable": 3, "ambiguous": 0, "illegal": 0, "replaced": 1}


@pytest.mark.parametrize("answers", [[], ["one", "another"]])
def test_another_number_of_answers_is_refused(answers):
    with pytest.raises(ParlourError, match=f"{len(answers)} answers for 1 turns"):
        play_in_flight(seat_at("template_v0"), SEVEN[:1], lambda turns: answers)


# -- the news --------------------------------------------------------------------------------------------------


def prose(record, choice="Vote.\n- Yes.\n- No.\n"):
    headings = LANGUAGES[ENGLISH]
    return f"{headings.who}You are player_0.\n{headings.record}{record}{headings.choice}{choice}"


def test_a_record_that_does_not_go_on_is_told_anew():
    news = SeatNews()
    news.tell_prose(prose("A.\nB.\n"))
    window = prose("(1 earlier lines left out)\nB.\nC.\n")
    assert news.tell_prose(window).message == window
