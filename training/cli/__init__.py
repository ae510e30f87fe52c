"""The command line: `parlour`. `COMMANDS` lists parlour's commands; `commands()` adds the commands of installed packages. One file
for each group of them.

Every error is one line on standard error, with exit code 2.
"""

from __future__ import annotations

import ast
import inspect
import logging
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import metadata
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

import typer
from parlour.envs import plugins
from parlour.envs.common.terminal import TellingHandler, tell
from parlour.envs.core import ParlourError
from parlour.training.cli.elsewhere import hint

# The class of all errors in a command's words, which typer takes from click or brings along, as its version has it.
_USAGE: Final[type[Exception]] = typer.BadParameter.__mro__[2]

GROUPS: Final[Mapping[str, str]] = {
    "": "Games played by talking: play them, record them, measure and train players.",
    "train": "Train players.",
    "grace": "GRACE's mediator: what stakes decide, why it recommends what, who would obey, what a log says about policies.",
    "avalon": "Avalon: measure social behaviour.",
    "murder-mystery": "Murder mysteries: play a case with a method and quiz everybody; compare methods; cases.",
    "murder-mystery cases": "Cases as files: check WellPlay directories, make cases, show them.",
    "corpus": "Questions and documents of your own: count, link and draw them.",
    "prompts": "Questions to a language model: list them, show one as it would be sent.",
    "cache": "Stored replies of language models (`--cache`): list them.",
    "import": "Convert published game records to transcripts or records.",
}
"""Words before a command -> help text."""

COMMANDS: Final[Mapping[str, str]] = {
    "list": "listing:list_games",
    "experts": "experts:list_experts",
    "play": "play:play",
    "replay": "replay:replay",
    "new": "new:new",
    "check": "own_games:check",
    "evaluate": "evaluate:evaluate",
    "arena": "arena:arena",
    "metrics": "metrics:metrics",
    "demo": "demo:demo",
    "serve": "serve:serve",
    "mcp": "harnesses:mcp",
    "openenv": "harnesses:openenv",
    "inspect-log": "harnesses:inspect_log",
    "corpus check": "grace:check_corpus",
    "prompts list": "prompts:list_prompts",
    "prompts show": "prompts:show",
    "reproduce": "reproduce:reproduce",
    "train seat": "train:train_seat",
    "train selfplay": "train:train_selfplay",
    "train avalon": "train:train_avalon",
    "train grace": "train_grace:train_grace",
    "train gratr": "train:train_gratr",
    "train gratr-trust": "train:train_gratr_trust",
    "train questum": "train:train_questum",
    "grace stakes": "grace:show_stakes",
    "grace explain": "grace:show_explanation",
    "grace obey": "grace:show_obedience",
    "avalon social": "avalon:avalon_social",
    "murder-mystery play": "murder_mystery:play_case",
    "murder-mystery compare": "murder_mystery:compare_methods",
    "murder-mystery cases make": "murder_mystery:make_case",
    "murder-mystery cases show": "murder_mystery:show_case",
    "cache list": "cache:list_replies",
    "import avalon": "records:import_avalon",
    "import werewolf": "records:import_werewolf",
    "export": "records:export",
}
"""The words of a command -> module and function that it calls; a module is imported when one of its commands is. A command with
the words of a group runs if no command of the group follows."""
ENTRY_POINTS: Final = "parlour.commands"
"""The group in which packages offer commands of their own: `"mine play" = "my_package.cli:play"`."""


@cache
def commands() -> Mapping[str, str]:
    """The words of a command -> `module:function`: parlour's commands, then the commands of installed packages, which replace none of them.

    A package whose module is not found or cannot be read costs one warning, and its commands.
    """
    found = {words: f"{__name__}.{place}" for words, place in COMMANDS.items()}
    for words, entry_point in plugins.packages(ENTRY_POINTS).items():
        if words in found:
            continue
        try:
            _docstrings(entry_point.module)[entry_point.attr]
        except Exception as error:  # whatever the package's own module raises
            plugins.warn_once(_package(words), f"{words!r}: {type(error).__name__}: {error}")
            continue
        found[words] = entry_point.value
    return found


def groups() -> dict[str, str]:
    """Words before a command -> help text. A package says what its own words are."""
    known = dict(GROUPS)
    for words in commands():
        parts = words.split()
        for end in range(1, len(parts)):
            known.setdefault(
                " ".join(parts[:end]), metadata(_package(words))["Summary"] if words not in COMMANDS else ""
            )
    return known


def _package(words: str) -> str:
    """The package that offers a command."""
    dist = plugins.packages(ENTRY_POINTS)[words].dist
    return dist.name if dist else words


@cache
def app(words: str | None = "") -> typer.Typer:
    """The commands whose words begin with these, in their groups; all of them by default. None: all of them with their help alone,
    which imports nothing.
    """
    settings: dict[str, Any] = {
        "rich_markup_mode": "rich",
        "context_settings": {"help_option_names": ["-h", "--help"]},
    }
    made = {name: typer.Typer(help=text, add_completion=False, **settings) for name, text in groups().items()}
    for name, text in groups().items():
        if name and name not in commands():
            made[name].callback(invoke_without_command=True, help=text)(_command_needed(name))
    for name, group in made.items():
        parent, _, last = name.rpartition(" ")
        if name:
            made[parent].add_typer(group, name=last)
    for name, dotted in commands().items():
        if words is not None and not f"{name} ".startswith(f"{words} ".lstrip()):
            continue
        parent, _, last = name.rpartition(" ")
        module, _, function = dotted.partition(":")
        run = _summary(module, function) if words is None else _command(module, function, trains=parent == "train")
        if name in made:
            made[name].callback(invoke_without_command=True, help=inspect.getdoc(run))(run)
        else:
            made[parent].command(last)(run)
    return made[""]


def _command(module: str, function: str, *, trains: bool) -> Callable[..., Any]:
    """The command of a function; where its words are those of a group, it runs alone."""
    from parlour.training.cli.options import alone, as_command

    run = as_command(getattr(import_module(module), function), trains=trains)
    return alone(run) if f"{module}:{function}" in (commands().get(group) for group in groups()) else run


def _summary(module: str, function: str) -> Callable[[], None]:
    """A command for lists of commands: it has the help of its function, read from the source, and does nothing."""

    def run() -> None: ...

    run.__doc__ = _docstrings(module)[function]
    return run


@cache
def _docstrings(module: str) -> dict[str, str]:
    """Function -> docstring, of a module that is not imported; what it stands in is."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"there is no module {module!r}", name=module)
    source = Path(spec.origin).read_text("utf-8")
    functions = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return {node.name: ast.get_docstring(node) or "" for node in functions}


def _command_in(arguments: list[str]) -> str | None:
    """The words of the command that arguments begin with; None if they begin with none."""
    words = list(takewhile(lambda word: not word.startswith("-"), arguments))
    return next((name for end in range(len(words), 0, -1) if (name := " ".join(words[:end])) in commands()), None)


def _command_needed(words: str) -> Callable[[typer.Context], None]:
    """What a group does without one of its commands: it refuses."""

    def refuse(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            own = [name.removeprefix(f"{words} ").split()[0] for name in commands() if name.startswith(f"{words} ")]
            raise ParlourError(f"{words} needs a command; accepted: {', '.join(dict.fromkeys(own))}")

    return refuse


_LOG: Final = logging.getLogger("parlour")
_TELLING: Final = TellingHandler(logging.WARNING)
_REFUSED: Final = 2
"""Exit code of a command that was refused."""
_STOPPED: Final = 130
"""Exit code of a command that a person stopped."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; ends the process."""
    sys.exit(_flushed(run(sys.argv[1:] if arguments is None else arguments)))


def _flushed(code: int) -> int:
    """Hand over what was printed; the exit code, that of a refusal if it fails. A refusal is told once, and nothing is tried again."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if code != _REFUSED and not isinstance(error, BrokenPipeError):
            return _refuse(_of_the_system(error))
    return code


def _of_the_system(error: OSError) -> str:
    """What no file's reader or writer has told in words of its own: standard output on a full disk, say."""
    where = "a file or standard output" if error.filename is None else repr(str(error.filename))
    return f"{where} cannot be used: {error.strerror or type(error).__name__}"


def run(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    _LOG.addHandler(_TELLING)  # added once, however often
    command = _command_in(arguments)
    resumes = command == "demo" or (command or "").startswith("train ")
    again = f"parlour {shlex.join(arguments)}" if resumes else ""
    try:
        code = app(command)(args=arguments or ["--help"], prog_name="parlour", standalone_mode=False)
        if code == _STOPPED:  # what typer makes of KeyboardInterrupt
            raise KeyboardInterrupt
    except _USAGE as error:
        said: Any = error
        why = said.format_message()
        return _refuse(f"{why}{hint(arguments, why)}")
    except ParlourError as error:
        return _refuse(f"{error}{hint(arguments, str(error))}")
    except (typer.Abort, KeyboardInterrupt, EOFError):
        return _refuse(f"stopped; this resumes: {again}" if again else "stopped", _STOPPED)
    except BrokenPipeError:
        return 0
    except OSError as error:
        return _refuse(_of_the_system(error))
    except Exception as error:
        if again:
            error.add_note(f"What was learned is kept. This resumes, or writes the report again: {again}")
        raise
    return code if isinstance(code, int) else 0


def _refuse(why: str, code: int = _REFUSED) -> int:
    from parlour.envs.language.text import clean

    if why.strip():
        tell(f"parlour: {clean(why)}", error=True)
    return code
