"""The plain player: what it reads is whole in its question, grows at its end, and offers each sentence of free talk once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import Event, Move
from parlour.policies import ChatPlayer
from parlour.policies.agents.chat.player import TakeTurn, one_by_one, together, turn_of
from parlour.policies.llm.ask import read_back
from parlour.policies.llm.fit import fitted, opening
from parlour.policies.llm.prompt import Templates
from parlour.training.play import asked, rollout

TABLES = [
    ("avalon_v0", {"num_players": 5}),
    ("avalon_v0", {"num_players": 6, "rules": "official", "talk": False}),
    ("werewolf_v0", {}),
    ("murder_mystery_v0", {"case": "seed:3:zh:5:1", "rounds": 1}),
    ("template_v0", {}),
]


class Reader(ChatPlayer):
    """Keeps what it read beside what it asked."""

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        self.read.append((observation["text"], dict(info)))
        return super().act(observation, info)


@pytest.mark.parametrize(("game", "options"), TABLES)
def test_a_question_holds_all_that_the_seat_read_and_no_more(game, options):
    model, env = asked.ListeningModel("chat.take_turn"), rollout.table(game, **options)
    players = [Reader(model) for _ in range(env.game_env.game.seats)]
    read: list[tuple[str, dict[str, Any]]] = []
    for player in players:
        player.read = read
    rollout.play(env, players, 7)
    assert len(read) == len(model.heard)
    for (text, info), (question, context) in zip(read, model.heard, strict=True):
        assert question.observation(info.get("rules", "")) == text
        assert question.sentences() == list(info["options"])
        assert context.rules == info.get("rules", "")
        assert read_back(question.prompt()) == question
        assert bool(question.sayings) == info["free_words"]
        assert not any(heading in question.prompt() for heading in ("\n> # ", "\n- # "))


def test_the_prompts_of_a_seat_grow_at_their_end(of_werewolf):
    mine = [question for question, seat in of_werewolf if seat == "player_2"]
    assert len(mine) > 3
    for before, after in pairwise(mine):
        assert after.events[: len(before.events)] == before.events
        assert after.who == before.who
        upto = before.prompt().index("## asked")
        assert after.prompt().startswith(before.prompt()[:upto].rstrip())


def questions_of(game: str, options: dict[str, Any], seed: int) -> list[tuple[TakeTurn, str]]:
    """The questions of a game, and the seat of each."""
    model, env = asked.ListeningModel("chat.take_turn"), rollout.table(game, **options)
    rollout.play(env, [ChatPlayer(model) for _ in range(env.game_env.game.seats)], seed)
    return [(question, context.seat) for question, context in model.heard]


@pytest.fixture(scope="module")
def of_werewolf() -> list[tuple[TakeTurn, str]]:
    return questions_of("werewolf_v0", {}, 3)


@pytest.mark.parametrize(("game", "options"), [("werewolf_v0", {}), ("avalon_v0", {"num_players": 5})])
def test_the_record_that_all_seats_share_holds_no_line_of_one_seat(game, options):
    """Of two prompts of whatever seats, the later one's record goes on where the earlier one's ended."""
    questions = [question for question, _ in questions_of(game, options, 3)]
    assert len({tuple(question.private) for question in questions}) > 3
    for before, after in pairwise(questions):
        assert after.events[: len(before.events)] == before.events


def test_what_only_the_witch_the_seer_and_the_werewolves_are_told_stands_apart(of_werewolf):
    lines = [line for question, _ in of_werewolf for line in question.private]
    for whom in ("To the witch: ", "To the seer: ", "To the werewolves: ", "says to the werewolves: ", "Privately, "):
        assert any(whom in line for line in lines), whom


def test_all_who_vote_at_one_moment_read_the_same_up_to_who_they_are():
    votes = [
        q
        for q, _ in questions_of("avalon_v0", {"num_players": 5}, 3)
        if q.options == ["I approve the team.", "I reject the team."]
    ]
    first = votes[:5]  # five players vote on the first team
    prompts = [question.prompt() for question in first]
    upto = prompts[0].index("\n## who")
    assert "## options\n- I approve the team.\n- I reject the team." in prompts[0][:upto]
    assert len({prompt[:upto] for prompt in prompts}) == 1
    assert len(set(prompts)) == 5


def test_what_all_know_from_the_beginning_stands_once_for_all_seats(of_werewolf):
    (common,) = {question.common for question, _ in of_werewolf}
    assert common.startswith("By day the living talk and vote in this order: player_")
    assert not any("in this order" in question.who for question, _ in of_werewolf)


def test_a_seat_with_a_long_story_reads_it_before_the_record():
    """Nothing behind a story is shared by seats; llama.cpp, with one slot, keeps the prompts of all seats only if they
    differ in more than half of their length."""
    question, _ = questions_of("murder_mystery_v0", {"case": "seed:3:en:4", "rounds": 2}, 3)[-1]
    assert (question.who, question.common, question.private) == ("", "", [])
    assert any(line.startswith("Privately, ") for line in question.events)
    prompt = question.prompt()
    assert prompt.index("## story") < prompt.index("## events") < prompt.index("## asked")


def test_what_was_wrong_with_an_answer_stands_with_what_is_asked():
    text = (
        "# Who you are\nYou are player_1.\n# What has happened\nNight falls.\n# What you may do now\nVote.\n"
        '- I wait.\n- I accuse player_1.\nYour answer could not be used: "x"\n'
    )
    question = turn_of(text, {**INFO, "free_words": False})
    assert (question.asked, question.options) == ('Vote.\nYour answer could not be used: "x"', INFO["options"])
    assert question.observation("") == text
    assert read_back(question.prompt()) == question


INFO = {"options": ["I wait.", "I accuse player_1."], "free_words": True}


def test_a_decision_is_one_of_its_options():
    question = turn_of("line\n", {**INFO, "free_words": False})
    assert (question.options, question.sayings) == (INFO["options"], [])
    assert question.read('{"thoughts": "", "words": "i wait"}').words == "I wait."
    assert question.schema_of_answer()["properties"]["words"]["enum"] == INFO["options"]
    assert "enum" not in str(turn_of("line\n", INFO).schema_of_answer())


def test_private_lines_stay_behind_the_lines_that_they_followed_where_older_ones_are_left_out():
    """Of five events the second is speech and goes: what stood behind two events stands behind one, behind five behind four."""
    events = ["Night falls.", f'player_2 says: "{"word " * 60}"', "Day breaks.", "player_3 died.", "Vote."]
    question = TakeTurn(
        **dict.fromkeys(("common", "story"), ""),
        events=events,
        asked="Vote.",
        options=["I wait."],
        sayings=[],
        who="You are player_1.",
        private=["0: Privately, a.", "2: Privately, b.", "5: Privately, c."],
    )
    whole = opening(question, "Rules.", Templates())
    put = fitted(question, "Rules.", Templates(), whole.tokens() - 40)
    assert put.question.events == [events[0], *events[2:]]
    assert put.question.private == ["0: Privately, a.", "1: Privately, b.", "4: Privately, c."]
    assert "- 1: Privately, b." in put.user


class Seen:
    """A View with nothing but events, of which those with seats were seen by these alone."""

    def __init__(self, to: list[tuple[int, ...] | None]) -> None:
        self.events = tuple(Event(0, Move("silent"), seats) for seats in to)


def test_who_saw_a_line_is_told_by_the_game_and_not_by_its_words():
    """A player's words are public, whatever they begin with; without a View all lines are taken as public."""
    text = "# Who you are\nx\n# What has happened\nPrivately, I wonder.\nDay.\n# What you may do now\ny\n- I wait.\n"
    info = {"options": ["I wait."], "free_words": False}
    assert turn_of(text, {**info, "view": Seen([None, (0,)])}).private == ["1: Day."]
    assert turn_of(text, info).private == []


def test_private_speech_may_be_left_out_and_other_private_lines_may_not():
    assert TakeTurn.recent == ("private",)
    assert TakeTurn.is_speech('2: player_2 says to the werewolves: "Fine."')
    assert not TakeTurn.is_speech("2: Privately, player_1: I save nobody.")
    assert not TakeTurn.is_speech("2: Moderator: To the seer: player_1 is a werewolf.")


def test_sentences_that_begin_and_end_alike_stand_together():
    said = [
        "I wait.",
        *(f"I trust that player_{k} is good." for k in range(3)),
        "At 17:00 A was in B.",
        "At 17:30 A was in B.",
    ]
    entries = together(said)
    assert entries == [
        "I wait.",
        "I trust that [player_0 | player_1 | player_2] is good.",
        "At [17:00 | 17:30] A was in B.",
    ]
    assert one_by_one(entries) == said


@given(st.lists(st.text(alphabet='ab 1:.信任[]|"', min_size=1, max_size=12), max_size=9))
def test_sentences_are_read_back_from_their_entries(sentences):
    assert one_by_one(together(sentences)) == sentences
