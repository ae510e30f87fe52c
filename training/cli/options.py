"""Options of commands from settings models: a setting is declared once, where it is used.

A parameter of a command that is `Annotated[Config, Options(...)]` stands for one option for each field of `Config`: the
name with hyphens, the default, and as help the docstring below the field. A docstring that ends in "; None: TEXT." says what
holds without the option, and `--help` shows TEXT as the default. The model alone reads the words of an option and decides
whether a value is accepted. The help of any other parameter is a text in its annotation, in
the same form: `Annotated[int | None, typer.Option(min=1), "Number of games; None: all."]`.

`--help` lists at most `MOST` options of a command: first those that are marked `COMMON` where they are declared, then others in
their order. `--help-all` lists all.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, ExitStack
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import typer
from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError, accept, value_shown
from parlour.envs.settings import COMMON, Settings, descriptions, of_word
from parlour.training.cli import config_file
from parlour.training.report.report import Report
from parlour.training.runs.loggers import check_loggers
from pydantic.fields import FieldInfo
from rich.markup import escape
from typer.core import TyperCommand
from typer.models import OptionInfo, ParameterInfo

_WITHOUT: Final = re.compile(r"[;.]\s+None:\s+(?P<text>.*?)\.?$")
_SEVERAL: Final = ("KEY=VALUE", "TEXT")
"""What stands for the values of options that may be given more than once."""
MOST: Final = 14
"""Number of options that `--help` lists, with `--help` itself."""
HELP_ALL: Final = "--help-all"


class Command(TyperCommand):
    """A command that takes `--help-all`, where `--help` does not list all options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of a command line."""
        if HELP_ALL in args:
            ctx.meta[HELP_ALL] = True
            args = ["--help"]
        return super().parse_args(ctx, _with_seats(args, named=any(_names_a_seat(option) for option in self.params)))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; the options that `--help` does not list are hidden ones."""
        rare: list[Any] = [option for option in self.params if getattr(option, "hidden", False)]
        whole = HELP_ALL in ctx.meta
        self.epilog = f"{HELP_ALL} shows the other {len(rare)} options." if rare and not whole else None
        for option in rare:
            option.hidden = not whole
        super().format_help(ctx, formatter)
        for option in rare:
            option.hidden = True


def _names_a_seat(option: Any) -> bool:
    return "--seat" in option.opts and option.metavar == "<str>"


def _with_seats(words: list[str], *, named: bool) -> list[str]:
    """The words of a command whose seat may be called `0` or `player_0`, with the one that the command reads.

    >>> _with_seats(["a.jsonl", "--seat", "3"], named=True), _with_seats(["--seat=player_3"], named=False)
    (['a.jsonl', '--seat', 'player_3'], ['--seat=3'])
    """
    wanted, other = (r"player_\1", r"(\d+)") if named else (r"\1", r"player_(\d+)")
    seats = [number > 0 and words[number - 1] == "--seat" for number in range(len(words))]
    return [
        re.sub(rf"^(?:{other})$", wanted, word) if seat else re.sub(rf"^--seat={other}$", f"--seat={wanted}", word)
        for word, seat in zip(words, seats, strict=True)
    ]


@dataclass(frozen=True)
class Options:
    """How the fields of settings become options."""

    exclude: Collection[str] = ()
    """Fields that the command sets itself."""
    rename: Mapping[str, str] = field(default_factory=dict)
    """Field -> names of its option, such as `"--players -n"`."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Field -> default of this command, where it is not the model's."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """Field -> the default in words, where the command computes it."""
    repeated: Collection[str] = ()
    """Fields with a tuple whose option is given once for each item."""
    separator: str = ","
    """Between the items of other tuples."""
    panel: str | None = None
    """Heading of these options in `--help`."""
    config: type[Settings] | None = None
    """The settings, if the command gets something made from them by `make`."""
    make: Callable[[Any, Path | None], AbstractContextManager[Any]] | None = None
    """Turns the settings, and the directory `out` of the command, if it has any, into what the command gets, for as long as the
    command runs."""


class _Setting(NamedTuple):
    """One field as an option: a parameter for typer, and how its value is read."""

    field: str
    parameter: inspect.Parameter
    read: Callable[[Any], Any]


class _Group(NamedTuple):
    """The options of one parameter of a command."""

    config: type[Settings]
    options: Options
    settings: list[_Setting]

    def made(self, given: dict[str, Any]) -> Settings:
        """The settings, from the values of their options, which leave `given`."""
        values = {each.field: given.pop(each.parameter.name) for each in self.settings}
        read = {each.field: each.read(value) for each in self.settings if (value := values[each.field]) is not None}
        return self.config(**read)


def as_command(function: Callable[..., Report | None], *, trains: bool = False) -> Callable[..., None]:
    """The command that typer is given: options for configurations, `--config` where there are any, and `--json` if the function
    returns a `Report`.

    Args:
        function: What the command calls.
        trains: Whether the settings are left in the run directory `--out`.
    """
    hints = get_type_hints(function, include_extras=True)
    parameters: list[inspect.Parameter] = []
    in_panels: list[inspect.Parameter] = []
    groups: dict[str, _Group] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        marker = next((mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Options)), None)
        if marker is None:
            parameters.append(_parameter(parameter.name, _described(hint, parameter.default), parameter.default))
            continue
        config = marker.config or get_args(hint)[0]
        shown = {name: text for name, text in descriptions(config).items() if name not in marker.exclude}
        settings = [_setting(config, name, text, marker, parameter.name) for name, text in shown.items()]
        groups[parameter.name] = _Group(config, marker, settings)
        (in_panels if marker.panel else parameters).extend(setting.parameter for setting in settings)
    reports = hints["return"] is Report
    if reports:
        json_flag = Annotated[bool, typer.Option("--json"), COMMON, "Print JSON instead of tables."]
        parameters.append(_parameter("as_json", _described(json_flag, False), False))
    parameters += in_panels

    def run(**given: Any) -> None:
        as_json = reports and given.pop("as_json")
        with ExitStack() as stack:
            for name, group in groups.items():
                made, make = group.made(given), group.options.make
                given[name] = made if make is None else stack.enter_context(make(made, given.get("out")))
            report = function(**given)
            if report is not None:
                report.print(as_json=as_json)
                if report.error is not None:
                    raise ParlourError(report.error)

    def configured(context: typer.Context, **given: Any) -> None:
        given.pop("config_file")
        values = dict(given)
        for setting in (setting for group in groups.values() for setting in group.settings if trains):
            read = values[setting.parameter.name]
            read = setting.read(read) if isinstance(read, str) else read
            values[setting.parameter.name] = read if isinstance(read, int | float) else values[setting.parameter.name]
        if trains:
            check_loggers(values.get("log") or ())  # before anything is written
        try:
            run(**given)
        finally:
            if trains:
                config_file.write_settings(context, values, values["out"])

    made: Any = configured if groups else run
    if groups:
        flag = typer.Option("--config", callback=config_file.read_settings, is_eager=True)
        parameters.append(
            _parameter("config_file", _described(Annotated[Path | None, flag, config_file.HELP], None), None)
        )
        parameters.append(_parameter("context", typer.Context, inspect.Parameter.empty))
    _hide_rare(parameters)
    made.__doc__, made.__name__ = function.__doc__, function.__name__
    made.__signature__ = inspect.Signature(parameters)
    made.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command: Callable[..., None] = made
    return command


def _hide_rare(parameters: Collection[inspect.Parameter]) -> None:
    """Hide the options that `--help` does not list: those beyond `MOST`, where the ones that are not hidden come first."""
    options = [
        info for parameter in parameters for info in get_args(parameter.annotation) if isinstance(info, OptionInfo)
    ]
    for number, info in enumerate(sorted(options, key=lambda info: info.hidden), 2):
        info.hidden = number > MOST


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _described(hint: Any, default: Any) -> Any:
    """The annotation of a parameter that is no configuration, as typer reads it."""
    kind, *marks = get_args(hint)
    info = copy(next((mark for mark in marks if isinstance(mark, ParameterInfo)), typer.Option()))
    info.hidden = isinstance(info, OptionInfo) and COMMON not in marks
    text, without = _help(next((mark for mark in marks if isinstance(mark, str)), info.help or ""))
    info.help = text
    if default is None and info.show_default is True:
        info.show_default = without or "none"
    return Annotated[kind, info]


def _setting(config: type[Settings], name: str, text: str, options: Options, group: str) -> _Setting:
    """The option of one field. A value that is not given is None, and the model's default holds."""
    of = config.model_fields[name]
    kind, metavar, read = _kind(name, of, "" if name in options.repeated else options.separator)
    default = options.defaults.get(name, None if of.is_required() else of.get_default(call_default_factory=True))
    help_text, without = _help(" ".join(text.split()))
    given = None if metavar in _SEVERAL else _as_given(default, options.separator)
    flag = f"--{name.replace('_', '-')}"
    names = options.rename.get(name, f"{flag}/--no-{flag[2:]}" if kind is bool else flag).split()
    option = typer.Option(
        *names,
        metavar=metavar,
        help=help_text,
        show_default=options.shown.get(name) or (without or "none" if given is None else True),
        rich_help_panel=options.panel,
        hidden=COMMON not in of.metadata,
    )
    taken: Any = kind | None if given is None else kind
    hint: Any = Annotated[taken, option]
    return _Setting(name, _parameter(f"{group}__{name}", hint, given), read)


def _kind(name: str, of: FieldInfo, separator: str) -> tuple[Any, str | None, Callable[[Any], Any]]:
    """The type that typer reads, what stands for a value in `--help`, and how the value becomes the field's."""
    parts = _parts(of.annotation)
    words = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
    plain = [part for part in parts if get_origin(part) is not Literal]
    if parts == [bool]:
        return bool, None, lambda value: value
    if any(get_origin(part) in (dict, Mapping) or part is Mapping for part in plain) and str not in plain:
        return list[str], _SEVERAL[0], key_values
    if plain and get_origin(plain[0]) is tuple:
        if not separator:
            return list[str], _SEVERAL[1], tuple
        items = ["..." if item is Ellipsis else _parts(item)[0].__name__.upper() for item in get_args(plain[0])]
        return str, separator.join(items), partial(of_word, name, of, between=separator)
    shown = "|".join([*["NUMBER"] * len(plain), *map(str, words)]) if words else f"<{plain[0].__name__.lower()}>"
    return str, shown, partial(of_word, name, of)


def _parts(hint: Any) -> list[Any]:
    """The forms that a value may have, without None and marks."""
    if get_origin(hint) is Annotated:
        return _parts(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return [part for each in get_args(hint) if each is not NoneType for part in _parts(each)]
    return [hint]


def _as_given(default: Any, separator: str) -> Any:
    """A default as a user would type it; None for what need not be given."""
    if isinstance(default, bool):
        return default
    text = separator.join(map(str, default)) if isinstance(default, tuple) else str(default)
    return None if default is None or not text else text


def key_values(pairs: Collection[str]) -> dict[str, Any]:
    """Settings from KEY=VALUE, where the value is JSON or a word. Raises `ParlourError` for one without a value.

    >>> key_values(["num_players=6", "rules=paper"])
    {'num_players': 6, 'rules': 'paper'}
    """
    chosen: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise accept("option", pair, "KEY=VALUE, such as num_players=6")
        try:
            chosen[key] = json_value(value)
        except json.JSONDecodeError:
            chosen[key] = value
        except ValueError as error:
            raise ParlourError(
                f"option {value_shown(key)}: {error}; accepted: KEY=VALUE, where the value is JSON or a word"
            ) from None
    return chosen


def _help(text: str) -> tuple[str, str | None]:
    """A help text for rich; and what it says of None."""
    match = _WITHOUT.search(text)
    return (escape(text), None) if match is None else (escape(text[: match.start()]) + ".", match["text"])
