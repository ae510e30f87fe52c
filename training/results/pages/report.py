r"""Reports as pages: headings, paragraphs, lists, tables that sort, pictures within the file, also from Markdown.

`of_markdown` reads the Markdown that the reports of parlour are written in, and no more of it: headings, paragraphs,
lists, tables, pictures on a line of their own, fenced code; links, `code` and **strong** in a line. All texts are escaped.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from parlour.envs.terminal import printable_lines
from parlour.policies.files import atomic_write
from parlour.training.results.pages.page import REPORT, Page, look, render

MARKDOWN: Final = "report.md"
HTML: Final = "report.html"
_LIST: Final = re.compile(r"\s*(?:[-*]|\d+\.) +(?P<text>.*)")
_LIST_BEGINS: Final = re.compile(r"\s*(?:[-*]|1\.) +.*")
_PICTURE: Final = re.compile(r"!\[(?P<caption>[^\]]*)\]\((?P<path>[^)]+)\)")
_ROW: Final = re.compile(r"\s*\|.*\|\s*")
_RULE: Final = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*")
_INLINE: Final = re.compile(r"\[(?P<label>[^\]]+)\]\((?P<link>[^)\s]+)\)|`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*")
_NUMBER: Final = re.compile(r"[-+\u2212]?\$?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
_TYPES: Final = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}


class ReportPart(NamedTuple):
    """One part of a report: `kind` is h1 to h4, p, note, li, code, table or picture; texts are not yet escaped."""

    kind: str
    text: str = ""
    """The text; of a table and of a picture the caption."""
    rows: Sequence[Sequence[str]] = ()
    """Of a table, its headings first."""
    path: Path | None = None
    """Of a picture."""


@dataclass(frozen=True)
class EstimateLine:
    """One line of a picture of estimates: a name, the estimate and its interval, all on the scale of the picture."""

    name: str
    value: float
    low: float
    high: float
    note: str = ""


def of_markdown(text: str, folder: Path, title: str = "") -> Page:
    """A report as a page; pictures are read from `folder`, and one that is not there is named by its caption alone."""
    blocks = list(_blocks(text.splitlines(), folder))
    found = next((block.text for block in blocks if block.kind == "h1"), title)
    return of_blocks(title or found, blocks)


def of_blocks(title: str, blocks: Iterable[ReportPart], before: str = "") -> Page:
    """A page of blocks. `before` is HTML, escaped by its writer, that follows the first heading."""
    made = list(blocks)
    first = 1 if made and made[0].kind == "h1" else 0
    inside = [*_listed(made[:first]), before, *_listed(made[first:])]
    body = '<main class="page narrow report">\n' + "\n".join(filter(None, inside)) + "\n</main>"
    return Page(title=printable_lines(title), body=body, scripts=[look(REPORT)])


def write_report(folder: Path, text: str) -> None:
    """Write a report as a page, and the same as Markdown beside it; its pictures are there already.

    Markdown comes last: where it stands, the run is complete.
    """
    atomic_write(folder / HTML, render(of_markdown(text, folder)))
    atomic_write(folder / MARKDOWN, text)


def intervals(label: str, rows: Sequence[EstimateLine], low: float = 0.0, high: float = 1.0) -> str:
    """Estimates with their intervals as a picture in SVG, within a `figure`."""
    left, width, step = 190, 420, 26
    height = step * len(rows) + 34

    def across(value: float) -> float:
        return round(left + width * (min(high, max(low, value)) - low) / (high - low), 1)

    parts = [f'<svg viewBox="0 0 {left + width + 90} {height}" role="img" aria-label="{_safe(label)}">']
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, told = across(low + share * (high - low)), f"{low + share * (high - low):g}"
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="6" y2="{height - 24}"/>')
        parts.append(f'<text x="{x}" y="{height - 8}" text-anchor="middle">{told}</text>')
    for number, one in enumerate(rows):
        y, name = 20 + step * number, one.name if len(one.name) <= 26 else one.name[:25] + "\u2026"
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{_safe(name)}</text>')
        parts.append(f'<line class="series s0" x1="{across(one.low)}" x2="{across(one.high)}" y1="{y}" y2="{y}"/>')
        parts.append(f'<circle class="dot" cx="{across(one.value)}" cy="{y}" r="4.5"/>')
        parts.append(f'<text x="{left + width + 8}" y="{y + 4}">{_safe(one.note)}</text>')
    return f'<figure class="chart">{"".join(parts)}</svg><figcaption>{_safe(label)}</figcaption></figure>'


def _safe(text: str) -> str:
    return html.escape(printable_lines(text))


# -- Markdown to blocks ----------------------------------------------------------------------------------------


def _blocks(lines: list[str], folder: Path) -> Iterator[ReportPart]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            end = next((n for n in range(at + 1, len(lines)) if lines[n].startswith("```")), len(lines))
            yield ReportPart("code", "\n".join(lines[at + 1 : end]))
            at = end + 1
        elif _ROW.fullmatch(line):
            end = next((n for n in range(at, len(lines)) if not _ROW.fullmatch(lines[n])), len(lines))
            yield ReportPart("table", rows=[_cells(row) for row in lines[at:end] if not _RULE.fullmatch(row)])
            at = end
        elif found := _PICTURE.fullmatch(line.strip()):
            yield ReportPart("picture", found["caption"], path=_within(folder, found["path"]))
            at += 1
        elif heading := re.fullmatch(r"(#{1,4}) +(.*)", line):
            yield ReportPart(f"h{len(heading[1])}", heading[2])
            at += 1
        elif item := _LIST.fullmatch(line):
            yield ReportPart("li", item["text"])
            at += 1
        elif line.strip():
            end = next((n for n in range(at + 1, len(lines)) if not _continues(lines[n])), len(lines))
            yield ReportPart("p", " ".join(one.strip() for one in lines[at:end]))
            at = end
        else:
            at += 1


def _within(folder: Path, path: str) -> Path | None:
    """A picture of the report's own folder; no other file is read."""
    whole = (folder / path).resolve()
    return whole if whole.is_relative_to(folder.resolve()) else None


def _continues(line: str) -> bool:
    """Whether a line belongs to the paragraph before it; a wrapped "0. Next sentence" does (CommonMark 0.31, 5.3)."""
    begins = line.startswith(("#", "```")) or _ROW.fullmatch(line) or _LIST_BEGINS.fullmatch(line)
    return bool(line.strip()) and not begins and not _PICTURE.fullmatch(line.strip())


def _cells(row: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip()[1:-1])]


# -- blocks to HTML --------------------------------------------------------------------------------------------


def _listed(blocks: Sequence[ReportPart]) -> Iterator[str]:
    """The blocks as HTML, items of lists together."""
    inside = False
    for block in blocks:
        if (block.kind == "li") != inside:
            inside = not inside
            yield "<ul>" if inside else "</ul>"
        yield _html(block)
    if inside:
        yield "</ul>"


def _html(block: ReportPart) -> str:
    match block.kind:
        case "table":
            return _table(block)
        case "picture":
            return _picture(block)
        case "code":
            return f'<pre class="mono">{_safe(block.text)}</pre>'
        case "note":
            return f'<p class="note">{_inline(block.text)}</p>'
        case _:
            return f"<{block.kind}>{_inline(block.text)}</{block.kind}>"


def _inline(text: str) -> str:
    """A line with its links, code and strong words; only links to files beside the page and to the web are links."""
    parts, last = [], 0
    for found in _INLINE.finditer(text):
        parts += [_safe(text[last : found.start()]), _marked(found)]
        last = found.end()
    return "".join([*parts, _safe(text[last:])])


def _marked(found: re.Match[str]) -> str:
    if found["code"] is not None:
        return f"<code>{_safe(found['code'])}</code>"
    if found["strong"] is not None:
        return f"<strong>{_safe(found['strong'])}</strong>"
    link = found["link"]
    if not link.startswith(("https://", "http://")) and re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//", link):
        return _safe(found[0])
    return f'<a href="{_safe(link)}">{_safe(found["label"])}</a>'


def _table(block: ReportPart) -> str:
    headings, rows = block.rows[0], block.rows[1:]
    numbers = [all(_key(row[at]) is not None for row in rows if at < len(row) and row[at].strip(" -\u2013")) for at in
               range(len(headings))]  # fmt: skip
    kinds = [' class="number"' if number and rows else "" for number in numbers]
    heads = "".join(f'<th scope="col"{kind}>{_inline(text)}</th>' for text, kind in zip(headings, kinds, strict=True))
    body = "".join(f"<tr>{''.join(map(_cell, row, kinds))}</tr>\n" for row in rows)
    caption = f"<caption>{_inline(block.text)}</caption>" if block.text else ""
    label = _safe(block.text or ", ".join(headings))
    region = f'<div class="table" tabindex="0" role="region" aria-label="{label}">'
    return f'{region}<table class="sorts">{caption}<thead><tr>{heads}</tr></thead><tbody>\n{body}</tbody></table></div>'


def _cell(text: str, kind: str) -> str:
    key = _key(text)
    told = f' data-key="{key:g}"' if key is not None else ' data-key=""' if not text.strip(" -\u2013") else ""
    return f"<td{kind}{told}><bdi>{_inline(text)}</bdi></td>"


def _key(text: str) -> float | None:
    """The number that a cell begins with, by which it is sorted; None if it begins with none.

    >>> _key("50.0%  [40.1%, 59.9%]  n=100"), _key("+3.1 points"), _key("1,204"), _key("heuristic")
    (50.0, 3.1, 1204.0, None)
    """
    found = _NUMBER.match(text.strip())
    return float(found[0].replace(",", "").replace("$", "").replace("\u2212", "-")) if found else None


def _picture(block: ReportPart) -> str:
    caption = f"<figcaption>{_inline(block.text)}</figcaption>" if block.text else ""
    if block.path is None or block.path.suffix not in _TYPES or not block.path.is_file():
        return f"<figure>{caption}</figure>"
    content = base64.b64encode(block.path.read_bytes()).decode()
    source = f"data:{_TYPES[block.path.suffix]};base64,{content}"
    return f'<figure><img alt="{_safe(block.text) or "picture"}" src="{source}">{caption}</figure>'
