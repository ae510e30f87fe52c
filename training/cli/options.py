"""Options of commands from configuration dataclasses: a setting is declared once, where it is used.

A parameter of a command that is `Annotated[Config, Options(...)]` stands for one option for each field of `Config`: the
name with hyphens, the type, the default, and as help the docstring below the field. A docstring that ends in
"; None: TEXT." says what holds without the option, and `--help` shows TEXT as the default. Whether a value is accepted
is decided by the dataclass alone, in `__post_init__`. The help of any other parameter is a text in its annotation, in the
same form: `Annotated[int | None, typer.Option(min=1), "Number of games; None: all."]`.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, ExitStack
from copy import copy
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import typer
from parlour.envs.core import ParlourError, accept, value_shown
from parlour.envs.json_values import json_value
from parlour.envs.settings import Settings
from parlour.training.cli import config_file
from parlour.training.report.report import Report
from parlour.training.runs.loggers import check_loggers
from rich.markup import escape

_PLAIN: Final = (bool, int, float, str, Path)
_WITHOUT: Final = re.compile(r"[;.]\s+None:\s+(?P<text>.*?)\.?$")


@dataclass(frozen=True)
class Options:
    """How the fields of a dataclass become options."""

    exclude: Collection[str] = ()
    """Fields that the command sets itself."""
    rename: Mapping[str, str] = field(default_factory=dict)
    """Field -> names of its option, such as `"--players -n"`."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Field -> default of this command, where it is not the dataclass's."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """Field -> the default in words, where the command computes it."""
    repeated: Collection[str] = ()
    """Fields with a tuple whose option is given once for each item."""
    separator: str = ","
    """Between the items of other tuples."""
    rare: Collection[str] = ()
    """Fields whose options `--help` does not list; a file of `--config` may set them."""
    panel: str | None = None
    """Heading of these options in `--help`."""
    config: type[Any] | None = None
    """The dataclass, if the command gets something made from it by `make`."""
    make: Callable[[Any, Path | None], AbstractContextManager[Any]] | None = None
    """Turns the configuration, and the directory `out` of the command, if it has any, into what the command gets, for as long as the
    command runs."""


class _Setting(NamedTuple):
    """One field as an option: a parameter for typer, and how its value is read."""

    field: str
    parameter: inspect.Parameter
    read: Callable[[Any], Any]


def as_command(function: Callable[..., Report | None], *, trains: bool = False) -> Callable[..., None]:
    """The command that typer is given: options for configurations, `--config` where there are any, and `--json` if the function
    returns a `Report`.

    Args:
        function: What the command calls.
        trains: Whether the settings are left in the run directory `--out`.
    """
    hints = get_type_hints(function, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type[Any], Options, list[_Setting]]] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        marker = next((mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Options)), None)
        if marker is None:
            parameters.append(_parameter(parameter.name, _described(hint, parameter.default), parameter.default))
            continue
        config = marker.config or get_args(hint)[0]
        settings = [
            _setting(config, of, default, marker, parameter.name)
            for of, default in _defaults(config).items()
            if of not in marker.exclude
        ]
        groups[parameter.name] = (config, marker, settings)
        parameters += [setting.parameter for setting in settings]
    reports = hints["return"] is Report
    if reports:
        flag = typer.Option("--json", help="Print JSON instead of tables.")
        parameters.append(_parameter("as_json", Annotated[bool, flag], False))

    def run(**given: Any) -> None:
        as_json = reports and given.pop("as_json")
        with ExitStack() as stack:
            for name, (config, marker, settings) in groups.items():
                values = {s.field: s.read(given.pop(s.parameter.name)) for s in settings}
                made = config(**{key: value for key, value in values.items() if value is not MISSING})
                given[name] = made if marker.make is None else stack.enter_context(marker.make(made, given.get("out")))
            report = function(**given)
            if report is not None:
                report.print(as_json=as_json)
                if report.error is not None:
                    raise ParlourError(report.error)

    def configured(context: typer.Context, **given: Any) -> None:
        given.pop("config_file")
        values = dict(given)
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
    made.__doc__, made.__name__ = function.__doc__, function.__name__
    made.__signature__ = inspect.Signature(parameters)
    made.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command: Callable[..., None] = made
    return command


def alone(command: Callable[..., None]) -> Callable[..., None]:
    """A command of `as_command` that also names a group: it does nothing where a command of the group follows."""
    own = inspect.signature(command).parameters
    context = _parameter("context", typer.Context, inspect.Parameter.empty)

    def run(context: typer.Context, **given: Any) -> None:
        if context.invoked_subcommand is None:
            command(**given, **({"context": context} if "context" in own else {}))

    run.__doc__, run.__name__ = command.__doc__, command.__name__
    run.__signature__ = inspect.Signature([*({**own, "context": context}).values()])  # type: ignore[attr-defined]
    run.__annotations__ = {**command.__annotations__, "context": typer.Context}
    return run


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _described(hint: Any, default: Any) -> Any:
    """The annotation of a parameter that is no configuration, as typer reads it."""
    kind, *marks = get_args(hint)
    info = copy(next((mark for mark in marks if not isinstance(mark, str)), typer.Option()))
    text, without = _help(next((mark for mark in marks if isinstance(mark, str)), info.help or ""))
    info.help = text
    if default is None and info.show_default is True:
        info.show_default = without or "none"
    return Annotated[kind, info]


def _defaults(config: Any) -> dict[str, Any]:
    """Field -> its default."""
    if issubclass(config, Settings):
        return {name: of.get_default(call_default_factory=True) for name, of in config.model_fields.items()}
    return {of.name: of.default if of.default_factory is MISSING else of.default_factory() for of in fields(config)}


def _setting(config: Any, name: str, default: Any, options: Options, group: str) -> _Setting:
    separator = "" if name in options.repeated else options.separator
    kind, metavar, read = _kind(_hints(config)[name], name, separator)
    default = options.defaults.get(name, default)
    help_text, without = _help(next((d[name] for c in config.__mro__ if name in (d := _docstrings(c))), ""))
    given = _as_given(default, kind, separator)
    shown = options.shown.get(name) or (without or "none" if given in (None, "") else True)
    flag = f"--{name.replace('_', '-')}"
    names = options.rename.get(name, f"{flag}/--no-{flag[2:]}" if kind is bool else flag).split()
    option = typer.Option(
        *names,
        metavar=metavar,
        help=help_text,
        show_default=shown,
        rich_help_panel=options.panel,
        hidden=name in options.rare,
    )
    annotation = kind | None if given is None else kind
    return _Setting(name, _parameter(f"{group}__{name}", Annotated[annotation, option], given), read)


@cache
def _hints(config: Any) -> dict[str, Any]:
    return get_type_hints(config)


def _kind(hint: Any, name: str, separator: str) -> tuple[Any, str | None, Callable[[Any], Any]]:
    """The type that typer reads, what stands for a value in `--help`, and how the value becomes the field's."""
    parts = [arg for arg in get_args(hint) if arg is not NoneType] if get_origin(hint) in (Union, UnionType) else [hint]
    words = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
    plain = [part for part in parts if get_origin(part) is not Literal]
    if words:
        metavar = "|".join(["NUMBER"] * len(plain) + words)
        return str, metavar, lambda text: _number_or_word(text, plain, words, name)
    if plain[0] in _PLAIN:
        return plain[0], None, lambda value: value
    if get_origin(plain[0]) is tuple:
        if not separator:
            return list[str], "TEXT", lambda texts: tuple(texts or ())
        items = get_args(plain[0])
        words = ["..." if item is Ellipsis else item.__name__.upper() for item in items]
        return str, separator.join(words), lambda text: _items(text, items, name, separator)
    return list[str], "KEY=VALUE", lambda pairs: key_values(pairs or ())


def _as_given(default: Any, kind: Any, separator: str) -> Any:
    """A default as a user would type it; None for what need not be given."""
    if kind == list[str] or default is None:
        return None
    if isinstance(default, tuple):
        return separator.join(map(str, default))
    return str(default) if kind is str else default


def _number_or_word(text: str, kinds: list[type[Any]], words: list[str], name: str) -> Any:
    if not kinds or text in words:
        return text
    try:
        return kinds[0](text)
    except ValueError:
        raise accept(name, text, f"a number, {', '.join(words)}") from None


def _items(text: str | None, items: tuple[Any, ...], name: str, separator: str) -> Any:
    """The items of a tuple."""
    if text is None:
        return MISSING
    try:
        read = tuple(items[0](item) for item in text.split(separator) if item)
    except ValueError:
        read = ()
    if (text and not read) or (Ellipsis not in items and len(read) != len(items)):
        number = "numbers" if Ellipsis in items else f"{len(items)} numbers"
        raise accept(name, text, f"{number} separated by {separator!r}")
    return read


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


@cache
def _docstrings(config: type[Any]) -> dict[str, str]:
    """Field -> the docstring below it, on one line; for fields that a class declares itself."""
    if config.__module__ == "builtins":
        return {}
    body = _classes(config.__module__)[config.__qualname__].body
    pairs = pairwise(body)
    return {
        above.target.id: " ".join(inspect.cleandoc(below.value.value).split())
        for above, below in pairs
        if isinstance(above, ast.AnnAssign) and isinstance(above.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
    }


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
