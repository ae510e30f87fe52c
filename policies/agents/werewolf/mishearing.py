"""What a statement of Werewolf is taken for by a reader who errs (`parlour.policies.llm.noise`).

Words of others are misread: in one half of the cases another player is taken for the one they are about, in the other half
they are taken for the contrary; a claimed role is taken for another one. What the moderator says, what is seen to be done,
such as a vote, and one's own words are not misread, and are forgotten by nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from parlour.envs.english import name
from parlour.policies.agents.werewolf import reading
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.llm.noise import Ear

_ROLES: Final = ("villager", "witch", "seer", "guard")


def heard(messages: Iterable[HeardMessage], ear: Ear, players: int, day: int) -> list[HeardMessage]:
    """Messages as a reader takes them on a day; those that are missed or forgotten are left out."""
    taken = (one_heard(message, ear, players, day) for message in messages)
    return [message for message in taken if message is not None]


def one_heard(message: HeardMessage, ear: Ear, players: int, day: int) -> HeardMessage | None:
    """A message as a reader takes it on a day; None if it is missed or forgotten."""
    if not message.said or message.speaker == ear.seat:
        return message
    said = message.line()
    if ear.misses(said, day - message.day):
        ear.hears(said, "")
        return None
    if not ear.misreads(said):
        return message
    taken = message.model_copy(update={"text": _misread(message, ear, players)})
    if taken != message:
        ear.hears(said, taken.line())
    return taken


def _misread(message: HeardMessage, ear: Ear, players: int) -> str:
    """The words that are heard; the same ones where nothing can be read in them."""
    said, found = message.line(), reading.read(message.speaker, message.text, players)
    acts = [one for one in found.intents if one.speaker == message.speaker]
    claims = [one for one in found.judgements if one.player == message.speaker and one.identity in _ROLES]
    targets = list(dict.fromkeys(one.target for one in acts))
    others = [seat for seat in range(players) if seat not in (message.speaker, *targets)]
    about_another: bool = ear.pick(said, "whom or how", (True, False))
    if targets and others and about_another:
        target, other = ear.pick(said, "target", targets), ear.pick(said, "other", others)
        return re.sub(rf"\bplayer[\s_]*{target}(?!\d)", name(other), message.text, flags=re.IGNORECASE)
    if acts:
        return " ".join(_contrary(one) for one in acts)
    if claims:
        roles: Sequence[str] = [role for role in _ROLES if role != claims[0].identity]
        return f"I am {ear.pick(said, 'role', roles).capitalize()}."
    return message.text


def _contrary(act: reading.ReadIntent) -> str:
    good = act.kind != reading.DEFEND
    if act.score == reading.CHECK:
        return f"I checked {name(act.target)}: {'good' if good else 'evil'}."
    return f"I trust that {name(act.target)} is good." if good else f"I accuse {name(act.target)} of being evil."
