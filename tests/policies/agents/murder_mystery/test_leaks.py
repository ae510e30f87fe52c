"""What an agent remembers and asks with is what its own View holds: no script, objective, lie or role of another seat.

Every script, objective and name of a planned lie is given a mark of its own, which no heuristic says aloud. Whatever a
seat's memory holds and whatever its questions carry may then bear its own mark and no other.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from parlour.envs.murder_mystery.cases.case import Case, dump
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.vocabulary.facts import KINDS, Fact, read, say
from parlour.policies.agents.murder_mystery import AGENTS, Reader
from parlour.policies.agents.murder_mystery.scene import scene_of, sentences
from parlour.policies.agents.murder_mystery.wording import put
from parlour.policies.retrieval.memory import SCRIPT, TALK, segments

from tests.policies.agents.murder_mystery.players import Listener, game_of

METHODS = [agent.name for agent in AGENTS]


def mark(seat: int, what: str) -> str:
    return f"Quixotic{what}{seat}zz"


@cache
def marked(reference: str) -> Case:
    """The case with a mark in every script and in every objective."""
    case = find(reference)
    stop = "。" if case.language == "zh" else "."
    characters = [
        character.model_copy(
            update={
                "script": f"{character.script}\n{mark(seat, 'script')} {mark(seat, 'script')}{stop}",
                "objectives": (*character.objectives, mark(seat, "goal")),
            }
        )
        for seat, character in enumerate(case.characters)
    ]
    return case.model_copy(update={"characters": tuple(characters)})


@cache
def played(name: str, reference: str, folder: Path, hearing: str) -> tuple[list[list[dict[str, Any]]], list[Any], Any]:
    """What each seat's questions carried, the players, and the last views."""
    path = folder / f"{reference.replace(':', '-')}.json"
    path.write_text(dump(marked(reference)), encoding="utf-8")
    model = Listener()
    players, episode = game_of(name, str(path), model, seed=9, rounds=2, hearing=hearing)
    for player, view in zip(players, episode.last_views, strict=True):
        player.watch(view)
    carried = [[q.inputs() for c, q, _ in model.calls if c.seat == f"player_{k}"] for k in range(len(players))]
    return carried, players, episode.last_views


def bears_its_own_mark_alone(words: str, seat: int, seats: int) -> None:
    for other in range(seats):
        for what in ("script", "goal"):
            assert (mark(other, what) in words) == (other == seat)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cases")


CASES = [("seed:3:en:4:1", "all"), ("seed:4:zh:4:2", "two")]
GAMES = [(name, *case) for name in METHODS for case in CASES]
EVERY_GAME = pytest.mark.parametrize(("name", "reference", "hearing"), GAMES)


@EVERY_GAME
def test_no_question_carries_anything_of_another_seat(name, reference, hearing, folder):
    carried, _, _ = played(name, reference, folder, hearing)
    for seat, asked in enumerate(carried):
        bears_its_own_mark_alone(json.dumps(asked, ensure_ascii=False), seat, len(carried))


def statements(view: Any) -> set[str]:
    """All that was said in what a View shows, facts as sentences of their speaker."""
    said = set()
    for seat, (kind, args, words), _ in view.events:
        if kind == "tell":
            said.add(words or say(Fact(KINDS[args[0]], args[1:]), view.vocabulary, seat))
        elif kind in ("introduce", "question", "answer") and words:
            said.add(words)
        elif kind == "question":
            said |= {put(scene_of(view), args[0], victim, about=args[1]) for victim in view.victims}
    return said


@EVERY_GAME
def test_every_segment_of_a_memory_is_of_the_own_script_or_was_heard(name, reference, hearing, folder):
    _, players, views = played(name, reference, folder, hearing)
    for player, view in zip(players, views, strict=True):
        seat_memory = player.procedure.room.seat_memory
        texts, tags = seat_memory.memory._texts, seat_memory.memory._tags
        assert [text for text, tag in zip(texts, tags, strict=True) if tag == SCRIPT] == segments(view.script)
        talk = [text for text, tag in zip(texts, tags, strict=True) if tag == TALK]
        assert talk == [talk.text for talk in seat_memory.talks]
        said = statements(view) | {sentences(view.language).nothing}
        for exchange in seat_memory.talks:
            assert exchange.answer in said
            assert not exchange.asker or exchange.question in said
            assert hearing == "all" or not exchange.asker or view.name in (exchange.asker, exchange.speaker)
        assert len(talk) == sum(event.move.kind in ("introduce", "question") for event in view.events)


def test_planned_lies_are_with_their_murderer_alone(folder):
    reference, hearing = CASES[0]
    carried, _, views = played("questum", reference, folder, hearing)
    (murderer,) = marked(reference).murderers(0)
    for seat, view in enumerate(views):
        planned = [question["lies"] for question in carried[seat] if "lies" in question]
        assert planned
        assert all(bool(lies) == (seat == murderer) for lies in planned)
        killed = list(view.victims) if seat == murderer else []
        assert all(question["me"]["killed"] == killed for question in carried[seat])


@EVERY_GAME
def test_a_civilian_never_says_what_is_not_in_his_script(name, reference, hearing, folder):
    """Rule 3: only the murderer of the victim may lie."""
    case, victim = marked(reference), -1
    for view in played(name, reference, folder, hearing)[2]:
        for seat, (kind, args, words), _ in view.events:
            victim = args[1] if kind == "turn" else victim
            if kind == "introduce" or (kind == "answer" and not case.characters[seat].murders[victim]):
                known = {*case.characters[seat].facts, *case.public}
                assert set(read(words, case.vocabulary, seat)) <= known


@pytest.mark.parametrize("scripts", ["own", "own+dialogue"])
def test_the_quiz_of_a_seat_is_answered_from_its_own_view(scripts, folder):
    reference, hearing = CASES[0]
    case, (_, _, views) = marked(reference), played("mystery_werewolf", reference, folder, hearing)
    for seat, view in enumerate(views):
        asked = [Reader(view, scripts).ask(row).inputs() for row in case.questions[seat]]
        bears_its_own_mark_alone(json.dumps(asked, ensure_ascii=False), seat, case.seats)
