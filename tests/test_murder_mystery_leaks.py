"""No seat of a murder mystery learns what it may not know (DESIGN.md section 6; Questum, appendix A, rule 5).

Another world is the same case with all changed that the others hold in private: scripts, objectives, facts, lies, whom they
murdered, and with them the quiz, its keys and the truth (`redealt`). `test_redeal.py` plays games in such worlds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mystery_table import path
from parlour.envs.aec import GameEnv
from parlour.envs.core import Move
from parlour.envs.murder_mystery import GAME
from parlour.envs.murder_mystery.cases.case import Case
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.redealt import redealt
from parlour.envs.murder_mystery.rules import MurderMystery, MysterySetting
from parlour.envs.murder_mystery.vocabulary import ASK, SUSPECT, TELL, VOTE
from reaching import everything

TOWER = path("tower_en")
SECRETS = ("script", "objectives", "facts", "lies", "murders")


def game_of(case: Case, **options: Any) -> MurderMystery:
    """The rules for a case that lies in no file."""
    return MurderMystery(case, MysterySetting(**{"rounds": 2, "targets": 2, **options}), {})


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


def test_the_worlds_that_are_compared_differ_in_everything_that_is_private():
    """Else `test_redeal.py` would compare a game with itself."""
    game = game_of(find(TOWER))
    worlds = [redealt(game, 0, (), np.random.default_rng(seed)).case for seed in range(9)]
    for j in range(1, 5):
        for name in SECRETS:
            assert any(getattr(world.characters[j], name) != getattr(game.case.characters[j], name) for world in worlds)
    for world in worlds:
        assert world.characters[0] == game.case.characters[0]
        assert world.questions != game.case.questions


@pytest.mark.parametrize("hearing", ["all", "two"])
def test_no_word_of_what_another_holds_is_shown(hearing):
    """Each script, objective, question, key and lie is marked with its seat; nobody meets another's mark before it is said."""
    case = find(TOWER)
    characters = tuple(
        person.model_copy(update={"script": f"{person.script} SCRIPT{j}SECRET", "objectives": (f"OBJECTIVE{j}SECRET",)})
        for j, person in enumerate(case.characters)
    )
    questions = tuple(
        tuple(q.model_copy(update={"text": "QUIZ SECRET", "options": ("KEY SECRET", "b")}) for q in rows)
        for rows in case.questions
    )
    case = case.model_copy(update={"characters": characters, "questions": questions})
    game = game_of(case, hearing=hearing)
    env = opened(game)
    for move in random_game(game, np.random.default_rng(1)):
        for seat in range(game.seats):
            shown = repr(everything(env, seat))
            assert shown.count("SECRET") == shown.count(f"SCRIPT{seat}SECRET") + shown.count(f"OBJECTIVE{seat}SECRET")
            assert f"SCRIPT{seat}SECRET" in shown
        env.play(move)


def test_before_the_count_nobody_can_tell_how_another_voted():
    """Until the last vote is in, a seat's world is the same whatever the others chose."""
    worlds = []
    for choice in range(4):
        env = opened(game_of(find(TOWER), rounds=1))
        while len(env.state_now.votes) < 9:
            legal = env.game.legal(env.state_now)
            voting = legal[0].kind == VOTE and env.seat not in (0, 4)
            env.play(legal[choice if voting else 0])
        worlds.append([everything(env, seat) for seat in (0, 4)])
    assert all(world == worlds[0] for world in worlds)


def test_a_report_is_known_to_its_maker_alone():
    worlds = []
    for choice in range(4):
        env = opened(game_of(find(TOWER)))
        while env.state_now.round == 0:
            legal = env.game.legal(env.state_now)
            env.play(legal[choice if legal[0].kind == SUSPECT and env.seat == 2 else 0])
        worlds.append([everything(env, seat) for seat in range(5)])
    for seat in range(5):
        same = all(world[seat] == worlds[0][seat] for world in worlds)
        assert same == (seat != 2)


def test_a_murderer_is_not_told_who_else_murdered_its_victim():
    """Cleo and Dov killed Fay. With Eve in Dov's place Cleo's world is the same: only their scripts may tell."""
    case = find(TOWER)
    worlds = []
    for accomplice in (3, 4):
        characters = tuple(
            character.model_copy(update={"murders": (character.murders[0], j in (2, accomplice))})
            for j, character in enumerate(case.characters)
        )
        worlds.append(everything(opened(game_of(case.model_copy(update={"characters": characters}))), 2))
    assert worlds[0] == worlds[1]


def test_the_views_fields_are_the_seats_own_or_the_same_for_all():
    """A field that differs between seats is its own; nothing else tells seats apart."""
    own = {"seat", "legal", "events", "name", "role", "side", "murders", "script", "objectives", "facts", "lies"}
    own |= {"suspects", "victim"}
    game = game_of(find(TOWER))
    s = game.initial()
    for move in random_game(game, np.random.default_rng(2)):
        views = [game.view(s, seat) for seat in range(game.seats)]
        for field in set(views[0]._fields) - own:
            assert len({repr(getattr(view, field)) for view in views}) == 1, field
        for view in views:
            assert all(e.to is None or view.seat in e.to for e in view.events)
        s = game.apply(s, move)
