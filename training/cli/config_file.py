"""`--config FILE`: settings of a command from TOML, under the long names of its options; and the file that a trainer leaves.

The command line overrides the file, and the file overrides the defaults. A trainer writes all settings of its
run as `config.toml` into the run directory, so that `--config` of another command starts from them.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import typer
from parlour.envs.core import ParlourError, accept
from parlour.policies.files import atomic_write

FILE: Final = "config.toml"
HELP: Final = (
    "TOML file with settings, under the names of the options without --. "
    "A trainer writes this file in its run directory: config.toml; None: no file."
)


def read_settings(context: typer.Context, path: Path | None) -> Path | None:
    """The callback of `--config`: what the file says becomes the defaults of the other options.

    Raises:
        ParlourError: The file cannot be read, is no TOML, or names what is no option of the command.
    """
    if path is None:
        return None
    try:
        settings = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ParlourError(f"--config {str(path)!r} cannot be read ({error}); accepted: a TOML file") from None
    options = option_names(context)
    defaults = {}
    for name, value in settings.items():
        if name not in options:
            raise accept("setting", name, sorted(options))
        defaults[options[name]] = as_given(value)
    context.default_map = {**(context.default_map or {}), **defaults}
    return path


def option_names(context: typer.Context) -> dict[str, str]:
    """Long name of each option, without hyphens before it, to the name of its parameter."""
    return {
        name.removeprefix("--"): str(parameter.name)
        for parameter in context.command.params
        for name in parameter.opts
        if name.startswith("--") and name not in ("--config", "--json", "--help")
    }


def as_given(value: Any) -> Any:
    """A value of TOML as the command line would give it: a table as KEY=VALUE, items of a tuple with commas between them.

    >>> as_given({"talk": False}), as_given([64, 64]), as_given(["a", "b"]), as_given(3)
    (['talk=false'], '64,64', ['a', 'b'], 3)
    """
    if isinstance(value, Mapping):
        return [f"{key}={json.dumps(item)}" for key, item in value.items()]
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        return ",".join(map(str, value))
    return value


def toml_text(settings: Mapping[str, Any]) -> str:
    """Settings as TOML; those that are None are left out.

    >>> print(toml_text({"steps": 10, "out": None, "set": ("talk=false",), "rate": 0.5, "start": "heuristic"}), end="")
    steps = 10
    set = ["talk=false"]
    rate = 0.5
    start = "heuristic"
    """
    return "".join(f"{name} = {_value(value)}\n" for name, value in settings.items() if value is not None)


def _value(value: Any) -> str:
    if isinstance(value, Path):
        return json.dumps(str(value))
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def write_settings(context: typer.Context, given: Mapping[str, Any], folder: Path) -> None:
    """Write the settings of a run, as the command line gave them, into its directory, if there is one."""
    if folder.is_dir():
        names = {parameter: name for name, parameter in option_names(context).items() if name not in ("out", "log")}
        atomic_write(
            folder / FILE,
            toml_text({names[key]: value for key, value in given.items() if key in names and value != []}),
        )
