"""The API reference: autodoc2's pages, one for each module, with docstrings in Markdown.

A public name is any name that a module defines without a leading underscore, as in `tests/test_architecture.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from autodoc2.render.myst_ import MystRenderer

from parlour_pages.markdown import code, of_docstring, summary, table

_MODULES = {"package", "module"}
_PLAIN = re.compile(r"[\w.,() '\"=+-]{1,60}")
_LITERAL = re.compile(r"\bLiteral\[([^\[\]]*)\]")


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"-?\d+|True|False|None|['\"].*", word) else repr(word)


def plain_type(annotation: str) -> str:
    """A type without `Annotated`: `Annotated[int, "Number."]` is `int`."""
    head = "typing.Annotated["
    if not annotation.startswith(head):
        return annotation
    depth = 0
    for at, sign in enumerate(annotation):
        depth += (sign == "[") - (sign == "]")
        if sign == "," and depth == 1:
            return annotation[len(head) : at]
    return annotation


class ApiRenderer(MystRenderer):
    """A page for a module: docstring, submodules, a table of names, and each name with its docstring."""

    def render_package(self, item: Any) -> Iterable[str]:
        name = item["full_name"]
        if name.count(".") > 1 and item["type"] == "module":
            yield from ["---", "orphan: true", "---", ""]
        yield from [f"# {name.removeprefix('parlour.')}", "", f"```{{py:module}} {name}", "```", ""]
        yield from [of_docstring(item["doc"]), ""]
        yield from self._offered(item)
        yield from self._inside(name)
        own = [child for child in self.get_children(item) if child["type"] not in _MODULES]
        if own:
            yield from ["## Names", ""]
            for child in own:
                yield from self.render_item(child["full_name"])

    def show_docstring(self, item: Any) -> bool:
        """Never by autodoc2's directive, which parses each docstring as a document: slowly."""
        return False

    def render_data(self, item: Any) -> Iterable[str]:
        """Add the value if it is short and plain. Regular expressions and tables are left out."""
        value = item.get("value")
        shown = repr(value) if isinstance(value, str) else str(value)
        name = item["full_name"].rpartition(".")[2]
        yield from [f"````{{py:{item['type']}}} {name}", f":canonical: {item['full_name']}"]
        if item.get("annotation"):
            yield f":type: {self.format_annotation(item['annotation'])}"
        if value is not None and _PLAIN.fullmatch(shown):
            yield from [":value: >", f"   {shown}"]
        yield from ["", "````", ""]

    def render_item(self, full_name: str) -> Iterable[str]:
        """Render the item as autodoc2 does, with its docstring instead of the empty body."""
        item = self.get_item(full_name)
        lines = "\n".join(super().render_item(full_name)).split("\n")
        if item is None or item["type"] in _MODULES or not item["doc"].strip() or item.get("doc_inherited"):
            yield from lines
            return
        at = next(k for k, line in enumerate(lines) if not line.strip())
        yield from [*lines[:at], "", of_docstring(item["doc"]), "", *lines[at:]]

    def format_annotation(self, annotation: str | None) -> str:
        """The plain type, without the command line's `Annotated`; words of a `Literal` in quotation marks."""
        return _LITERAL.sub(
            lambda match: f"Literal[{', '.join(map(_quoted, match[1].split(', ')))}]",
            plain_type(super().format_annotation(annotation)),
        )

    def format_args(self, *args: Any, **settings: Any) -> str:
        """Without the backtick, which would end the line of a directive."""
        return super().format_args(*args, **settings).replace("`", "'")

    def _offered(self, item: Any) -> Iterator[str]:
        """A package's exported names, by `__all__`."""
        origins = ((name, self._origin(item, name)) for name in item.get("all") or [])
        rows = [
            (f"{{py:obj}}`{name} <{at}>`", code(at.rpartition(".")[0]), self._summary(at))
            for name, at in origins
            if at is not None and not at.startswith(f"{item['full_name']}.{name}")
        ]
        if rows:
            yield from ["## Exported names", "", table(("name", "defined in", "what it is"), rows)]

    def _origin(self, item: Any, name: str) -> str | None:
        """The module that defines an exported name, through all packages that re-export it."""
        own = self.get_item(f"{item['full_name']}.{name}")
        if own is not None and own["type"] not in _MODULES:
            return str(own["full_name"])
        for path, alias in item.get("imports", ()):
            if (alias or path.rpartition(".")[2]) == name:
                package, _, last = path.rpartition(".")
                parent = self.get_item(package)
                return path if parent is None or self.get_item(path) is not None else self._origin(parent, last)
        return None

    def _summary(self, full_name: str) -> str:
        item = self.get_item(full_name)
        return summary(item["doc"]) if item is not None and item["doc"].strip() else ""

    def _inside(self, name: str) -> Iterator[str]:
        """The packages and modules in a package."""
        children = sorted(self._db.get_children(name, _MODULES), key=lambda child: child["full_name"])
        if not children:
            return
        rows = [
            (f"[{child['full_name'].rpartition('.')[2]}]({child['full_name']}.md)", summary(child["doc"]))
            for child in children
        ]
        yield from ["## Modules", "", table(("module", "what it is"), rows), ""]
        packages = [child["full_name"] for child in children if child["type"] == "package"]
        if packages:
            yield from ["```{toctree}", ":hidden:", "", *packages, "```", ""]
