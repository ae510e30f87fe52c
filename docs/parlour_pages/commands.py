"""A page for each command of `parlour` and for each trainer, from the definitions behind `--help`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from parlour.training.cli import COMMANDS, GROUPS, command_of
from rich.text import Text

from parlour_pages.markdown import code, escaped, fence, read_next, table

READ_ON = {
    "train seat": ("howto/selfplay", "explanation/strength"),
    "train selfplay": ("howto/selfplay", "explanation/selfplay", "explanation/experts"),
    "train grace": ("howto/mediators", "howto/corpora", "howto/retrievers"),
    "train gratr-trust": ("explanation/dials",),
    "train questum": ("explanation/questum",),
    "arena": ("explanation/arena",),
    "serve endpoint": ("howto/models",),
    "import avalon": ("howto/records",),
    "show question": ("howto/questions", "howto/models"),
}
"""Command -> pages to read next."""


def pages() -> dict[str, str]:
    """`NAME.md` for each command, and `index.md`."""
    made = {f"{_file(words)}.md": _page(words, f"parlour {words}") for words in COMMANDS}
    return {**made, "index.md": _index()}


def trainer_pages() -> dict[str, str]:
    """`NAME.md` for each trainer, and `index.md`."""
    names = [words for words in COMMANDS if words.startswith("train ")]
    reference = "\nReference: [parlour {}](../commands/{}.md).\n"
    made = {f"{_file(words)}.md": _page(words, words) + reference.format(words, _file(words)) for words in names}
    listed = table(("trainer", "what it does"), ((f"[{w}]({_file(w)}.md)", _help_of(w)[0]) for w in names))
    text = "A frozen dataclass defines the settings of each trainer. Trainers are seeded, and resume from the last checkpoint after a kill."
    return {**made, "index.md": f"# Trainers\n\n{text}\n\n{listed}\n{_toctree(names)}"}


def _file(words: str) -> str:
    return words.replace(" ", "-")


_command = cache(command_of)


def _help_of(words: str) -> tuple[str, str, str]:
    """Its first sentence, the rest of its help, and its example."""
    plain = Text.from_markup(_command(words).help or "").plain
    text, _, example = plain.partition("Example: ")
    first, _, rest = text.strip().partition("\n\n")
    return " ".join(first.split()), rest.strip(), example.strip()


def _page(words: str, title: str) -> str:
    first, rest, example = _help_of(words)
    params = _command(words).params
    arguments = [param.name.upper() for param in params if param.param_type_name == "argument"]
    parts = [
        f"# {title}",
        escaped(first),
        escaped(rest),
        fence(" ".join(["parlour", words, *arguments, "[OPTIONS]"]), "console"),
        fence(example, "console"),
        table(("option", "default", "what it is"), map(_row, params)) if params else "",
        read_next(READ_ON.get(words, ())),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _row(param: Any) -> tuple[str, str, str]:
    names = param.opts if param.param_type_name == "option" else [param.name.upper()]
    shown = ", ".join(code(name) for name in [*names, *param.secondary_opts])
    value = f" {code(param.metavar)}" if param.metavar else ""
    return shown + value, _default(param), escaped(Text.from_markup(param.help or "").plain)


def _default(param: Any) -> str:
    if param.required:
        return "required"
    if isinstance(param.show_default, str):
        return escaped(param.show_default)
    if param.default is None or param.default in ((), ""):
        return "none"
    if isinstance(param.default, bool):
        return "on" if param.default else "off"
    values = param.default if isinstance(param.default, tuple | list) else [param.default]
    return ", ".join(code(value) for value in values)


def _index() -> str:
    parts = [
        "# Command line",
        "`parlour COMMAND --help-all` shows the same options, `--help` those that are used most. You can also put every option into a TOML file for "
        "`--config`, under its name without `--`. A trainer writes its settings to `config.toml` in the run directory. Errors are one "
        "line, with exit code 2.",
    ]
    for group, about in GROUPS.items():
        first = {words: words.split()[0] for words in COMMANDS}
        own = [words for words in COMMANDS if (first[words] if first[words] in GROUPS else "") == group]
        rows = [(f"[parlour {words}]({_file(words)}.md)", escaped(_help_of(words)[0])) for words in own]
        parts += [f"## parlour {group}".rstrip(), escaped(about), table(("command", "what it does"), rows)]
    return "\n\n".join([*parts, _toctree(COMMANDS)])


def _toctree(names: Iterable[str]) -> str:
    return "```{toctree}\n:hidden:\n\n" + "\n".join(map(_file, names)) + "\n```\n"
