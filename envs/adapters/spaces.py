"""The spaces of agents; among them that of prose: any printable Unicode, without the 46 MB of a full `Text` charset."""

from __future__ import annotations

from typing import Any, Final, Never

import numpy as np
from gymnasium.error import CustomSpaceError
from gymnasium.spaces import Box, Dict, Space, Text
from gymnasium.vector.utils import create_shared_memory
from parlour.envs.core import ParlourError

_SETTINGS: Final = {"observation": 'observation="features"', "text": 'observation="text"'}
"""The setting of environments that adds a part of observations."""
_SAMPLE: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;'\"-_()é狼人杀好"
_SAMPLE_LENGTH: Final = 60


class NotObserved(ParlourError, KeyError):  # noqa: N818 - named for what happened
    """Observations do not have this part; the message names the setting that adds it."""

    __str__ = Exception.__str__  # that of a KeyError quotes the message


class ObservedSpace(Dict):
    """The space of observations: a Dict that tells with which setting a part that is missing would be there."""

    def __getitem__(self, key: str) -> Space[Any]:
        if key in _SETTINGS and key not in self.spaces:
            parts = ", ".join(map(repr, self.spaces))
            raise NotObserved(
                f"observations have {parts} and no {key!r}; accepted: an environment made with {_SETTINGS[key]}"
            )
        return super().__getitem__(key)


class AgentSpaces:
    """An environment that has a space object for each agent, as PettingZoo asks for them."""

    observation_spaces: dict[str, Space[Any]]
    action_spaces: dict[str, Space[Any]]

    def observation_space(self, agent: str) -> Space[Any]:
        """The space of what the agent observes."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """The space of its actions."""
        return self.action_spaces[agent]


class AfterReset:
    """Placeholder in the class for an attribute that instances have after `reset`; it says so until then.

    (A `__getattr__` would say it as well, but makes every other attribute slower.)
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        raise AttributeError(f"{self._name} cannot be accessed before reset")


class ProseSpace(Text):
    """Strings of printable characters and line breaks, of 0 .. `max_length` characters.

    Samples are short and come from a small alphabet, Chinese included; `contains` accepts every printable character.
    """

    def __init__(self, max_length: int, seed: int | None = None) -> None:
        super().__init__(max_length=max_length, min_length=0, charset=_SAMPLE, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        if mask is not None or probability is not None:
            raise ValueError("Prose cannot be sampled with a mask or with probabilities; accepted: None")
        length = int(self.np_random.integers(min(_SAMPLE_LENGTH, self.max_length) + 1))
        return "".join(_SAMPLE[int(k)] for k in self.np_random.integers(len(_SAMPLE), size=length))

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length and x.replace("\n", "").isprintable()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProseSpace) and other.max_length == self.max_length

    def __repr__(self) -> str:
        return f"Prose({self.max_length})"


def observed_space(observation: str, features: int, actions: int, characters: int) -> Dict:
    """What is observed of so many of each, with the mask: `observation="text"`, `"features"` or `"both"`."""
    parts: dict[str, Space[Any]] = {"action_mask": Box(0, 1, (actions,), np.int8)}
    if observation != "features":
        parts["text"] = ProseSpace(characters)
    if observation != "text":
        parts["observation"] = Box(-1, 1, (features,), np.float32)
    return ObservedSpace(parts)


@create_shared_memory.register(ProseSpace)
def _no_shared_memory(*_args: Any, **_settings: Any) -> Never:
    """Gymnasium would reserve 16 MB for each environment, and write only the characters that are sampled."""
    raise CustomSpaceError("prose is too long for shared memory; accepted: shared_memory=False")
