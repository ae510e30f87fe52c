"""What an answer in a murder mystery is taken for by a reader who errs (`parlour.policies.llm.noise`).

Somebody who is named in it is taken for another player; an answer that is missed is heard as no answer. Answers that name
nobody, and one's own, are heard as they are. Talk of a murder mystery has no days, so that nothing is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable

from parlour.policies.agents.murder_mystery.scene import Scene, Talk
from parlour.policies.llm.noise import Ear


def heard(dialogue: Iterable[Talk], ear: Ear, scene: Scene, me: str) -> list[Talk]:
    """A dialogue as the character `me` takes it."""
    return [talk if talk.speaker == me else _one_heard(talk, ear, scene) for talk in dialogue]


def _one_heard(talk: Talk, ear: Ear, scene: Scene) -> Talk:
    if ear.misses(talk.text):
        answer = scene.say.nothing
    elif ear.misreads(talk.text):
        answer = _misread(talk, ear, scene)
    else:
        return talk
    if answer != talk.answer:
        ear.hears(talk.answer, answer)
    return talk.model_copy(update={"answer": answer})


def _misread(talk: Talk, ear: Ear, scene: Scene) -> str:
    """The answer with one player taken for another; as it is where it names none, or nobody is left."""
    named = [who for who in scene.players if who in talk.answer]
    others = [who for who in scene.players if who not in named]
    if not named or not others:
        return talk.answer
    return talk.answer.replace(ear.pick(talk.text, "whom", named), ear.pick(talk.text, "other", others))
