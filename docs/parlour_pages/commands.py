"""A page for each command of `parlour`, and one for each trainer, from the definition that `--help` shows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial
from typing import Any

import typer
from parlour.training.cli import COMMANDS, GROUPS, app
from rich.text import Text

from parlour_pages.markdown import code, escaped, fence, table

READ_ON = {
    "train seat": ("howto/selfplay", "explanation/strength"),
    "train selfplay": ("howto/selfplay", "explanation/selfplay", "explanation/experts"),
    "train habits": ("explanation/habits",),
    "train clone": ("explanation/clones",),
    "train grace": ("howto/mediators", "howto/corpora", "howto/retrievers"),
    "train gratr-trust": ("explanation/dials",),
    "train questum": ("explanation/questum",),
    "arena": ("explanation/arena",),
    "benchmark": ("howto/benchmark", "howto/models"),
    "serve": ("howto/models",),
    "import avalon": ("howto/records",),
    "prompts show": ("howto/questions", "howto/models"),
}
"""Command -> pages that tell more."""


def pages() -> dict[str, str]:
    """`NAME.md` for each command, and `index.md`."""
    made = {f"{_file(words)}.md": _page(words, f"parlour {words}") for words in COMMANDS}
    return {**made, "index.md": _index()}


def trainer_pages() -> dict[str, str]:
    """`NAME.md` for each trainer, and `index.md`."""
    names = [words for words in COMMANDS if words.startswith("train ")]
    made = {f"{_file(words)}.md": _trainer(words) for words in names}
    listed = table(("trainer", "what it does"), ((f"[{w}]({_file(w)}.md)", _told(w)[0]) for w in names))
    entries = "\n".join(_file(words) for words in names)
    text = "Each trainer takes its settings from one frozen dataclass, is seeded, and goes on from its last checkpoint after a kill."
    return {**made, "index.md": f"# Trainers\n\n{text}\n\n{listed}\n{_toctree(entries)}"}


def _file(words: str) -> str:
    return words.replace(" ", "-")


_parlour = cache(partial(typer.main.get_command, app()))


def _command(words: str) -> Any:
    command: Any = _parlour()
    for word in words.split():
        command = command.commands[word]
    return command


def _told(words: str) -> tuple[str, str, str]:
    """Its first sentence, the rest of its help, and its example."""
    plain = Text.from_markup(_command(words).help or "").plain
    told, _, example = plain.partition("Example: ")
    first, _, rest = told.strip().partition("\n\n")
    return " ".join(first.split()), rest.strip(), example.strip()


def _page(words: str, title: str) -> str:
    first, rest, example = _told(words)
    parts = [
        f"# {title}",
        escaped(first),
        escaped(rest),
        _usage(words),
        fence(example, "console"),
        _options(words),
        _more(words),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _trainer(words: str) -> str:
    page = _page(words, words)
    return page + f"\nThe command's own page: [parlour {words}](../commands/{_file(words)}.md).\n"


def _usage(words: str) -> str:
    named = [param.name for param in _command(words).params if param.param_type_name == "argument"]
    return fence(" ".join(["parlour", words, *(name.upper() for name in named), "[OPTIONS]"]), "console")


def _options(words: str) -> str:
    rows = [_row(param) for param in _command(words).params]
    return table(("option", "default", "what it is"), rows) if rows else ""


def _row(one: Any) -> tuple[str, str, str]:
    names = one.opts if one.param_type_name == "option" else [one.name.upper()]
    shown = ", ".join(code(name) for name in [*names, *one.secondary_opts])
    value = f" {code(one.metavar)}" if one.metavar else ""
    rare = ", rare" if getattr(one, "hidden", False) else ""
    return shown + value + rare, _default(one), escaped(Text.from_markup(one.help or "").plain)


def _default(one: Any) -> str:
    if one.required:
        return "required"
    if isinstance(one.show_default, str):
        return escaped(one.show_default)
    if one.default is None or one.default in ((), ""):
        return "none"
    if isinstance(one.default, bool):
        return "on" if one.default else "off"
    values = one.default if isinstance(one.default, tuple | list) else [one.default]
    return ", ".join(code(value) for value in values)


def _more(words: str) -> str:
    found = READ_ON.get(words, ())
    return "More: " + ", ".join(f"[](../../{name}.md)" for name in found) + "." if found else ""


def _index() -> str:
    parts = [
        "# Command line",
        "`parlour COMMAND --help` shows what these pages are made from, without the options marked as rare. All of them are accepted on the "
        "command line, and in a TOML file behind `--config`, under their names without `--`. A trainer leaves such a file in its run "
        "directory: `config.toml`. Errors are one line, with exit code 2.",
    ]
    for group, told in GROUPS.items():
        own = [words for words in COMMANDS if words.rpartition(" ")[0] == group]
        rows = [(f"[parlour {words}]({_file(words)}.md)", escaped(_told(words)[0])) for words in own]
        parts += [f"## parlour {group}".rstrip(), escaped(told), table(("command", "what it does"), rows)]
    return "\n\n".join([*parts, _toctree("\n".join(_file(words) for words in COMMANDS))])


def _toctree(entries: str, options: Iterable[str] = (":hidden:",)) -> str:
    return "```{toctree}\n" + "\n".join(options) + f"\n\n{entries}\n```\n"
