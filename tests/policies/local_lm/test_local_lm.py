"""What a player of a local language model needs no library for: its settings, what fits into its context, who answers together."""

from __future__ import annotations

import threading
from importlib.util import find_spec

import pytest
from parlour.envs.core import ParlourError
from parlour.policies import asks_a_model, checkpoint_settings, make_policy
from parlour.policies.llm.at_once import Gathering, ask_along
from parlour.policies.llm.model import OfflineModel
from parlour.policies.local_lm.prompts import ASSISTANT, USER, Fitting, ToldTurn
from parlour.policies.local_lm.settings import CheckpointSettings, hash_of
from parlour.training.cli.models import games_at_once

# -- settings --------------------------------------------------------------------------------------------------


def test_settings_follow_the_folder():
    words = checkpoint_settings("hf:models/tiny,temperature=0.5,list_options=false,history=3")
    assert CheckpointSettings.from_words(words) == CheckpointSettings(
        dir="models/tiny", temperature=0.5, list_options=False, history=3
    )
    assert checkpoint_settings("heuristic") is None
    assert not asks_a_model("hf:models/tiny")


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("hf", "dir"),
        ("hf:temperature=1", "dir"),
        ("hf:x,heat=1", "heat"),
        ("hf:x,context=100", "context"),
    ],
)
def test_settings_that_are_not_accepted_are_told(name, field):
    with pytest.raises(ParlourError, match=field):
        CheckpointSettings.from_words(checkpoint_settings(name) or {})


def test_as_many_games_are_in_flight_as_prompts_are_computed_together():
    assert games_at_once(["hf:a,batch=6", "random"], OfflineModel()) == 6
    assert games_at_once(["random"], OfflineModel(concurrency=3)) == 3


def test_a_folder_without_a_checkpoint_is_told(tmp_path):
    with pytest.raises(ParlourError, match=r"holds no config\.json"):
        hash_of(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ParlourError, match=r"holds no weights as \*\.safetensors"):
        hash_of(tmp_path)


def test_the_hash_is_that_of_the_weights_in_the_order_of_their_names(tmp_path):
    """SHA-256 of "abc" (FIPS 180-2, appendix B.1)."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model-2.safetensors").write_bytes(b"c")
    (tmp_path / "model-1.safetensors").write_bytes(b"ab")
    assert hash_of(tmp_path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_without_the_library_its_extra_is_told():
    told = r"holds no config\.json" if find_spec("transformers") else r"pip install .*\[hf\]"
    with pytest.raises(ParlourError, match=told):
        make_policy("hf:nowhere", "avalon_v0", {})


# -- what fits -------------------------------------------------------------------------------------------------


def turn(number, words="ok", lines=2):
    return ToldTurn(f"H{number}\n", tuple(f"{number}.{k}\n" for k in range(lines)), f"C{number}\n", words)


TURNS = [*(turn(k) for k in range(4)), turn(4, None)]


def room(characters):
    return lambda messages: sum(len(content) for _, content in messages) <= characters


def test_the_oldest_turns_behind_the_first_go_and_a_line_tells_of_theirs():
    """A turn has 14 characters and its answer 2: all five have 78. Without turns 1 and 2: 46 and a line of 28 or so."""
    fitted = Fitting(room(78))(TURNS)
    assert fitted.left_out == fitted.gone == 0
    assert [role for role, _ in fitted.messages] == [USER, ASSISTANT] * 4 + [USER]
    fitted = Fitting(room(77))(TURNS)
    assert fitted.gone == 2
    assert fitted.left_out == 4
    assert fitted.messages[0] == (USER, "H0\n0.0\n0.1\nC0\n")
    assert fitted.messages[2] == (USER, "H3\n(4 earlier lines left out)\n3.0\n3.1\nC3\n")
    assert fitted.messages[-1] == (USER, "H4\n4.0\n4.1\nC4\n")


def test_lines_of_the_first_message_go_before_those_of_the_last():
    """42 characters, 2 and 14; without eight lines of four characters and with a mark of 27: 53 of 55."""
    fitted = Fitting(room(55))([turn(0, "ok", 9), turn(1, None, 2)])
    assert fitted.messages[0] == (USER, "H0\n(8 earlier lines left out)\n0.8\nC0\n")
    assert fitted.messages[-1] == (USER, "H1\n1.0\n1.1\nC1\n")


def test_a_message_that_never_fits_is_told():
    with pytest.raises(ParlourError, match="does not fit into the model's context"):
        Fitting(room(10))([turn(0, None, 10)])


# -- who answers together --------------------------------------------------------------------------------------


class Echo:
    """Answers with the question; keeps what was asked together."""

    def __init__(self, fails=False):
        self.batches, self.fails = [], fails

    def together(self, asked):
        self.batches.append(list(asked))
        if self.fails:
            raise ValueError("no")
        return [f"{words}!" for words in asked]


def in_threads(works):
    """Run in threads that go along; what each returned, or the error."""
    gathering, results = Gathering(len(works)), {}

    def work(number):
        with gathering.member():
            try:
                results[number] = works[number]()
            except ValueError as error:
                results[number] = error

    threads = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return [results[k] for k in range(len(works))]


def asks(by, number, times):
    return lambda: [ask_along(by, (number, k), (number, k)) for k in range(times)]


def test_all_who_wait_are_answered_together_in_the_order_of_their_questions():
    """Three threads with 3, 1 and 2 questions: whoever has none left is not waited for."""
    echo = Echo()
    results = in_threads([asks(echo, 0, 3), asks(echo, 1, 1), asks(echo, 2, 2)])
    assert echo.batches == [[(0, 0), (1, 0), (2, 0)], [(0, 1), (2, 1)], [(0, 2)]]
    assert results[2] == ["(2, 0)!", "(2, 1)!"]


def test_what_answering_raises_is_raised_for_all_who_asked_together():
    echo, failing = Echo(), Echo(fails=True)
    results = in_threads([asks(failing, 0, 1), asks(echo, 1, 1), asks(failing, 2, 1)])
    assert [str(results[0]), results[1], str(results[2])] == ["no", ["(1, 0)!"], "no"]
