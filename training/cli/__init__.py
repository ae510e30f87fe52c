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
from parlour.envs.core import ParlourError, accept, listed
from parlour.training.cli.elsewhere import hint

# The class of all errors in a command's words, which typer takes from click or brings along, as its version has it.
_USAGE: Final[type[Exception]] = typer.BadParameter.__mro__[2]

GROUPS: Final[Mapping[str, str]] = {
    "": "Games played by talking: play them, record them, measure and train players.",
    "show": "Show a question, a case, or what a mediator recommends.",
    "serve": "Serve an endpoint, or a seat of a game.",
    "train": "Train players.",
    "import": "Convert recorded games to transcripts or records.",
}
"""Words before a command that are no command themselves -> help text."""

COMMANDS: Final[Mapping[str, str]] = {
    "list": "listing:list_games",
    "list experts": "experts:list_experts",
    "list questions": "questions:list_questions",
    "list replies": "replies:list_replies",
    "show question": "questions:show_question",
    "show case": "cases:show_case",
    "show recommendation": "mediators:show_recommendation",
    "play": "play:play",
    "replay": "replay:replay",
    "new": "new:new",
    "new case": "cases:make_case",
    "check": "own_games:check",
    "check corpus": "mediators:check_corpus",
    "evaluate": "evaluate:evaluate",
    "evaluate strangers": "evaluate:evaluate_strangers",
    "evaluate best-response": "evaluate:evaluate_best_response",
    "evaluate mysteries": "mysteries:evaluate_mysteries",
    "evaluate stakes": "mediators:evaluate_stakes",
    "evaluate obedience": "mediators:evaluate_obedience",
    "arena": "arena:arena",
    "metrics": "metrics:metrics",
    "metrics speech": "speech:measure_speech",
    "metrics conventions": "metrics:count_conventions",
    "demo": "demo:demo",
    "serve endpoint": "serve:serve_endpoint",
    "serve mcp": "harnesses:serve_mcp",
    "serve openenv": "harnesses:serve_openenv",
    "reproduce": "reproduce:reproduce",
    "train seat": "train:train_seat",
    "train selfplay": "train:train_selfplay",
    "train avalon": "train:train_avalon",
    "train grace": "train_grace:train_grace",
    "train gratr": "train:train_gratr",
    "train gratr-trust": "train:train_gratr_trust",
    "train questum": "train:train_questum",
    "import avalon": "records:import_avalon",
    "import werewolf": "records:import_werewolf",
    "import inspect": "harnesses:import_inspect",
    "export": "records:export",
}
"""The words of a command -> module and function that it calls; a module is imported when one of its commands is. A command whose
words begin another's is looked up last: `evaluate` runs where no longer command follows."""
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
def app(words: str | None = None) -> typer.Typer:
    """The command of these words, in its groups. None: all commands with their help alone, which imports nothing; of those that begin
    with the words of another, the shortest.
    """
    helps = ["-h", "--help", *(["--help-all"] if words is None else [])]  # a group has nothing to leave out
    settings: dict[str, Any] = {"rich_markup_mode": "rich", "context_settings": {"help_option_names": helps}}
    made: dict[str, typer.Typer] = {}
    for name, text in groups().items():
        if name and (name in commands() if words is None else not words.startswith(f"{name} ")):
            continue
        made[name] = typer.Typer(help=text, add_completion=False, callback=lambda: None, **settings)
        if name:
            parent, _, last = name.rpartition(" ")
            made[parent].add_typer(made[name], name=last)
    for name, dotted in commands().items():
        parent, _, last = name.rpartition(" ")
        module, _, function = dotted.partition(":")
        if words == name:
            _add(made[parent], name, getattr(import_module(module), function))
        elif words is None and parent in made:
            made[parent].command(last)(_summary(module, function))
    return made[""]


def command_of(words: str) -> Any:
    """The command of these words, as typer makes it."""
    command: Any = typer.main.get_command(app(words))
    for word in words.split():
        command = command.commands[word]
    return command


def _add(group: typer.Typer, name: str, function: Callable[..., Any]) -> None:
    """Add the command of a function, whose help names the commands that begin with its words."""
    from parlour.training.cli.options import Command, as_command

    parent, _, last = name.rpartition(" ")
    longer = [f"parlour {other}" for other in commands() if other.startswith(f"{name} ")]
    more = f"\n\nSee also: {', '.join(longer)}." if longer else ""
    run = as_command(function, trains=parent == "train")
    group.command(last, cls=Command, help=f"{inspect.getdoc(run)}{more}")(run)


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


def _no_command(arguments: list[str]) -> ParlourError | None:
    """Why arguments that begin with no command are refused; None where options follow the words of a group."""
    words = list(takewhile(lambda word: not word.startswith("-"), arguments))
    for end in range(len(words) + 1):
        group = " ".join(words[:end])
        own = list(
            dict.fromkeys(name.split()[end] for name in commands() if f"{name} ".startswith(f"{group} ".lstrip()))
        )
        if end == len(words):
            break
        if words[end] not in own:
            return accept("command", " ".join(words[: end + 1]), own)
    return None if words != arguments else ParlourError(f"{group} needs a command; accepted: {listed(own)}")


def _no_argument(command: str, arguments: list[str]) -> ParlourError | None:
    """Why a word behind a command that takes none is refused, where longer commands begin with that command's words."""
    longer = [name.split()[-1] for name in commands() if name.startswith(f"{command} ")]
    word = next(iter(arguments[len(command.split()) :]), "-")
    takes_words = word.startswith("-") or not longer
    if takes_words or any(param.param_type_name == "argument" for param in command_of(command).params):
        return None
    return accept("command", f"{command} {word}", longer)


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
        if arguments and (why := _no_argument(command, arguments) if command else _no_command(arguments)):
            raise why
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
