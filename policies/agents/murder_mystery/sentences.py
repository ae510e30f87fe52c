"""What the heuristics say, sentence by sentence, from `data/<language>.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from parlour.envs.core import ParlourError
from pydantic import BaseModel, ConfigDict, ValidationError


class Sentences(BaseModel):
    """The sentences of one language; the files explain them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    gap: str
    colon: str
    i_am: str
    nothing: str
    all_i_know: str
    unknown: str
    predefined: tuple[str, ...]
    questions: dict[str, str]
    about: dict[str, str]
    unnamed: dict[str, str]


@cache
def sentences(language: str) -> Sentences:
    """The sentences of a language. Raises `ParlourError` if its file is missing or not complete."""
    file = files(__package__) / "data" / f"{language}.toml"
    try:
        return Sentences.model_validate(tomllib.loads(file.read_text("utf-8")))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ParlourError(f"{file} cannot be read: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise ParlourError(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
