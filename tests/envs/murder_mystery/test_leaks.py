"""No seat of a murder mystery learns what it may not know (Questum, appendix A, rule 5).

`test_redeal.py` plays games in worlds in which all differs that the others hold in private.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import Move
from parlour.envs.murder_mystery import GAME
from parlour.envs.murder_mystery.cases.case import Case
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.options import MysteryOptions
from parlour.envs.murder_mystery.rules import MurderMystery
from parlour.envs.murder_mystery.vocabulary import ASK, TELL

from tests.envs.murder_mystery.table import path
from tests.envs.testing.reaching import everything

TOWER = find(path("tower_en"))


def game_of(case: Case = TOWER, **options: Any) -> MurderMystery:
    """The rules for a case that lies in no file."""
    return MurderMystery(case, MysteryOptions(**{"rounds": 2, "targets": 2, **options}))


def opened(game: MurderMystery) -> GameEnv:
    env = GameEnv(GAME, game, observation="both", info="full", render_mode="ansi")
    env.reset(seed=0)
    return env


def random_game(game: MurderMystery, rng: np.random.Generator) -> list[Move]:
    """Moves up to the last vote, which is not made; answers are told as facts as often as possible."""
    s, moves = game.initial(), []
    while len(s.votes) + 1 < game.seats * game.victims:
        legal = game.legal(s)
        tells = [move for move in legal if move.kind == TELL]
        some = tells if tells and rng.random() < 0.7 else legal
        move = some[int(rng.integers(len(some)))]
        if move.kind in (ASK, "answer", "introduce") and rng.random() < 0.3:
            move = move._replace(words="As I said: nothing.")
        moves.append(move)
        s = game.apply(s, move)
    return moves


@pytest.mark.parametrize("hearing", ["all", "two"])
def test_no_word_of_what_another_holds_is_shown(hearing):
    """Each script, objective, question, key and lie is marked with its seat; nobody meets another's mark before it is said."""
    characters = tuple(
        person.model_copy(update={"script": f"{person.script} SCRIPT{j}SECRET", "objectives": (f"OBJECTIVE{j}SECRET",)})
        for j, person in enumerate(TOWER.characters)
    )
    asked = {"text": "QUIZ SECRET", "options": ("KEY SECRET", "b")}
    questions = tuple(tuple(q.model_copy(update=asked) for q in rows) for rows in TOWER.questions)
    game = game_of(TOWER.model_copy(update={"characters": characters, "questions": questions}), hearing=hearing)
    env = opened(game)
    for move in random_game(game, np.random.default_rng(1)):
        for seat in range(game.seats):
            shown = repr(everything(env, seat))
            assert shown.count("SECRET") == shown.count(f"SCRIPT{seat}SECRET") + shown.count(f"OBJECTIVE{seat}SECRET")
            assert f"SCRIPT{seat}SECRET" in shown
        env.play(move)


def test_a_murderer_is_not_told_who_else_murdered_its_victim():
    """Cleo and Dov killed Fay. With Eve in Dov's place Cleo's world is the same: only their scripts may tell."""
    worlds = []
    for accomplice in (3, 4):
        characters = tuple(
            character.model_copy(update={"murders": (character.murders[0], j in (2, accomplice))})
            for j, character in enumerate(TOWER.characters)
        )
        worlds.append(everything(opened(game_of(TOWER.model_copy(update={"characters": characters}))), 2))
    assert worlds[0] == worlds[1]


def test_the_views_fields_are_the_seats_own_or_the_same_for_all():
    """A field that differs between seats is its own; nothing else tells seats apart."""
    own = {"seat", "legal", "events", "name", "role", "side", "murders", "script", "objectives", "facts", "lies"}
    own |= {"suspects", "victim"}
    game = game_of()
    s = game.initial()
    for move in random_game(game, np.random.default_rng(2)):
        views = [game.view(s, seat) for seat in range(game.seats)]
        for field in set(views[0]._fields) - own:
            assert len({repr(getattr(view, field)) for view in views}) == 1, field
        for view in views:
            assert all(e.to is None or view.seat in e.to for e in view.events)
        s = game.apply(s, move)
