"""Settings of players: what is read from words, what is refused in one line, what files hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.settings import Settings, number, one_of, read_settings, setting, several, whole, yes_or_no


@dataclass(frozen=True)
class Given(Settings):
    file: str = setting(needs="a file; accepted: given:FILE")
    window: int = setting(15, whole(1, 200))
    share: float = setting(0.5, number(0, 1, below=True), sparse=True)
    choice: str = setting("best", one_of("best", "sample"))
    parts: tuple[str, ...] = setting((), several("a", "b"))
    prune: bool = setting(True, yes_or_no())
    doubt: float | None = None
    flag: bool = False
    mode: Literal["x", "y"] = "x"
    hidden: int = setting(0, in_words=False)


def test_words_are_read_by_what_is_stated_or_by_the_type():
    words = {"file": "f", "window": "7", "share": "0", "choice": "sample", "parts": "b+a", "prune": "no"}
    given = read_settings(Given, {**words, "doubt": "0.1", "flag": "true", "mode": "y"}, "given")
    assert given == Given("f", 7, 0.0, "sample", ["b", "a"], False, 0.1, True, "y")  # type: ignore[arg-type]
    assert Given.from_json(given.as_json()) == given
    assert "share" not in Given("f").as_json()
    assert Given("f").as_json()["window"] == 15


@pytest.mark.parametrize(
    ("key", "word", "message"),
    [
        ("window", "0", "window '0' is not accepted; accepted: 1..200"),
        ("window", "1_0", "window '1_0' is not accepted; accepted: 1..200"),
        ("share", "1", "share '1' is not accepted; accepted: a number 0..1, below 1"),
        ("share", "nan", "share 'nan' is not accepted"),
        ("choice", "worst", "choice 'worst' is not accepted; accepted: best, sample"),
        ("parts", "a+c", "parts 'a+c' is not accepted; accepted: a, b"),
        ("prune", "true", "prune 'true' is not accepted; accepted: yes, no"),
        ("doubt", "much", "doubt 'much' is not accepted; accepted: a number"),
        ("flag", "yes", "flag 'yes' is not accepted; accepted: true, false"),
        ("mode", "z", "mode 'z' is not accepted; accepted: x, y"),
        ("hidden", "1", "setting of given 'hidden' is not accepted; accepted: file, window"),
    ],
)
def test_other_words_are_refused_in_one_line(key, word, message):
    with pytest.raises(ParlourError) as caught:
        read_settings(Given, {"file": "f", key: word}, "given")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_what_is_missing_and_values_that_do_not_fit_are_refused():
    with pytest.raises(ParlourError, match="given needs a file; accepted: given:FILE"):
        read_settings(Given, {}, "given")
    for values in ({"window": True}, {"window": 2.5}, {"share": -0.1}, {"choice": "worst"}, {"prune": "yes"}):
        with pytest.raises(ParlourError, match=next(iter(values))):
            Given("f", **values)  # type: ignore[arg-type]
