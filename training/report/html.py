r"""Reports as pages: Markdown becomes HTML in which tables sort and pictures are within the file. All texts are escaped.

Markdown is read by markdown-it-py (CommonMark and tables), without HTML; pictures are read from the report's own folder alone.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from parlour.envs.terminal import printable_lines
from parlour.policies.files import atomic_write
from parlour.training.report.page import REPORT, Page, look, render
from parlour.training.report.result_table import ResultTable

MARKDOWN: Final = "report.md"
HTML: Final = "report.html"
_NUMBER: Final = re.compile(r"[-+\u2212]?\$?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
_TYPES: Final = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}
_OTHER_SCHEME: Final = re.compile(r"(?!https?://)[A-Za-z][A-Za-z0-9+.-]*:|//")
"""Addresses that are not linked: only files next to the page and the web are."""


def of_markdown(text: str, folder: Path) -> Page:
    """A report as a page; pictures are read from `folder`, a missing picture is replaced by its caption."""
    tokens = _READER.parse(printable_lines(text))
    at = next((k for k, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h1"), None)
    return page_of("" if at is None else tokens[at + 1].content, _blocks(tokens, folder))


def page_of(title: str, parts: Iterable[str]) -> Page:
    """A page of pieces of HTML that their writer has escaped."""
    body = '<main class="page narrow report">\n' + "\n".join(filter(None, parts)) + "\n</main>"
    return Page(title=printable_lines(title), body=body, scripts=[look(REPORT)])


def write_report(folder: Path, text: str) -> None:
    """Write a report as a page, and the same as Markdown beside it; its pictures are there already.

    Markdown comes last: where it stands, the run is complete.
    """
    atomic_write(folder / HTML, render(of_markdown(text, folder)))
    atomic_write(folder / MARKDOWN, text)


def opening(title: str, verdict: str, *pictures: str) -> list[str]:
    """How a report in Markdown begins: the title, the verdict as a quotation, and pictures, such as `![Curve](curve.png)`."""
    return [f"# {title}", "", f"> {verdict}", "", *(line for picture in pictures for line in (picture, ""))]


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


# -- Markdown to HTML ------------------------------------------------------------------------------------------


_READER: Final = MarkdownIt("commonmark", {"html": False}).enable("table")


class _Renderer(RendererHTML):
    """Of a picture within a line its text alone."""

    def image(self, tokens: Sequence[Token], idx: int, options: object, env: object) -> str:
        return escaped(tokens[idx].content)


_RENDERER: Final = _Renderer(_READER)
_READER.validateLink = lambda url: not _OTHER_SCHEME.match(url)  # type: ignore[method-assign]


def _blocks(tokens: Sequence[Token], folder: Path) -> Iterator[str]:
    """The blocks as HTML: tables and pictures in our form, all else as markdown-it renders it."""
    at = 0
    while at < len(tokens):
        end = _end(tokens, at)
        block = tokens[at:end]
        if block[0].type == "table_open":
            yield _markdown_table(block)
        elif pictures := _pictures(block):
            yield from (_picture(image, folder) for image in pictures)
        else:
            yield _RENDERER.render(block, _READER.options, {}).rstrip("\n")
        at = end


def _pictures(block: Sequence[Token]) -> list[Token]:
    """The pictures of a paragraph that holds nothing else."""
    children = [child for token in block for child in token.children or () if child.type != "softbreak"]
    return children if {child.type for child in children} == {"image"} else []


def _end(tokens: Sequence[Token], at: int) -> int:
    """Where the block that begins at a token ends."""
    depth = 0
    for end in range(at, len(tokens)):
        depth += tokens[end].nesting
        if depth == 0:
            return end + 1
    return len(tokens)


def _markdown_table(block: Sequence[Token]) -> str:
    rows: list[list[str]] = []
    for token in block:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_RENDERER.renderInline(token.children or [], _READER.options, {}))
    return _table(rows[0], rows[1:])


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


def _picture(image: Token, folder: Path) -> str:
    """A picture of the report's own folder, within the page; no other file is read."""
    path = (folder / str(image.attrs["src"])).resolve()
    if not path.is_relative_to(folder.resolve()) or path.suffix not in _TYPES or not path.is_file():
        return f"<figure><figcaption>{escaped(image.content)}</figcaption></figure>"
    return picture_html(path, image.content)
