"""The form of a transcript's entries about questions to models, which a foreign file may break.

What writes it is `parlour.policies.llm.chat`; what counts it, `parlour.policies.llm.decisions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Required

from parlour.envs.common.terminal import printable
from parlour.envs.core import ParlourError, in_short
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

_Count = Annotated[int, Field(ge=0)]
_STRICT: Final = ConfigDict(strict=True, extra="allow")


class _Message(TypedDict):
    content: str


class _Usage(TypedDict, total=False):
    __pydantic_config__ = _STRICT  # type: ignore[misc]  # how pydantic is told
    prompt: _Count | None
    cached: _Count | None
    completion: _Count | None


class _Call(TypedDict, total=False):
    __pydantic_config__ = _STRICT  # type: ignore[misc]
    ask: str
    prompt: list[_Message]
    reply: str
    fault: str
    by: str
    reason: str
    decides: bool
    cut: _Count
    usage: _Usage | None
    cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
    served: str | None
    dropped: list[str]


class _Model(TypedDict, total=False):
    __pydantic_config__ = _STRICT  # type: ignore[misc]
    model: Required[str]
    server: str
    prompts: str


_CALLS: Final = TypeAdapter(list[_Call])
_MODELS: Final = TypeAdapter(dict[str, _Model])


def calls_in(notes: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The calls of a line of a transcript; raises `ParlourError` if they have another form."""
    calls: list[Mapping[str, Any]] = notes.get("calls") or []
    _check(_CALLS, calls, "calls")
    return calls


def models_in(header: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
    """Seat -> the model that answered it, of a transcript's header; raises `ParlourError` for another form."""
    models: Mapping[str, Mapping[str, str]] = header.get("models") or {}
    _check(_MODELS, models, "models")
    return models


def _check(form: TypeAdapter[Any], value: Any, what: str) -> None:
    try:
        form.validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = in_short(printable(".".join([what, *map(str, first["loc"])])))
        raise ParlourError(
            f"{where} of a transcript is not accepted: {first['msg'].lower()}; accepted: as a game writes it"
        ) from None
