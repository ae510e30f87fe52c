"""How PP and OP vote, who play no game: each player, for each victim, one of the others (decisions 4.8).

Civilians answer a question of the quiz, "who killed the victim?", with the other players as options and the same excerpts
as at the quiz; more than five options come in heats, whose winners meet again. Who murdered the victim votes as in all
methods, by its own script. No code of the papers votes; both print win rates of PP and OP.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from parlour.envs.murder_mystery.cases.case import Case
from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.envs.murder_mystery.vocabulary.quiz import LETTERS, QuizQuestion
from parlour.policies.agents.murder_mystery import Reader
from parlour.policies.agents.murder_mystery.asks import Vote, stance_of
from parlour.policies.agents.murder_mystery.quiz import Scripts
from parlour.policies.agents.murder_mystery.scene import me_of, named
from parlour.policies.agents.murder_mystery.seat_memory import HASHING, SeatMemory
from parlour.policies.llm.model import Model, SeatModel
from parlour.training.measure.murder_mystery.quiz import order_of, shuffled, stories_of

_WHO: Final = {"en": "Who killed {}?", "zh": "谁杀害了{}？"}


def votes(case: Case, views: Sequence[Any], model: Model, scripts: Scripts, seed: int) -> tuple[int, ...]:
    """Everybody's votes, seat after seat and victim after victim, as `MurderMystery.found` takes them."""
    stories = stories_of(case) if scripts == "all" else None
    cast: list[int] = []
    for seat, character in enumerate(case.characters):
        reader = Reader(views[seat], scripts, stories)
        for victim, murdered in enumerate(character.murders):
            if murdered:
                cast.append(_guilty(views[seat], model, victim, seed))
            else:
                cast.append(_civilian(case, reader, model, seat, victim, seed))
    return tuple(cast)


def _civilian(case: Case, reader: Reader, model: Model, seat: int, victim: int, seed: int) -> int:
    standing = [other for other in range(case.seats) if other != seat]
    text = _WHO[case.language].format(case.victims[victim].name)
    while len(standing) > 1:
        heats = -(-len(standing) // len(LETTERS))
        winners = []
        for heat in (standing[k::heats] for k in range(heats)):
            winners.append(_one(case, reader, model, seat, victim, seed, heat, text))
        standing = winners
    return standing[0]


def _one(
    case: Case, reader: Reader, model: Model, seat: int, victim: int, seed: int, heat: Sequence[int], text: str
) -> int:
    names = {case.names[other]: other for other in heat}
    plain = QuizQuestion(id=f"vote {victim}", points=5, kind="who", text=text, options=tuple(names), keys=(0,))
    shown = shuffled(plain, order_of(seed, seat, plain, 0))
    picked = reader.answer(model, shown, 0, seed).picked
    return names[shown.options[picked[0] if picked else 0]]  # no answer votes for the first that is shown


def _guilty(view: MysteryView, model: Model, victim: int, seed: int) -> int:
    seat_memory, me, name = SeatMemory(view, HASHING), me_of(view), view.victims[victim]
    question = Vote(
        scene=seat_memory.scene,
        me=me,
        victim=name,
        options=[other for other in view.names if other != me.name],
        script=seat_memory.excerpts(f"{me.name},{name}"),
        dialogue=[],
        suspects=[],
        summaries=[],
        stance=stance_of(seat_memory.scene, me, name),
    )
    chosen = named(SeatModel(model, view.seat, seed).ask(question).name, question.options)
    return seat_memory.scene.person(chosen if chosen is not None else question.options[0])
