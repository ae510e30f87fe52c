"""`parlour.envs.testing.check_game` sees each kind of defect: a game with one planted defect fails the check for it.

Card of the game, as `card` reads it:

| Row | Value |
|---|---|
| Name | `coin_v0` |
| Players | 2 |
| Options | `spare` |
| Reasons of the end | `guess` |
"""

from __future__ import annotations

import ast
import itertools
import subprocess
import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from parlour.envs import testing
from parlour.envs._template import CoinSpec
from parlour.envs._template.encode import CoinEncoder, CoinEncoders
from parlour.envs._template.rules import Coin
from parlour.envs._template.text import CoinText
from parlour.envs._template.vocabulary import GUESSES, SPEECHES
from parlour.envs.common.frames import Frame
from parlour.envs.core import NATURE, Event, IllegalMove, Move, Outcome
from parlour.envs.language.text import MODERATOR
from parlour.envs.spec import GameOptions
from parlour.envs.testing import CHECKS, check_game, failure_of
from parlour.envs.testing.table import ConfiguredGame
from pydantic import Field, create_model

from tests import ROOT

COUNT = count()


class Rules(Coin):
    config: Mapping[str, Any] = {"spare": 0}


class SpareOptions(GameOptions):
    spare: int = 0
    """Any number."""


def described(description: str, *more: str, default: int = 0) -> type[SpareOptions]:
    """Options of which the first has another description."""
    fields: dict[str, Any] = {
        "spare": (int, Field(default=default, description=description)),
        **dict.fromkeys(more, (int, 0)),
    }
    return create_model("Described", __base__=GameOptions, **fields)  # type: ignore[return-value]


class SpareSpec(CoinSpec):
    id = "coin_v0"
    options: ClassVar[type[SpareOptions]] = SpareOptions

    def build(self, options: SpareOptions) -> Coin:
        return Rules()


def rules(**changed: Any) -> type[CoinSpec]:
    """A game whose rules have other methods or attributes."""
    game = type("Changed", (Rules,), changed)
    return type("RulesSpec", (SpareSpec,), {"build": lambda self, options: game(), "__module__": __name__})


def wordings(**changed: Any) -> type[CoinSpec]:
    text = type("Changed", (CoinText,), changed)
    return type("TextSpec", (SpareSpec,), {"text": lambda self, game: text(), "__module__": __name__})


def specs(**changed: Any) -> type[CoinSpec]:
    return type("OtherSpec", (SpareSpec,), {**changed, "__module__": __name__})


def applied(change: Any) -> type[CoinSpec]:
    """`change(self, state, move, after)` is the state after a move."""
    return rules(apply=lambda self, s, move: change(self, s, move, Coin.apply(self, s, move)))


def viewed(change: Any) -> type[CoinSpec]:
    return rules(view=lambda self, s, seat: change(self, s, seat, Coin.view(self, s, seat)))


def encoders(**changed: Any) -> type[CoinSpec]:
    changes = type("Changed", (CoinEncoders,), changed)
    return specs(encoder=lambda self, game: changes(game))


def features(change: Any) -> type[CoinSpec]:
    encoder = type("Changed", (CoinEncoder,), {"__call__": lambda self, view: change(CoinEncoder.__call__(self, view))})
    return encoders(at_table=lambda self: encoder())


def own_features(**changed: Any) -> type[CoinSpec]:
    """A game whose features in the frame of a seat come from another encoder."""
    encoder = type("Changed", (CoinEncoder,), changed)
    return encoders(of_seat=lambda self, kind: encoder())


def from_memory(self: CoinEncoder, view: Any) -> Any:
    """What it has once seen it shows for good."""
    self.last = np.maximum(getattr(self, "last", -1), CoinEncoder.__call__(self, view)).astype(np.float32)
    return self.last


def framed(order: list[list[int]], own: list[list[int]] | None = None) -> type[CoinSpec]:
    frame = Frame(np.array(order), np.argsort(order) if own is None else np.array(own))
    return encoders(frame=lambda self: frame)


def lenient(self: Coin, s: Any, move: Move) -> Any:
    """What is not legal is taken as the first legal move."""
    try:
        return Coin.apply(self, s, move)
    except IllegalMove:
        return Coin.apply(self, s, self.legal(s)[0]) if self.legal(s) else s


def curt(self: Coin, s: Any, move: Move) -> Any:
    try:
        return Coin.apply(self, s, move)
    except IllegalMove:
        raise IllegalMove(" ") from None


def moody(self: Coin, s: Any, move: Move, after: Any) -> Any:
    """Every result is another one."""
    return after._replace(log=(*after.log, Event(NATURE, Move("tick", (next(COUNT),)), None)))


def silenced(self: Coin, s: Any, move: Move, after: Any) -> Any:
    if move.words == "as I said":
        raise IllegalMove("words are not accepted")
    return after


class Blindfolded(Rules):
    def view(self, s: Any, seat: int) -> Any:
        return Rules.view(self, s, seat)._replace(coin=-1)


def unquoted(self: CoinText, event: Any) -> str:
    line = CoinText.line(self, event)
    return f"player_0 says: {event.move.words}\n" if event.move.words else line


def bracketed(self: CoinText, event: Any) -> str:
    """Words in Chinese brackets, where nothing keeps them from closing the brackets."""
    line = CoinText.line(self, event)
    return f"player_0：“{event.move.words}”\n" if event.move.words else line


def obedient(self: CoinText, text: str, view: Any) -> Move:
    """Guesses a third side where it is told so."""
    if view.legal == SPEECHES and text.startswith(MODERATOR.strip()):
        return Move("promise", (2,), text)
    return CoinText.parse(self, text, view)


class Absent:
    """A player that answers with a move of the other one."""

    def __init__(self, view: Any, rng: np.random.Generator) -> None:
        self.rng = rng

    def act(self, view: Any) -> Move:
        return GUESSES[0]


class Unseeded(Absent):
    """Takes the first option in the first game and the second one in the next, whatever the seed."""

    made = itertools.count()

    def __init__(self, view: Any, rng: np.random.Generator) -> None:
        super().__init__(view, rng)
        self.game = next(self.made) // 2  # a player for each of the two seats

    def act(self, view: Any) -> Move:
        return view.legal[self.game % len(view.legal)]


def odd_end(**changed: Any) -> type[CoinSpec]:
    def outcome(self: Coin, s: Any) -> Outcome | None:
        outcome = Coin.outcome(self, s)
        return outcome and Outcome(**(vars(outcome) | changed))

    return rules(outcome=outcome)


class Forgetful(CoinText):
    """A first section that changes when words are said: what an environment keeps is out of date."""

    def who(self, view: Any) -> str:
        return CoinText.who(self, view) + f"You have seen {len(view.events)} events.\n"


DEFECTS: dict[str, list[tuple[str, type[CoinSpec]]]] = {
    "catalogue": [
        ("a move twice", rules(catalogue=(*SPEECHES, *GUESSES, GUESSES[0]))),
        ("words in it", rules(catalogue=(*SPEECHES, *GUESSES, Move("guess", (2,), "edge")))),
    ],
    "legal_moves": [
        ("another order", rules(legal=lambda self, s: Coin.legal(self, s)[::-1])),
        ("none for a seat", rules(legal=lambda self, s: () if s.moves == 2 else Coin.legal(self, s))),
        ("not in the catalogue", rules(catalogue=SPEECHES)),
        ("an odd seat", rules(actor=lambda self, s: (NATURE, 0, 5, -2)[s.moves])),
    ],
    "words_in_moves": [
        ("words end the game", applied(lambda self, s, m, after: after._replace(moves=3) if m.words else after)),
        ("words are refused", applied(silenced)),
    ],
    "illegal_moves": [("taken for another", rules(apply=lenient)), ("without a reason", rules(apply=curt))],
    "purity": [
        ("another result", applied(moody)),
        ("no hash", applied(lambda self, s, m, after: after._replace(log=[*after.log]))),
    ],
    "config": [("an option that is none", rules(config={"colour": 1})), ("no JSON", rules(config={"spare": {1, 2}}))],
    "ends": [
        ("too long", rules(max_moves=2, outcome=lambda self, s: Rules().outcome(s))),
        ("an outcome too early", rules(outcome=lambda self, s: Outcome((1.0, -1.0), "keeper", "guess"))),
        ("a return too few", odd_end(returns=(1.0,))),
        ("no number", odd_end(returns=(float("nan"), 1.0))),
        ("a reason of its own", odd_end(reason="boredom")),
        ("a winner of no side", odd_end(winner="nobody")),
        ("a seat of no side", viewed(lambda self, s, seat, view: view._replace(side="nobody"))),
    ],
    "card": [
        ("another name", specs(id="coin_v1")),
        ("options", specs(options=described("Any number.", "more"))),
        ("none", type("CardlessSpec", (SpareSpec,), {"__module__": "parlour.envs.language.speech"})),
    ],
    "spec_options": [
        ("not described", specs(options=described(""))),
        ("not printable", specs(options=described("a\nb"))),
    ],
    "heuristic": [
        ("an illegal move", specs(heuristic=f"{__name__}:Absent")),
        ("not there", specs(heuristic=f"{__name__}:Nobody")),
        ("by chance", specs(heuristic=f"{__name__}:Unseeded")),
    ],
    "choice_section": [
        ("an option unlike its sentence", wordings(ask=lambda self, legal: "Speak.\n- Or do not.")),
        ("a heading twice", wordings(ask=lambda self, legal: "# What has happened\n")),
        ("two moves with one sentence", wordings(say=lambda self, move: "I do it.")),
    ],
    "canonical_sentences": [
        ("read as another", wordings(parse=lambda self, text, view: view.legal[0])),
        (
            "not read in capitals",
            wordings(
                parse=lambda self, text, view: (
                    CoinText.parse(self, text, view) if text != text.upper() else view.legal[0]
                )
            ),
        ),
    ],
    "default_moves": [("not legal", wordings(default=lambda self, text, view, rng: GUESSES[0]))],
    "incremental_prose": [("a first section that changes", specs(text=lambda self, game: Forgetful()))],
    "features": [
        ("too large", features(lambda values: values * 2)),
        ("of another type", features(lambda values: values.astype(np.float64))),
        ("too many", features(lambda values: np.append(values, values))),
    ],
    "own_features": [
        ("too large", own_features(__call__=lambda self, view: CoinEncoder.__call__(self, view) * 2)),
        ("too few names", own_features(names=("my place",))),
        ("out of memory", own_features(__call__=from_memory)),
        ("a kind without an encoder", encoders(kinds=("table", "summary", "belief"))),
        ("none as at the table", encoders(kinds=("summary",))),
    ],
    "own_actions": [
        ("for one seat", framed([[0, 1, 2, 3, 4]])),
        ("a number twice", framed([[0, 1, 2, 3, 4], [0, 1, 2, 3, 3]])),
        ("numbers that do not lead back", framed([[1, 2, 0, 3, 4], [0, 1, 2, 3, 4]], own=[[1, 2, 0, 3, 4]] * 2)),
    ],
    "event_visibility": [
        ("too much", viewed(lambda self, s, seat, view: view._replace(events=s.log))),
        ("too little", viewed(lambda self, s, seat, view: view._replace(events=view.events[:1]))),
    ],
    "hidden_information": [
        ("the coin in the View", viewed(lambda self, s, seat, view: view._replace(coin=s.coin))),
        (
            "the coin in the legal moves",
            rules(legal=lambda self, s: GUESSES[: 1 + s.coin] if s.moves == 2 else Coin.legal(self, s)),
        ),
    ],
    "hidden_phases": [
        ("longer for one seat", rules(hidden_cycles=lambda self, view: view.seat, asked=lambda self, view, cycle: ())),
        ("nobody is asked", rules(hidden_cycles=lambda self, view: 1, asked=lambda self, view, cycle: ())),
    ],
    "spoofed_prose": [
        ("words that are not quoted", wordings(line=unquoted)),
        ("quotation marks that words close", wordings(line=bracketed)),
    ],
    "spoofed_moves": [("words that are obeyed", wordings(parse=obedient))],
    "replays": [
        (
            "another game in its config",
            specs(
                options=described("Any number.", default=1),
                build=lambda self, options: Rules() if options.spare else Blindfolded(),
            ),
        )
    ],
    "pettingzoo_tests": [("seeds ignored", rules(nature=lambda self, s, rng: Move("toss", (next(COUNT) % 2,))))],
    "gymnasium_check_env": [("features outside of their space", features(lambda values: values + 2))],
}


def test_the_game_without_defects_passes():
    check_game(SpareSpec(), [{}, {"spare": 3}])


def test_every_check_has_a_planted_defect():
    assert list(DEFECTS) == [check.__name__ for check in CHECKS]


@pytest.mark.parametrize(
    ("name", "defect"), [(name, defect) for name, defects in DEFECTS.items() for defect, _ in defects]
)
def test_a_planted_defect_fails_its_check(name, defect):
    spec = dict(DEFECTS[name])[defect]()
    (check,) = (check for check in CHECKS if check.__name__ == name)
    assert failure_of(check, ConfiguredGame(spec)).startswith(" ".join(check.__doc__.split()))


def test_a_failure_names_the_check_the_options_and_the_line():
    with pytest.raises(
        AssertionError, match=r"coin_v0: features: Features .* Failed with {'spare': 1}: Assert.* require"
    ):
        check_game(dict(DEFECTS["features"])["too large"](), [{"spare": 1}])


OF_OTHERS = ("pettingzoo_tests", "gymnasium_check_env")
"""Checks that call another library's suite, which asserts."""
OPTIMIZED = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.envs.testing import test_check_game as planted
from parlour.envs import testing
from parlour.envs.testing import CHECKS, failure_of
from parlour.envs.testing.table import ConfiguredGame
for check in CHECKS:
    for defect, spec in planted.DEFECTS[check.__name__]:
        if check.__name__ not in planted.OF_OTHERS and not failure_of(check, ConfiguredGame(spec())):
            print(f"{check.__name__}: {defect}")
"""


@pytest.mark.slow
def test_planted_defects_fail_without_assertions_too():
    """`python -O` leaves out every `assert`."""
    command = [sys.executable, "-O", "-c", OPTIMIZED, str(ROOT)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == ""


def test_no_suite_for_games_of_others_asserts():
    folder = Path(testing.__file__).parent
    for path in folder.glob("*.py"):
        asserts = [node.lineno for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Assert)]
        assert asserts == [], path.name
