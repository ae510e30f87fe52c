"""The settings of a player that a checkpoint of `transformers` answers for, and what such a player is called. Needs no library."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self

from parlour.envs.core import ParlourError, accept, check_from, check_one_of
from parlour.policies.base import check_settings

DTYPES: Final = ("float32", "float64", "bfloat16", "float16")
WEIGHTS: Final = "*.safetensors"
_NAMED: Final = re.compile(r"[^\w.+-]")
_SHOWN: Final = 12
"""Digits of a checkpoint's hash in its name."""
_BLOCK: Final = 2**20


@dataclass(frozen=True)
class CheckpointSettings:
    """How a checkpoint plays.

    Raises:
        ParlourError: A value is not accepted.
    """

    dir: str
    """Folder of the checkpoint, as `save_pretrained` writes it."""
    temperature: float = 0.0
    """Of sampling; 0: the most probable token, always."""
    max_new_tokens: int = 128
    """Tokens of a reply at most."""
    history: int | None = None
    """Earlier turns that the model reads beside the first message; None: as many as its context has room for."""
    context: int | None = None
    """Tokens of prompt and reply together; None: what the checkpoint says, or no limit."""
    list_options: bool = True
    """Whether the seat's messages list the options."""
    batch: int = 16
    """Prompts that are computed together at most, and games that a command plays at once."""
    device: str = "cpu"
    """Where it is computed, as PyTorch names it, such as cuda."""
    dtype: str = "float32"
    """Of the weights."""

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise accept("temperature", self.temperature, "a number from 0")
        check_from("max_new_tokens", self.max_new_tokens, 1)
        check_from("batch", self.batch, 1)
        check_one_of("dtype", self.dtype, DTYPES)
        if self.history is not None:
            check_from("history", self.history, 0)
        if self.context is not None:
            check_from("context", self.context, self.max_new_tokens + 1)

    @classmethod
    def from_words(cls, words: Mapping[str, str]) -> Self:
        """From words, as the command line takes them. Raises `ParlourError` for what is not accepted."""
        check_settings("hf", words, [field.name for field in fields(cls)])
        if "dir" not in words:
            raise ParlourError("policy 'hf' without a checkpoint is not accepted; accepted: hf:DIR[,temperature=1,...]")
        values: dict[str, Any] = {
            key: _READ[key](key, value) if key in _READ else value for key, value in words.items()
        }
        return cls(**values)


def _number(kind: Callable[[str], Any], what: str) -> Callable[[str, str], Any]:
    def read(name: str, value: str) -> Any:
        try:
            return kind(value)
        except ValueError:
            raise accept(name, value, what) from None

    return read


def _flag(name: str, value: str) -> bool:
    if value not in ("true", "false"):
        raise accept(name, value, ("true", "false"))
    return value == "true"


_WHOLE: Final = _number(int, "a whole number")
_READ: Final[Mapping[str, Callable[[str, str], Any]]] = {
    "temperature": _number(float, "a number from 0"),
    "max_new_tokens": _WHOLE,
    "history": _WHOLE,
    "context": _WHOLE,
    "batch": _WHOLE,
    "list_options": _flag,
}
"""Setting -> how its words are read; the others are words."""


def weights_in(folder: str | Path) -> list[Path]:
    """The files of weights of a checkpoint. Raises `ParlourError` for a folder that holds no such checkpoint."""
    place = Path(folder)
    if not (place / "config.json").is_file():
        raise ParlourError(
            f"{str(folder)!r} holds no config.json; accepted: a folder that save_pretrained of transformers wrote"
        )
    if (place / "adapter_config.json").exists():
        raise ParlourError(f"{str(folder)!r} holds an adapter; accepted: weights into which it is merged")
    found = sorted(place.glob(WEIGHTS))
    if not found:
        raise ParlourError(
            f"{str(folder)!r} holds no weights as {WEIGHTS}; accepted: safetensors alone, nothing pickled"
        )
    return found


def hash_of(folder: str | Path) -> str:
    """SHA-256 of the weights of a checkpoint, in hexadecimal digits. Raises `ParlourError` as `weights_in`."""
    found = [(file, file.stat()) for file in weights_in(folder)]
    return _hashed(tuple((str(file), stat.st_size, stat.st_mtime_ns) for file, stat in found))


@lru_cache(maxsize=16)
def _hashed(files: tuple[tuple[str, int, int], ...]) -> str:
    """Of files that are known by name, size and time of change."""
    digest = sha256()
    for file, _, _ in files:
        with open(file, "rb") as opened:
            while block := opened.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def called(words: Mapping[str, str]) -> str:
    """What transcripts and tables call the player of these settings: the folder's name, its settings, its weights' hash."""
    settings = CheckpointSettings.from_words(words)
    folder = Path(settings.dir).resolve()
    further = "".join(f",{key}={value}" for key, value in words.items() if key in _TOLD)
    return f"hf:{_NAMED.sub('_', folder.name)}{further} @ sha256:{hash_of(settings.dir)[:_SHOWN]}"


_TOLD: Final = ("temperature", "max_new_tokens", "history", "context", "list_options", "dtype")
"""Settings that a game depends on."""
