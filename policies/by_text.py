"""Playing by words alone: what a policy answers to a text and the options in it, away from parlour's own tables.

Behind an OpenAI-compatible endpoint (`parlour serve endpoint --policy`) and at the tables of TextArena there is no View, only
what a seat reads. Policies that read text can play there; `random`, which needs only the options; and trained seats
that read the View back from the whole prose of our own games.

Options are read in two ways of writing: the last section of parlour's prose, and the list of words in brackets with
which messages of TextArena's games end, as in "Valid targets: [0], [1]".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.language.headings import LANGUAGES
from parlour.policies.base import Policy
from parlour.policies.human import HumanPolicy
from parlour.policies.random import RandomPolicy

_CHOICES: Final = tuple(headings.choice for headings in LANGUAGES.values())
"""The heading of the last section of parlour's prose; no player's words can begin a line."""
SILENCE: Final = "I have nothing to say."
"""The option shown when a game of TextArena asks for free words."""
_OPTION: Final = "- "
_SENDER: Final = re.compile(r"^\[(GAME|Player \d+)\][ \t]*", re.MULTILINE)
_LISTED: Final = re.compile(r":\s*((?:'?\[[^\[\]\n]+\]'?,\s*)*'?\[[^\[\]\n]+\]'?)\s*$")
_TALK: Final = re.compile(r"\b(?:discuss|converse|chat|talk)\b", re.IGNORECASE)


def options_in(text: str) -> tuple[str, ...]:
    r"""What a text says may be done now; empty if it does not say.

    >>> options_in("# Who you are\nYou are player_0.\n# What you may do now\nVote.\n- I approve.\n- I reject.\n")
    ('I approve.', 'I reject.')
    >>> options_in("[GAME] You are Player 1.\n[GAME] Valid targets: [0], [2]\n[Player 0] [2]")
    ('[0]', '[2]')
    >>> options_in("[GAME] Vote. Valid: [0], [2]\n[Player 0] [2]\n[GAME] Day breaks. Discuss for 3 rounds.")
    ('I have nothing to say.',)
    """
    parted = (text.rpartition(heading) for heading in _CHOICES)
    before, heading, choice = max(parted, key=lambda parts: (parts[1] != "", len(parts[0])))
    if heading and (not before or before.endswith("\n")):
        return tuple(line.removeprefix(_OPTION) for line in choice.splitlines() if line.startswith(_OPTION))
    return _in_brackets(text)


def _in_brackets(text: str) -> tuple[str, ...]:
    """From the latest message of the game that lists options or calls to talk; other messages change nothing."""
    pieces = _SENDER.split(text)
    signed = len(pieces) > 1  # TextArena's `-train` versions show messages without their senders
    messages = (
        [words for who, words in zip(pieces[1::2], pieces[2::2], strict=True) if who == "GAME"] if signed else pieces
    )
    for message in reversed(messages):
        match = _LISTED.search(message)
        if match:
            return tuple(re.findall(r"\[[^\[\]]+\]", match[1]))
        if signed and _TALK.search(message):
            return (SILENCE,)
    return ()


def goes_by_text(policy: Policy) -> bool:
    """Whether a policy needs nothing but words: what it reads is the text, or only which options there are."""
    by_options = isinstance(policy, RandomPolicy)
    return by_options or policy.reads_prose or (policy.wants == "text" and not isinstance(policy, HumanPolicy))


def require_text(policy: Policy, name: str) -> None:
    """Raise `ParlourError` in one line unless the policy reads words alone."""
    if not goes_by_text(policy):
        raise ParlourError(
            f"policy {name!r} cannot play by words alone ({_why(policy)}); accepted: random, chat, expert for a game whose "
            "prose can be read back, or another one whose wants is 'text'"
        )


def require_readable(policy: Policy, name: str) -> None:
    """Raise `ParlourError` in one line for a person, and for a policy that reads the View, which only tables have."""
    if isinstance(policy, HumanPolicy) or (policy.wants == "view" and not isinstance(policy, RandomPolicy)):
        raise ParlourError(
            f"policy {name!r} needs more than a request holds ({_why(policy)}); accepted: random, chat, "
            "a trained seat, or module:attribute with a player that does not want the view"
        )


def _why(policy: Policy) -> str:
    if isinstance(policy, HumanPolicy):
        return "a person at the terminal"
    return "it reads info['view']" if policy.wants == "view" else f"it reads {policy.wants!r}"


def in_words(policy: Policy, text: str, options: Sequence[str]) -> str:
    """The answer of a policy that reads words; a number is put into the words of that option.

    Raises:
        ParlourError: It chooses from options, and there are none.
    """
    mask = np.ones(len(options), dtype=np.int8)
    if not options and isinstance(policy, RandomPolicy):
        raise ParlourError(
            f"there are no options in the text; accepted: what a seat reads, with {_CHOICES[0].strip()!r}"
        )
    return _asked(policy, {"text": text, "action_mask": mask}, options)


def by_numbers(
    policy: Policy, features: Sequence[float], mask: Sequence[int], text: str, options: Sequence[str]
) -> str:
    """The answer of a policy that reads features: its option in words, or its number where there are no words.

    Args:
        policy: Its player.
        features: What `observation="features"` shows, shape (features,).
        mask: 1 for each legal action, shape (actions,).
        text: What the seat reads, or anything else.
        options: The words of the legal actions in their order, or none.

    Raises:
        ParlourError: The mask allows nothing, there are other options than legal actions, or the policy refuses them.
    """
    legal = np.flatnonzero(mask)
    if not len(legal) or (options and len(options) != len(legal)):
        raise ParlourError(f"{len(legal)} legal actions for {len(options)} options; accepted: as many, or no options")
    observation = {
        "observation": np.asarray(features, dtype=np.float32),
        "action_mask": np.asarray(mask, dtype=np.int8),
        "text": text,
    }
    return _asked(policy, observation, options)


def _asked(policy: Policy, observation: dict[str, Any], options: Sequence[str]) -> str:
    mask = observation["action_mask"]
    legal = tuple(np.flatnonzero(mask).tolist())
    answer = policy.act(observation, {"options": tuple(options), "legal": legal, "action_mask": mask})
    if isinstance(answer, str):
        return answer
    return options[legal.index(int(answer))] if options else str(int(answer))
