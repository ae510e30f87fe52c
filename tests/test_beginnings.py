"""The share of prompts that begin like an earlier one, which servers that keep what they have read need not read anew."""

from __future__ import annotations

from os.path import commonprefix

from hypothesis import given
from hypothesis import strategies as st
from parlour.policies.llm.decisions import Beginnings, took


@given(st.lists(st.text(alphabet="ab", max_size=6), max_size=8))
def test_a_neighbour_in_alphabetical_order_shares_most(prompts):
    seen = Beginnings()
    for number, prompt in enumerate(prompts):
        longest = max((len(commonprefix([prompt, other])) for other in prompts[:number]), default=0)  # noqa: RUF071
        assert seen.shared(prompt) == longest


def call(system: str, user: str) -> dict:
    prompt = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return {
        "ask": "chat.take_turn",
        "prompt": prompt,
        "reply": "{}",
        "usage": {"prompt": 9, "completion": 1},
        "cost": None,
    }


def test_the_beginnings_of_a_game_are_those_of_all_seats():
    seen = Beginnings()
    first = took([call("rules", "night 1")], seen)
    assert (first.characters, first.shared) == (13, 0)  # "rules", a line break, "night 1"
    second = took([call("rules", "night 2"), call("rules", "night 2, day")], seen)
    assert (second.characters, second.shared) == (13 + 18, 12 + 13)
    assert took([{"ask": "chat.take_turn", "answer": {}}], seen).characters == 0
