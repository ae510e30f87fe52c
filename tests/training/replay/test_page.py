"""The data of a replay page (training/replay): what each seat was told, by its View, and nothing else; every line once.

`tests/training/replay/data/coin.json` is the data of `coin.jsonl` as it stands in a page: the example for whoever writes the browser's side.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from parlour.envs.common.plain import plain
from parlour.envs.replay import Transcript
from parlour.training.replay.asked import Pieces
from parlour.training.replay.build import replay_of
from parlour.training.replay.model import Replay

REPLAYS = Path(__file__).parent / "data"


def test_the_data_of_a_coin_game_is_the_example_that_is_written_down():
    """The coin shows heads, which its keeper alone is told; he lies, and the guesser believes it right: tails is not said."""
    data = plain(replay_of(Transcript.read(REPLAYS / "coin.jsonl"), "coin.jsonl"), sparse=True)
    assert data == json.loads((REPLAYS / "coin.json").read_text("utf-8"))


# -- games that are not whole ----------------------------------------------------------------------------------------


def lines_of_file(name: str = "coin.jsonl") -> list[str]:
    return (REPLAYS / name).read_text("utf-8").splitlines(keepends=True)


def replayed(tmp_path: Path, *lines: str) -> Replay:
    path = tmp_path / "game.jsonl"
    path.write_text("".join(lines), "utf-8")
    return replay_of(Transcript.read(path))


def test_a_game_that_was_killed_is_shown_up_to_its_last_whole_line(tmp_path):
    header, toss, promise, guess, _ = lines_of_file()
    replay = replayed(tmp_path, header, toss, promise, guess[:20])
    assert [step.kind for step in replay.steps] == ["toss", "promise", "end"]
    assert not replay.header.finished
    assert replay.header.ended == "The game was not finished."
    assert [seat.returned for seat in replay.header.seats] == [None, None]
    before = replayed(tmp_path, header)
    assert ([step.kind for step in before.steps], before.lines, before.who) == (["end"], (), ())
    given_up = replayed(tmp_path, header, toss, '{"unfinished": "player_0: no \\u202e answer", "seat": "player_0"}\n')
    assert given_up.header.ended == "The game was not finished: player_0: no answer."


def test_a_move_that_does_not_fit_ends_the_page_before_it_and_is_told(tmp_path):
    header, toss, promise, guess, outcome = lines_of_file()
    replay = replayed(tmp_path, header, toss, promise.replace("[1]", "[7]"), guess, outcome)
    assert [step.kind for step in replay.steps] == ["toss", "end"]
    (note,) = replay.header.notes
    assert note.startswith("The move of line 3 does not fit the rules: promise [7] is not accepted")
    assert note.endswith("The page ends before it; 2 lines of the transcript are not shown.")
    other = replayed(tmp_path, header, toss, promise.replace("player_0", "player_1"), guess, outcome)
    assert other.header.notes[0].startswith("Line 3 is a move of player_1; accepted: player_0.")


def test_an_outcome_that_is_not_that_of_the_moves_is_told(tmp_path):
    *lines, outcome = lines_of_file()
    replay = replayed(tmp_path, *lines, outcome.replace('"guesser"', '"keeper"'))
    assert replay.header.winner == "guesser"
    assert replay.header.notes == (
        "The outcome written down, 'Keeper wins: the guess was wrong.', is not that of the moves.",
    )


def test_a_seat_that_gave_up(tmp_path):
    header, toss, *_ = lines_of_file()
    forfeit = '{"n": 1, "seat": "player_0", "fault": "forfeit"}\n'
    outcome = '{"outcome": {"returns": [-1.0, 0.0], "winner": "draw", "reason": "forfeit"}}\n'
    replay = replayed(tmp_path, header, toss, forfeit, outcome)
    assert [step.kind for step in replay.steps] == ["toss", "forfeit", "end"]
    assert [seat.returned for seat in replay.header.seats] == [-1.0, 0.0]
    assert replay.header.notes == ()


def test_refused_and_replaced_words_stand_with_their_reasons(tmp_path):
    """Words that were no move are a step of their own; the move made in their place says by whom it is, and why."""
    header, toss, promise, guess, outcome = lines_of_file()
    refused = '{"n": 2, "seat": "player_1", "to": ["player_1"], "raw": "edge!", "fault": "unreadable"}\n'
    replaced = json.dumps({**json.loads(guess), "by": "table", "reason": "default"}) + "\n"
    thumb = json.dumps({**json.loads(promise), "by": "heuristic", "reason": "timeout"}) + "\n"
    replay = replayed(tmp_path, header, toss, thumb, refused, replaced, outcome)
    rows = [(step.kind, step.raw, step.fault, step.by, step.reason) for step in replay.steps[1:4]]
    assert rows == [
        ("promise", "", "", "heuristic", "timeout"),
        ("refused", "edge!", "unreadable", "", ""),
        ("guess", "", "", "table", "default"),
    ]


def test_questions_with_prompts_replies_thinking_tokens_and_cost(tmp_path):
    """Prompts that begin alike are stored once: of the second one the last line alone is new."""
    header, toss, promise, guess, outcome = lines_of_file()
    call = {
        "ask": "chat", "prompt": [{"role": "user", "content": "a\nb\nc"}], "reply": "Hm.", "fault": "no JSON",
        "thinking": "let me see", "usage": {"prompt": 30, "completion": 4, "cached": 8}, "cost": 0.25, "served": "m-1", "cut": 2,
    }  # fmt: skip
    again = {**call, "prompt": [{"role": "user", "content": "a\nb\nd"}], "reply": "{}", "cost": None}
    del again["fault"]
    asked = json.dumps({**json.loads(promise), "calls": [call, again]}) + "\n"
    replay = replayed(tmp_path, header, toss, asked, guess, outcome)
    first, second = replay.steps[1].asks
    assert (first.reply, first.thinking, first.fault, first.model) == ("Hm.", "let me see", "no JSON", "m-1")
    assert (first.read, first.written, first.cached, first.dollars, first.cut) == (30, 4, 8, 0.25, 2)
    assert (second.fault, second.dollars) == ("", None)
    assert replay.pieces == ("a\n", "b\n", "c", "d")
    assert (first.prompt, second.prompt) == ((("user", (0, 3)),), (("user", (0, 2, 3, 1)),))


def test_calls_of_another_form_are_passed_over(tmp_path):
    header, toss, promise, guess, outcome = lines_of_file()
    for calls in (7, "x", [3, None], [{}], [{"ask": 1, "prompt": 2, "usage": [], "cost": "x", "cut": None}]):
        asked = json.dumps({**json.loads(promise), "calls": calls}) + "\n"
        assert len(replayed(tmp_path, header, toss, asked, guess, outcome).steps) == 4


def put_together(pieces: Pieces, run: tuple[int, ...]) -> str:
    return "".join(text for k in range(0, len(run), 2) for text in pieces.texts[run[k] : run[k] + run[k + 1]])


def test_a_long_prompt_in_one_line_is_stored_once_where_it_comes_again():
    """Two prompts of JSON in one line, of 200 sentences each, that differ in the last: the second adds one piece."""
    pieces = Pieces()
    said = [f"player_{number % 7} says the {number}th thing." for number in range(200)]
    texts = [json.dumps({"record": " ".join(said)}), json.dumps({"record": " ".join([*said, "And one more."])})]
    runs = [pieces.runs(text) for text in texts]
    assert [put_together(pieces, run) for run in runs] == texts
    assert sum(map(len, pieces.texts)) < len(texts[0]) + 100


@pytest.mark.parametrize(
    "text", ["", "\n", "a" * 1000, "\r\n\u2028x\u0085" * 100, '", ' * 500, "\\n" * 300, ". \n" * 90]
)
def test_pieces_put_together_are_the_text(text):
    pieces = Pieces()
    assert put_together(pieces, pieces.runs(text)) == text
