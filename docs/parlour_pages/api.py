"""autodoc2's pages of the modules, with docstrings in Google style turned into Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from autodoc2.render.myst_ import MystRenderer

_SECTION = re.compile(r"^(Args|Raises|Returns):\n((?:    .*(?:\n|\Z)|\n(?=    ))+)", re.MULTILINE)
_DOCTEST = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
_MODULES = re.compile(r"## Submodules\n\n```\{toctree\}\n(?::.*\n)+\n((?:.+\n)+)```")
_PLAIN = re.compile(r"[\w., '+-]{1,60}")
_VALUE = re.compile(r"\n:value: (?:>\n.*|<.*)")
_LITERAL = re.compile(r"\bLiteral\[([^\[\]]*)\]")


def markdown(doc: str) -> str:
    """A docstring with its sections as lists and its doctests as blocks of code."""
    listed = _SECTION.sub(_as_list, doc.replace("[bold]", "`").replace("[/bold]", "`"))
    return _DOCTEST.sub(r"~~~pycon\n\g<0>\n~~~", listed).strip()


def _as_list(section: re.Match[str]) -> str:
    items = re.sub(r"^ {4}(\S[^:\n]*): ", r"- `\1`: ", section[2], flags=re.MULTILINE)
    return f"**{section[1]}**\n\n{re.sub('^ +', '  ', items, flags=re.MULTILINE)}"


class ApiRenderer(MystRenderer):
    """Docstrings stand in the page: autodoc2's directive would parse each as a document, which is slow."""

    def show_docstring(self, item: Any) -> bool:
        return False

    def render_item(self, full_name: str) -> Iterable[str]:
        lines, item = list(super().render_item(full_name)), self.get_item(full_name)
        valued = item is not None and item["type"] in ("data", "attribute")
        if valued and (item["value"] is None or not _PLAIN.fullmatch(str(item["value"]))):
            lines = _VALUE.sub("", "\n".join(lines)).split("\n")
        if item is None or not item["doc"].strip() or item.get("doc_inherited"):
            return lines
        opened = (k for k, line in enumerate(lines) if line.startswith("```{py:module}"))
        at = next(opened, None) if item["type"] in ("package", "module") else lines.index("")
        return [*lines[:at], "", markdown(item["doc"]), "", *lines[at:]]

    def render_package(self, item: Any) -> Iterable[str]:
        """Modules are linked: in the table of contents, each page of the site would list all of them."""
        page = _MODULES.sub(self._links, "\n".join(super().render_package(item)))
        orphan = "---\norphan: true\n---\n\n" if item["type"] == "module" and page[0] == "#" else ""
        return (orphan + page).split("\n")

    def _links(self, modules: re.Match[str]) -> str:
        lines = (self._line(name, f"[{name}]({name}.md)") for name in modules[1].split())
        return "\n".join(["## Modules", "", *lines])

    def generate_summary(self, objects: list[Any], alias: dict[str, str] | None = None) -> Iterable[str]:
        """A line for each name."""
        for item in objects:
            name = item["full_name"]
            yield self._line(name, f"{{py:obj}}`{(alias or {}).get(name, name)} <{name}>`")

    def _line(self, name: str, link: str) -> str:
        doc = (self.get_item(name) or {"doc": ""})["doc"].partition("\n\n")[0]
        return f"- {link}: {' '.join(doc.split())}".removesuffix(": ")

    def format_annotation(self, annotation: str | None) -> str:
        """The plain type, without `Annotated`; words of a `Literal` in quotation marks."""
        plain = re.sub(r"^typing\.Annotated\[(.*?\]?), .*\]$", r"\1", super().format_annotation(annotation))
        return _LITERAL.sub(lambda words: f"Literal[{', '.join(map(repr, words[1].split(', ')))}]", plain)

    def format_args(self, *args: Any, **settings: Any) -> str:
        """Without the backtick, which would end the line of a directive."""
        return super().format_args(*args, **settings).replace("`", "'")
