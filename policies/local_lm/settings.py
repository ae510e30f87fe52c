"""The settings of a player that a checkpoint of `transformers` answers for, and the name of that player. Needs no
library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from parlour.envs.core import ParlourError, check_from
from parlour.envs.settings import Accepts, Settings
from pydantic import Field, model_validator

WEIGHTS: Final = "*.safetensors"
_NAMED: Final = re.compile(r"[^\w.+-]")
_SHOWN: Final = 12
"""Digits of a checkpoint's hash in its name."""
_BLOCK: Final = 2**20


class CheckpointSettings(Settings):
    """How a checkpoint plays.

    Raises:
        ParlourError: A value is not accepted.
    """

    dir: Annotated[str, Accepts("a folder that save_pretrained of transformers wrote")]
    """Folder of the checkpoint, as `save_pretrained` writes it."""
    temperature: float = Field(default=0.0, ge=0)
    """Sampling temperature; 0: always the most probable token."""
    max_new_tokens: int = Field(default=128, ge=1)
    """Tokens of a reply at most."""
    history: int | None = Field(default=None, ge=0)
    """Earlier turns that the model reads beside the first message; None: as many as its context has room for."""
    context: int | None = Field(default=None, ge=2)
    """Tokens of prompt and reply together; None: what the checkpoint says, or no limit."""
    list_options: bool = True
    """Whether the seat's messages list the options."""
    batch: int = Field(default=16, ge=1)
    """Prompts that are computed together at most, and games that a command plays at once."""
    device: str = "cpu"
    """Device of PyTorch, such as cuda."""
    dtype: Literal["float32", "float64", "bfloat16", "float16"] = "float32"
    """Number format of the weights."""

    @model_validator(mode="after")
    def _prompt_fits(self) -> Self:
        if self.context is not None:
            check_from("context", self.context, self.max_new_tokens + 1)
        return self


def weights_in(folder: str | Path) -> list[Path]:
    """The files of weights of a checkpoint. Raises `ParlourError` for a folder that holds no such checkpoint."""
    place = Path(folder)
    if not (place / "config.json").is_file():
        raise ParlourError(
            f"{str(folder)!r} holds no config.json; accepted: a folder that save_pretrained of transformers wrote"
        )
    if (place / "adapter_config.json").exists():
        raise ParlourError(f"{str(folder)!r} holds an adapter; accepted: weights into which it is merged")
    weights = sorted(place.glob(WEIGHTS))
    if not weights:
        raise ParlourError(
            f"{str(folder)!r} holds no weights as {WEIGHTS}; accepted: safetensors alone, nothing pickled"
        )
    return weights


def hash_of(folder: str | Path) -> str:
    """SHA-256 of the weights of a checkpoint, in hexadecimal digits. Raises `ParlourError` as `weights_in`."""
    weights = [(file, file.stat()) for file in weights_in(folder)]
    return _hashed(tuple((str(file), stat.st_size, stat.st_mtime_ns) for file, stat in weights))


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
