"""Tables and texts in MyST Markdown. An unchanged page keeps its time, so Sphinx does not build it again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_SECTION = re.compile(r"(Args|Returns|Raises|Yields|Attributes|Note|Example|Examples):")
_NAMED = ("Args", "Raises", "Attributes")
HEADINGS = {
    "Args": "Arguments",
    "Attributes": "Attributes",
    "Raises": "Errors",
    "Yields": "Yields",
    "Returns": "Returns",
}


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; line breaks and bars in cells are kept out of its way."""
    lines = [headings, ["---"] * len(headings), *rows]
    cells = [[" ".join(str(cell).split()).replace("\\|", "|").replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells) + "\n"


def code(value: object) -> str:
    """A value as inline code; nothing for an empty one."""
    text = " ".join(str(value).split())
    mark = "``" if "`" in text else "`"
    return f"{mark}{text}{mark}" if text else ""


def fence(text: str, language: str = "text") -> str:
    """A block of code, with a fence that does not occur in it."""
    mark = "```"
    while mark in text:
        mark += "`"
    return f"{mark}{language}\n{text.rstrip()}\n{mark}\n"


def escaped(text: str) -> str:
    """Prose with `<` and `*` escaped outside inline code."""
    parts, at = [], 0
    for match in _CODE.finditer(text):
        parts += [_plain(text[at : match.start()]), match[0]]
        at = match.end()
    return "".join([*parts, _plain(text[at:])])


def _plain(text: str) -> str:
    return re.sub(r"(?<!\\)([<*])", r"\\\1", text)


def read_next(pages: Sequence[str]) -> str:
    """Links to pages to read next; empty without any."""
    return f"More: {', '.join(f'[](../../{name}.md)' for name in pages)}." if pages else ""


def of_docstring(doc: str) -> str:
    """A docstring in Google style as Markdown: sections become lists, doctests and indented lines blocks of code."""
    plain = re.sub(r"\[bold\](.*?)\[/bold\]", r"`\1`", doc.strip("\n"))  # the command line's emphasis
    return "\n\n".join(_block(lines) for lines in _blocks(plain.splitlines())).strip()


def summary(doc: str) -> str:
    """The first sentence of a docstring, or its first paragraph if that is shorter."""
    first = " ".join(doc.strip().split("\n\n")[0].split())
    match = re.match(r"(.*?[.?!])(?= [A-Z`]|$)", first)
    return escaped(match[1] if match else first)


def _blocks(lines: Sequence[str]) -> Iterable[list[str]]:
    """Blocks of a docstring: paragraphs, sections with their indented lines, indented blocks with their gaps."""
    block: list[str] = []
    for line in [*lines, ""]:
        inside = bool(block) and (_SECTION.fullmatch(block[0]) or block[0].startswith(" "))
        if inside and (line.startswith(" ") or not line.strip()):
            block.append(line)
        elif inside or not line.strip() or _SECTION.fullmatch(line):
            if block:
                yield block
            block = [line] if line.strip() else []
        else:
            block.append(line)
    if block:
        yield block


def _block(lines: list[str]) -> str:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    head = _SECTION.fullmatch(lines[0])
    if head:
        return _section(head[1], lines[1:])
    if lines[0].startswith(" "):
        return fence("\n".join(line[4:] for line in lines))
    at = next((k for k, line in enumerate(lines) if line.startswith(">>>")), None)
    if at is not None:
        before = _block(lines[:at]) + "\n\n" if at else ""
        return before + fence("\n".join(lines[at:]), "pycon")
    if len(lines) > 1 and re.fullmatch(r"[-=]{3,}", lines[1]):
        rest = "\n\n" + _block(lines[2:]) if len(lines) > 2 else ""
        return f"**{lines[0]}**{rest}"
    if lines[0].startswith("|"):
        return "\n".join(lines)
    return escaped(
        "\n".join(re.sub(r"^#", r"\\#", line) if not line.startswith("* ") else f"-{line[1:]}" for line in lines)
    )


def _section(name: str, lines: Sequence[str]) -> str:
    text = "\n".join(line[4:] for line in lines)
    if name not in _NAMED:
        body = of_docstring(text)
        return f"**{HEADINGS.get(name, name)}**\n\n{body}"
    items: list[str] = []
    for line in text.splitlines():
        match = re.match(r"(\*{0,2}[\w.]+)(?: \([^)]*\))?: (.*)", line)
        if match and not line.startswith(" "):
            items.append(f"- {code(match[1])}: {escaped(match[2])}")
        elif items and line.strip():
            items[-1] += " " + escaped(line.strip())
        elif line.strip():
            items.append(f"- {escaped(line)}")
    return f"**{HEADINGS[name]}**\n\n" + "\n".join(items)


def write_pages(folder: Path, pages: Mapping[str, str]) -> None:
    """Write the files of a folder, and remove all other files that an earlier build left there."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
