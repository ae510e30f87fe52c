"""Pieces of pages: tables that sort, pictures within the file, lists and links. All texts are escaped."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from parlour.envs.common.terminal import printable_lines
from parlour.training.report.page import REPORT, Page, look
from parlour.training.report.result_table import ResultTable

_NUMBER: Final = re.compile(r"[-+\u2212]?\$?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
_TYPES: Final = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}


def page_of(title: str, parts: Iterable[str]) -> Page:
    """A page of pieces of HTML that their writer has escaped."""
    body = '<main class="page narrow report">\n' + "\n".join(filter(None, parts)) + "\n</main>"
    return Page(title=printable_lines(title), body=body, scripts=[look(REPORT)])


def text_html(tag: str, text: str, kind: str = "") -> str:
    """One element with a text, which is escaped here."""
    return f"<{tag}{f' class={kind!r}' if kind else ''}>{escaped(text)}</{tag}>"


def bullets_html(sentences: Iterable[str]) -> str:
    """A list of sentences."""
    return "<ul>\n" + "\n".join(text_html("li", sentence) for sentence in sentences) + "\n</ul>"


def link_html(address: str, text: str) -> str:
    """A paragraph with a link to a file beside the page."""
    return f'<p><a href="{escaped(address)}">{escaped(text)}</a></p>'


def picture_html(path: Path, caption: str) -> str:
    """A picture, which is put into the page, with its caption."""
    source = f"data:{_TYPES[path.suffix]};base64,{base64.b64encode(path.read_bytes()).decode()}"
    text = escaped(caption)
    return f'<figure><img alt="{text or "picture"}" src="{source}"><figcaption>{text}</figcaption></figure>'


def table_html(table: ResultTable) -> str:
    """A table that sorts, with its title above, where it does not scroll away, and its note below."""
    cells = [tuple(map(escaped, row)) for row in table.texts()]
    note = [text_html("p", table.note, "note")] if table.note else []
    return "\n".join([_table(tuple(map(escaped, table.headings)), cells, escaped(table.title)), *note])


def escaped(text: str) -> str:
    """A text for HTML: printable, nothing in it ends an element."""
    return html.escape(printable_lines(text))


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """A table of cells in HTML."""
    columns = [[row[k] for row in rows if k < len(row) and row[k].strip(" -\u2013")] for k in range(len(headings))]
    kinds = [' class="number"' if rows and all(_key(cell) is not None for cell in column) else "" for column in columns]
    heads = "".join(f'<th scope="col"{kind}>{text}</th>' for text, kind in zip(headings, kinds, strict=True))
    body = "".join(f"<tr>{''.join(map(_cell, row, kinds))}</tr>\n" for row in rows)
    label = re.sub(r"<[^>]*>", "", caption or ", ".join(headings))
    region = f'<div class="table" tabindex="0" role="region" aria-label="{label}">'
    titled = f'<p class="caption">{caption}</p>\n' if caption else ""
    return f'{titled}{region}<table class="sorts"><thead><tr>{heads}</tr></thead><tbody>\n{body}</tbody></table></div>'


def _cell(content: str, kind: str) -> str:
    key = _key(content)
    data = f' data-key="{key:g}"' if key is not None else ' data-key=""' if not content.strip(" -\u2013") else ""
    return f"<td{kind}{data}><bdi>{content}</bdi></td>"


def _key(text: str) -> float | None:
    """The number that a cell begins with, by which it is sorted; None if it begins with none.

    >>> _key("50.0%  [40.1%, 59.9%]  n=100"), _key("+3.1 points"), _key("1,204"), _key("heuristic")
    (50.0, 3.1, 1204.0, None)
    """
    number = _NUMBER.match(text.strip())
    return float(number[0].replace(",", "").replace("$", "").replace("\u2212", "-")) if number else None
