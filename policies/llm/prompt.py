"""What a question looks like on its way: sections of plain lines that can be read back, and the words around them.

A prompt is two messages. The system message holds general words and the rules of the table. The user message holds what
is fixed for the seat, then the record, which only grows at its end, then what is asked now: so the longest common
beginning of two prompts is long, and servers that keep what they have read need not read it again. The words of a question may
come before its sections, for the same reason.

A section is a heading `## name` and the value of the input of that name:

    > a text, line by line                      - an entry of a list           - code = sentence, of a dict of texts
    {"anything": "else, as JSON in one line"}   - {"or": "an entry of a list of such"}

Every line of a value begins with one of these signs, and no value holds a line break that is not one of its lines. So
no utterance can leave its line, end its section or begin another one. An input that is empty has no section.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from string import Formatter
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.envs.plugins import OpenTable

QUESTION: Final = re.compile(r"^# (?P<kind>\w+(?:\.\w+)+)(?: \((?P<language>\w+)\))?$", re.MULTILINE)
"""The heading of what is asked now."""
_SECTION: Final = re.compile(r"^## (\w+)$")
_DESCRIPTION: Final = re.compile(r"^- `\w+`.*\n?", re.MULTILINE)
"""A line of a template that says what a section holds."""
_BREAKS: Final = re.compile("[\x0b\x0c\r\x1c-\x1e\x85\u2028\u2029]")
"""What begins a new line in some reader, the line feed aside."""
_CODED: Final = '"{['
"""What the JSON of an entry begins with; entries in plain words begin otherwise."""
GAME: Final = "system"
"""Name of the general words for questions about a game; `plain` has those for all others."""
_FEW: Final = 12
_BRIEF: Final = 200
"""Most options, and most characters of options, that the shape of the answer lists; for more it refers to the list above."""


# -- values as lines -------------------------------------------------------------------------------------------


def section(name: str, value: Any, *, optional: bool = False) -> str:
    r"""An input as a section; empty for an empty one.

    >>> section("options", {"vote:1": "I approve the team."})
    '## options\n- vote:1 = I approve the team.\n'

    Args:
        name: Name of the input.
        value: A plain value, as JSON has them.
        optional: Whether it may be None too, so that an empty text or list must look different.
    """
    if value is None or (value in ("", [], {}) and not optional):
        return ""
    return f"## {name}\n" + "".join(f"{line}\n" for line in _lines(value))


def _lines(value: Any) -> list[str]:
    if isinstance(value, str) and value and not _BREAKS.search(value):
        return [f"> {line}" if line else ">" for line in value.split("\n")]
    if isinstance(value, dict) and value and all(map(_is_option, value.items())):
        return [f"- {code} = {sentence}" for code, sentence in value.items()]
    if isinstance(value, list) and not all(entry is None or isinstance(entry, bool | int | float) for entry in value):
        return [f"- {entry if isinstance(entry, str) and _is_plain(entry) else _json(entry)}" for entry in value]
    return [_json(value)]


def _is_option(pair: tuple[str, Any]) -> bool:
    code, sentence = pair
    return isinstance(sentence, str) and " = " not in code and all(map(_is_plain, pair))


def _is_plain(words: str) -> bool:
    return words != "" and words[0] not in _CODED and "\n" not in words and not _BREAKS.search(words)


def _json(value: Any) -> str:
    return _BREAKS.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def sections_in(text: str) -> dict[str, list[str]]:
    """The lines of each section of a text, by name; a section ends at the first line with another sign."""
    sections: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in text.split("\n"):
        heading = _SECTION.match(line)
        if heading:
            lines = sections.setdefault(heading[1], [])
        elif lines is not None and _is_value(line):
            lines.append(line)
        else:
            lines = None
    return sections


def _is_value(line: str) -> bool:
    return (
        line.startswith(("> ", "- ", *_CODED))
        or line == ">"
        or re.fullmatch(r"-?\d[\d.e+-]*|true|false", line) is not None
    )


def value_of(lines: Sequence[str], *, options: bool = False) -> Any:
    """The value that a section holds.

    Args:
        lines: Lines of the section.
        options: Whether it is a dict of texts.

    Raises:
        ValueError: The lines are of no section.
    """
    if not lines:
        raise ValueError("a section without lines")
    if lines[0].startswith(">"):
        return "\n".join(line[2:] for line in lines)
    if not lines[0].startswith("- "):
        return json.loads(lines[0])
    entries = [line[2:] for line in lines]
    if options:
        return dict(entry.split(" = ", 1) for entry in entries)
    return [json.loads(entry) if entry[:1] in _CODED else entry for entry in entries]


# -- words -----------------------------------------------------------------------------------------------------


PROMPTS: Final[OpenTable[Path]] = OpenTable("parlour.prompts", Path)
"""Name -> a folder of prompts that an installed package brings, laid out as the user's own (`Templates`), with `LANGUAGE/layout.json`
too for a language that parlour lacks."""


@dataclass(frozen=True)
class Templates:
    """Where the words of prompts come from: the user's own folder, then the files beside a question, then the folders of `PROMPTS`.

    The folder is laid out as `LANGUAGE/KIND.md`, such as `en/avalon_agent.act.md`; `en/system.md` replaces the general
    words of games, `en/plain.md` the general words of other questions. It may hold any of these files.
    """

    folder: str | None = None
    brief: bool = False
    """For a prompt that does not fit otherwise: parlour's own general words are one paragraph, and questions do not describe their
    sections."""

    def __post_init__(self) -> None:
        if self.folder is not None and not Path(self.folder).is_dir():
            raise ParlourError(
                f"prompts {self.folder!r} is not a folder; accepted: one with files such as en/chat.take_turn.md"
            )

    @property
    def called(self) -> str:
        """The user's folder in results: its name, and 16 hexadecimal digits over its prompts; empty where there is none.

        Two folders with the same prompts differ in the name alone.
        """
        if self.folder is None:
            return ""
        folder = Path(self.folder).resolve()
        digest = sha256()
        for path in sorted(folder.glob("*/*.md")):
            digest.update(f"{path.relative_to(folder).as_posix()}\0{_of_file(path)}\0".encode())
        return f"{folder.name} {digest.hexdigest()[:16]}"

    def system(self, language: str, general: str = GAME) -> str:
        """The general words with which a prompt begins, by their name (`Ask.general`)."""
        own = self.own(general, language)
        brief = layout(language)["brief"] if self.brief and general == GAME else ""
        return own or brief or _words(__package__ or "", language, general, general)

    def of(self, kind: str, language: str, package: str) -> str:
        """The template of a kind of question that lies in `package`. Raises `ParlourError` if there is none."""
        return self.own(kind, language) or _words(package, language, kind.rpartition(".")[2], kind)

    def own(self, kind: str, language: str) -> str | None:
        """The user's own template of a kind, or its general words (`system`); None if there is none."""
        return _of_file(Path(self.folder) / language / f"{kind}.md") if self.folder is not None else None


@cache
def _words(package: str, language: str, name: str, kind: str) -> str:
    """The words of a kind of question: the file `name` of its package, else those that another package brings."""
    file = resources.files(package).joinpath("prompts", language, f"{name}.md")
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError:
        brought = _brought(language, f"{kind}.md")
    if not brought:
        raise ParlourError(
            f"package {package!r} has no prompt {name!r} in language {language!r}; accepted: a file prompts/{language}/{name}.md"
        )
    return brought


def _brought(language: str, file: str) -> str:
    """A file of the folders in `PROMPTS`; empty if there is none. Raises `ParlourError` if there are more."""
    texts = {name: text for name, folder in PROMPTS.items() if (text := _of_file(folder / language / file))}
    if len(texts) > 1:
        raise ParlourError(
            f"prompt {language}/{file} is offered by {' and by '.join(sorted(texts))}; accepted: one of them"
        )
    return next(iter(texts.values()), "")


@cache
def _of_file(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() if path.is_file() else None
    except (OSError, ValueError) as error:
        raise ParlourError(
            f"prompt {str(path)!r} cannot be read ({type(error).__name__}); accepted: text in UTF-8"
        ) from None


def beside(module_file: str | None, language: str, name: str) -> str | None:
    """The template in the folder `prompts` beside a module that lies in no package; None if there is none."""
    return _of_file(Path(module_file).parent / "prompts" / language / f"{name}.md") if module_file else None


@cache
def layout(language: str) -> Mapping[str, str]:
    """The words between the sections, by purpose. Raises `ParlourError` for a language without them."""
    folder = resources.files(__package__ or "").joinpath("prompts")
    file = folder.joinpath(language, "layout.json")
    text = file.read_text(encoding="utf-8") if file.is_file() else _brought(language, "layout.json")
    if not text:
        known = sorted(path.name for path in folder.iterdir() if path.joinpath("layout.json").is_file())
        raise ParlourError(f"language {language!r} is not accepted; accepted: {', '.join(known)}")
    words: dict[str, str] = json.loads(text)
    return words


def fill(template: str, values: Mapping[str, Any]) -> str:
    r"""Put values of one line into the `{places}` of a template.

    >>> fill("You are {player}.", {"player": "player_2"})
    'You are player_2.'

    Raises:
        ParlourError: A place has no value, or a value has more than one line.
    """
    parts = []
    for literal, place, form, conversion in Formatter().parse(template):
        parts.append(literal)
        if place is None:
            continue
        if place not in values or form or conversion:
            raise ParlourError(f"place {{{place}}} of a template has no value; accepted: {', '.join(values)}")
        value = str(values[place])
        if value != "".join(value.splitlines()):
            raise ParlourError(f"place {{{place}}} of a template takes one line, not {value!r}")
        parts.append(value)
    return "".join(parts)


def without_descriptions(words: str) -> str:
    r"""The words of a question without the list that describes its sections.

    >>> without_descriptions("Speak now.\n\n- `events`: what has happened.\n- `options`: the claims.\n\nSpeak plainly.")
    'Speak now.\n\nSpeak plainly.'
    """
    return re.sub(r"\n{3,}", "\n\n", _DESCRIPTION.sub("", words)).strip()


# -- what the answer looks like --------------------------------------------------------------------------------


def shape(schema: Mapping[str, Any], language: str) -> str:
    """A JSON schema as people write down what they want: `{"why": <text>, "choice": <one of "vote:0", "vote:1">}`."""
    return _shape(schema, schema.get("$defs", {}), layout(language))


def _shape(part: Mapping[str, Any], defined: Mapping[str, Any], words: Mapping[str, str]) -> str:
    if "$ref" in part:
        return _shape(defined[part["$ref"].rpartition("/")[2]], defined, words)
    if "anyOf" in part:
        return words["or"].join(_shape(option, defined, words) for option in part["anyOf"])
    if "enum" in part or "const" in part:
        return _one_of(part.get("enum") or [part["const"]], words)
    if part.get("type") == "object":
        properties = part.get("properties", {})
        return (
            "{" + ", ".join(f'"{name}": {_shape(option, defined, words)}' for name, option in properties.items()) + "}"
        )
    if part.get("type") == "array":
        return f"[{_shape(part['items'], defined, words)}, …]{_how_many(part, words)}"
    return f"<{words[part.get('type', 'string')]}{_limits(part, words)}>"


def _one_of(values: Sequence[Any], words: Mapping[str, str]) -> str:
    named = ", ".join(json.dumps(value, ensure_ascii=False) for value in values)
    if len(values) > _FEW or len(named) > _BRIEF:
        return f"<{words['one_above']}>"
    return f"<{words['one_of']} {named}>"


def _limits(part: Mapping[str, Any], words: Mapping[str, str]) -> str:
    low, high = part.get("minimum"), part.get("maximum")
    return "" if low is None or high is None else fill(words["from_to"], {"low": f"{low:g}", "high": f"{high:g}"})


def _how_many(part: Mapping[str, Any], words: Mapping[str, str]) -> str:
    low, high = part.get("minItems"), part.get("maxItems")
    if low is None or low != high:
        return ""
    return words["entry"] if low == 1 else fill(words["entries"], {"number": low})
