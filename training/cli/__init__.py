"""The command line: `parlour`. One file for each group of commands.

Whatever a caller gets wrong is told in one line on standard error, with exit code 2.
"""

from __future__ import annotations

import sys
from typing import Any, Final

import typer
from parlour.envs.core import ParlourError
from parlour.training.cli import cases, demo, games, measure, metrics, murder_mystery, reproduce, serve, social, train

# The class of all errors in a command's words, which typer takes from click or brings along, as its version has it.
_USAGE: Final[type[Exception]] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    help="Games played by talking: play them, record them, measure and train players.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (games, measure, metrics, demo, serve, social, reproduce):
    group.add_to(app)
app.add_typer(train.app, name="train")
app.add_typer(cases.app, name="cases")
app.add_typer(murder_mystery.app, name="mystery")
app.add_typer(measure.import_app, name="import")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; ends the process."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    try:
        code = app(args=arguments or ["--help"], prog_name="parlour", standalone_mode=False)
    except _USAGE as error:
        said: Any = error
        return _refuse(said.format_message())
    except ParlourError as error:
        return _refuse(str(error))
    except (typer.Abort, KeyboardInterrupt, EOFError):
        return _refuse("stopped", 130)
    except BrokenPipeError:
        return 0
    return code if isinstance(code, int) else 0


def _refuse(why: str, code: int = 2) -> int:
    if why.strip():
        print(f"parlour: {' '.join(why.split())}", file=sys.stderr)  # noqa: T201
    return code
