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
from parlour.envs.murder_mystery.vocabulary.facts import KINDS, Fact, say
from parlour.policies import make_policy
from parlour.policies.agents.murder_mystery import AGENTS, Reader
from parlour.policies.agents.murder_mystery.scene import sentences
from parlour.policies.agents.murder_mystery.wording import put
from parlour.policies.llm.ask import Ask
from parlour.policies.llm.model import Answered, OfflineModel, RequestContext
from parlour.policies.retrieval.memory import SCRIPT, TALK, segments
from parlour.training.play import rollout

METHODS = [agent.name for agent in AGENTS]


class Listener(OfflineModel):
    """Answers by heuristic and keeps what each seat's questions carried, as text."""

    def __init__(self) -> None:
        self.carried: dict[str, list[str]] = {}

    def answer(self, question: Ask[Any], asker: RequestContext) -> Answered[Any]:
        self.carried.setdefault(asker.seat, []).append(json.dumps(question.inputs(), ensure_ascii=False))
        return super().answer(question, asker)


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
def played(name: str, reference: str, folder: Path, **options: Any) -> tuple[Listener, list[Any], tuple[Any, ...]]:
    path = folder / f"{reference.replace(':', '-')}.json"
    path.write_text(dump(marked(reference)), encoding="utf-8")
    model = Listener()
    players: list[Any] = [make_policy(name, "murder_mystery_v0", {}, model) for _ in range(marked(reference).seats)]
    views = rollout.play(rollout.table("murder_mystery_v0", case=str(path), rounds=2, **options), players, 9).last_views
    for player, view in zip(players, views, strict=True):
        player.watch(view)
    return model, players, views


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cases")


CASES = [("seed:3:en:4:1", "all"), ("seed:4:zh:4:2", "two")]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("reference", "hearing"), CASES)
def test_no_question_carries_anything_of_another_seat(name, reference, hearing, folder):
    model, _, views = played(name, reference, folder, hearing=hearing)
    n = len(views)
    for seat in range(n):
        carried = "\n".join(model.carried[f"player_{seat}"])
        assert mark(seat, "script") in carried  # the test sees the marks where they may be
        assert mark(seat, "goal") in carried
        for other in set(range(n)) - {seat}:
            assert mark(other, "script") not in carried
            assert mark(other, "goal") not in carried


def statements(view: Any) -> set[str]:
    """All that was said in what a View shows, facts as sentences of their speaker."""
    said = set()
    for seat, (kind, args, words), _ in view.events:
        if kind == "tell":
            said.add(words or say(Fact(KINDS[args[0]], args[1:]), view.vocabulary, seat))
        elif kind in ("introduce", "question", "answer") and words:
            said.add(words)
        elif kind == "question":
            said |= {put_in_words(view, victim, args) for victim in view.victims}
    return said


def put_in_words(view: Any, victim: str, args: tuple[int, ...]) -> str:
    from parlour.policies.agents.murder_mystery.scene import scene_of

    return put(scene_of(view), args[0], victim, about=args[1])


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("reference", "hearing"), CASES)
def test_every_segment_of_a_memory_is_of_the_own_script_or_was_heard(name, reference, hearing, folder):
    _, players, views = played(name, reference, folder, hearing=hearing)
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
        assert len(talk) == sum(event.move.kind in ("introduce", "question") for event in view.events)


def test_with_private_hearing_a_seat_remembers_only_its_own_exchanges(folder):
    _, players, views = played("mystery_ocot", *CASES[1][:1], folder, hearing="two")
    for player, view in zip(players, views, strict=True):
        pairs = [(talk.asker, talk.speaker) for talk in player.procedure.room.seat_memory.talks if talk.asker]
        assert pairs
        assert all(view.name in pair for pair in pairs)
    remembered = sum(talk.asker != "" for player in players for talk in player.procedure.room.seat_memory.talks)
    assert remembered == sum(event.move.kind == "question" for view in views for event in view.events)


def test_planned_lies_are_with_their_murderer_alone(folder):
    reference = CASES[0][0]
    model, _, views = played("questum", reference, folder, hearing="all")
    (murderer,) = marked(reference).murderers(0)
    for seat, view in enumerate(views):
        given = [json.loads(text) for text in model.carried[f"player_{seat}"]]
        planned = [question["lies"] for question in given if "lies" in question]
        assert planned
        assert all(bool(lies) == (seat == murderer) for lies in planned)
        assert all(question["me"]["killed"] == (list(view.victims) if seat == murderer else []) for question in given)


def test_a_civilian_never_says_what_is_not_in_his_script(folder):
    """Rule 3: only the murderer of the victim may lie."""
    from parlour.envs.murder_mystery.vocabulary.facts import read

    for name in METHODS:
        for reference, hearing in CASES:
            case = marked(reference)
            _, _, views = played(name, reference, folder, hearing=hearing)
            victim = -1
            for view in views:
                for seat, (kind, args, words), _ in view.events:
                    victim = args[1] if kind == "turn" else victim
                    if kind == "introduce" or (kind == "answer" and not case.characters[seat].murders[victim]):
                        known = {*case.characters[seat].facts, *case.public}
                        assert set(read(words, case.vocabulary, seat)) <= known


@pytest.mark.parametrize("scripts", ["own", "own+dialogue"])
def test_the_quiz_of_a_seat_is_answered_from_its_own_view(scripts, folder):
    reference = CASES[0][0]
    case = marked(reference)
    _, _, views = played("mystery_werewolf", reference, folder, hearing="all")
    for seat, view in enumerate(views):
        reader = Reader(view, scripts)
        for row in case.questions[seat]:
            carried = json.dumps(reader.ask(row).inputs(), ensure_ascii=False)
            assert not any(mark(other, "script") in carried for other in range(case.seats) if other != seat)
            assert not any(mark(other, "goal") in carried for other in range(case.seats) if other != seat)
