"""The questions that players ask a model: a list of them, and one as it would be sent at a table.

A question is heard where it is asked: a game is played by heuristics, and the prompt is made from what the seat knew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.envs.core import ParlourError, accept
from parlour.policies import asks_a_model, make_policy, names_of
from parlour.policies.llm.ask import ASKS, A, Ask
from parlour.policies.llm.model import Answered, OfflineModel, RequestContext
from parlour.policies.llm.prompt import GAME, Templates
from parlour.policies.registry import import_players
from parlour.training.play import rollout

_FURTHER: Final = ("parlour.policies.agents.mediated_qa.readers", "parlour.training.papers.avalon_social.questions")
"""Modules with questions that no player asks."""
_GENERAL: Final = (GAME, "plain")
"""Names of general words."""
_ALIKE: Final = 0.7
"""How alike names of prompts are that an error proposes, of at most 1."""


class Heard(NamedTuple):
    """A question, and on whose behalf it was put."""

    question: Ask[Any]
    context: RequestContext

    def messages(self, templates: Templates) -> list[dict[str, str]]:
        """What would be sent."""
        system = self.question.system(self.context.rules, templates)
        user = self.question.prompt(templates)
        return [{"role": "system", "content": system}, {"role": "user", "content": user}]


class ListeningModel(OfflineModel):
    """Answers by heuristics, and keeps the questions of one kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.heard: list[Heard] = []

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        if question.kind == self.kind:
            self.heard.append(Heard(question, context))
        return super().answer(question, context)


@dataclass(frozen=True)
class At:
    """Where a question is listened for."""

    game: str
    """Name of the game."""
    options: Mapping[str, Any]
    """Options of the game."""
    seat: int | None
    """Number of the seat; None: any."""
    seed: int
    number: int
    """Which of the questions of this kind, from 1."""
    player: str | None = None
    """Who asks it, by name; None: any player of parlour's."""


def kinds() -> list[str]:
    """All kinds of questions, in order."""
    import_players()
    for module in _FURTHER:
        import_module(module)
    return sorted(ASKS)


def ask_called(kind: str) -> type[Ask[Any]]:
    """The questions of a kind. Raises `ParlourError` for an unknown one."""
    if kind not in kinds():
        raise accept("question", kind, [*kinds(), "questions of a player that --policy names"])
    return ASKS[kind]


def unknown_prompts(folder: str | None, *, own: bool = False) -> list[str]:
    """The files of a folder of prompts that replace no question that is known now, as `en/table.doubt.md`.

    Args:
        folder: The folder, as `parlour.policies.llm.prompt.Templates` has it; None: none.
        own: Whether players of somebody's own may come, with questions whose names begin in their own way.

    Raises:
        ParlourError: A file replaces nothing, or nothing that these players may bring.
    """
    if folder is None:
        return []
    known = [*kinds(), *_GENERAL]
    files = [path for path in sorted(Path(folder).glob("*/*")) if path.is_file() and _is_meant(path)]
    others = [path for path in files if path.suffix != ".md" or path.stem not in known]
    beginnings = {kind.partition(".")[0] for kind in known}
    for path in others:
        if not own or path.suffix != ".md" or path.stem.partition(".")[0] in beginnings or "." not in path.stem:
            language, closest = path.parent.name, get_close_matches(path.stem, known, cutoff=_ALIKE)
            accepted = [
                *(f"{language}/{name}.md" for name in closest),
                "names of `parlour list questions`, system, plain",
            ]
            raise accept("prompt", f"{language}/{path.name}", accepted)
    return [f"{path.parent.name}/{path.name}" for path in others]


def _is_meant(path: Path) -> bool:
    """Whether a file is meant as a prompt: no editor's or system's own, and no words between the sections."""
    return not path.name.startswith(".") and not path.name.endswith("~") and path.name != "layout.json"


def heard(kind: str, at: At) -> Heard:
    """A question of a kind, as it is put at a table.

    Raises:
        ParlourError: There is no such kind, table, seat or player, or no player asks it there.
    """
    if at.player is not None and not asks_a_model(at.player):  # imports it, and so its questions
        raise accept("policy", at.player, "a player that asks a model")
    ask_called(kind)
    env = rollout.table(at.game, **at.options)
    seats = env.game_env.game.seats
    if at.seat is not None and not 0 <= at.seat < seats:
        raise accept("seat", at.seat, f"0..{seats - 1}")
    for name in names_of("asking") if at.player is None else (at.player,):
        model = ListeningModel(kind)
        try:
            players = [make_policy(name, env.game_env.spec.id, env.game_env.game.config, model) for _ in range(seats)]
            rollout.play(env, players, at.seed)
        except ParlourError:
            if at.player is not None:
                raise
            continue  # a player of another game
        questions = [
            question for question in model.heard if at.seat is None or question.context.seat == f"player_{at.seat}"
        ]
        if len(questions) >= at.number:
            return questions[at.number - 1]
    raise ParlourError(
        f"question {kind!r} number {at.number} is asked by no player in a game of {at.game} on seed {at.seed}; accepted: "
        "a question that players of this game ask, a smaller number, another seat or seed"
    )
