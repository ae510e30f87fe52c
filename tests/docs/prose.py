"""Prose that people read, measured: pages of the core and of plugins, `--help`, error messages, docstrings of public names. `scripts/prose`
prints it.

A source is a page (`docs/install.md`), the command line (`--help`) or a package (`training/learn`). Its findings are banned
constructions (`banned_words.py`); its average counts words a sentence. Code blocks, headings and addresses are left out; code in
backticks counts as one word; cells of tables are searched for findings and counted separately.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests import ROOT
from tests.docs.banned_words import BANNED

PACKAGES: Final = ("envs", "policies", "training", "wrappers")
WORDS_A_SENTENCE: Final = 18
"""The average sentence of a source has fewer words."""
_LEAST: Final = 3
"""Words of the shortest text that counts as a sentence."""
_CALLS: Final = {"ParlourError", "accept", "Option", "Argument"}
"""Calls whose strings people read: error messages, and help of options."""
_PATTERNS: Final = tuple((banned.pattern, banned.instead) for banned in BANNED)
_ENDS: Final = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[*_`]*[A-Z0-9`])")
_SHORT: Final = re.compile(r"\b(e\.g|i\.e|et al|etc|vs|Fig|Eq|Sec|No)\.")
_ITEM: Final = re.compile(r"^([-*+]|\d+\.)\s+")


@dataclass(frozen=True)
class Text:
    """One paragraph, docstring, message or cell of a table: its source, file, first line and words."""

    source: str
    path: str
    line: int
    words: str
    cell: bool = False


@dataclass(frozen=True)
class Finding:
    """A banned construction: file and line, the words around it, and what to write instead."""

    path: str
    line: int
    words: str
    instead: str


@dataclass(frozen=True)
class Source:
    """Measurements of one source: its sentences, the number of words in tables, and its findings."""

    name: str
    sentences: tuple[str, ...]
    table_words: int
    findings: tuple[Finding, ...]

    @property
    def average(self) -> float:
        """Words a sentence; 0 without sentences."""
        return sum(len(sentence.split()) for sentence in self.sentences) / max(1, len(self.sentences))

    @property
    def longest(self) -> str:
        """The sentence with the most words; empty without sentences."""
        return max(self.sentences, key=lambda sentence: len(sentence.split()), default="")

    @property
    def passes(self) -> bool:
        """Whether nothing is banned and sentences are short enough."""
        return not self.findings and self.average < WORDS_A_SENTENCE


def sources() -> list[Source]:
    """Every source of the checkout: pages first, then packages."""
    grouped: dict[str, list[Text]] = {}
    for text in texts():
        grouped.setdefault(text.source, []).append(text)
    return [measure(name, group) for name, group in grouped.items()]


def measure(name: str, group: list[Text]) -> Source:
    """The measurements of one source from its texts."""
    every = (sentence for text in group if not text.cell for sentence in sentences(text.words))
    cells = sum(len(text.words.split()) for text in group if text.cell)
    faults = tuple(finding for text in group for finding in findings(text))
    return Source(name, tuple(sentence for sentence in every if len(sentence.split()) >= _LEAST), cells, faults)


def sentences(words: str) -> list[str]:
    """Sentences of a paragraph."""
    return [part for part in _ENDS.split(" ".join(_SHORT.sub(r"\1", words).split())) if part]


def findings(text: Text) -> Iterator[Finding]:
    """Banned constructions in a text."""
    flat = text.words.replace("\n", " ")
    for pattern, instead in _PATTERNS:
        for match in pattern.finditer(flat):
            around = flat[max(0, match.start() - 30) : match.end() + 30].strip()
            yield Finding(text.path, text.line + text.words.count("\n", 0, match.start()), around, instead)


def texts() -> Iterator[Text]:
    """All prose of the checkout."""
    first = (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))
    of_plugins = sorted([*ROOT.glob("plugins/*/README.md"), *ROOT.glob("plugins/*/docs/**/*.md")])
    for path in (*first, *sorted((ROOT / "docs").rglob("*.md")), *of_plugins):
        if not {"_build", "generated"} & set(path.parts):
            yield from page(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield from module(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))


def page(name: str, markdown: str) -> Iterator[Text]:
    """Texts of a Markdown file: of the changelog its newest section, of the style guide all but the examples to avoid."""
    if name == "CHANGELOG.md":
        markdown = "\n## ".join(markdown.split("\n## ")[:2])
    if name == "docs/style.md":
        markdown = re.sub(r"(?m)^\|[^|]*\|", "| |", markdown)
    for line, words, cell in _paragraphs(markdown.split("\n")):
        if plain := _plain(words):
            yield Text(name, name, line, plain, cell)


def _paragraphs(lines: list[str]) -> Iterator[tuple[int, str, bool]]:
    """First line and words of each paragraph, item of a list and cell of a table; the last value tells cells."""
    kept: list[str] = []
    fenced, first = False, 1
    for at, line in enumerate([*lines, ""], 1):
        bare = line.strip()
        fence = bare.startswith(("```", "~~~"))
        code = fenced or fence or (line.startswith("    ") and not kept)
        fenced ^= fence
        skipped = not bare or code or bare.startswith(("#", ":", "<", "!["))
        if kept and (skipped or bare.startswith("|") or _ITEM.match(bare)):
            yield first, "\n".join(kept), False
            kept = []
        if skipped:
            continue
        if bare.startswith("|"):
            yield from ((at, cell, True) for cell in bare.strip("|").split("|"))
            continue
        first = first if kept else at
        kept.append(_ITEM.sub("", bare, count=1))


def _plain(words: str) -> str:
    """Markdown without its marks: code becomes one word, a link its text."""
    words = re.sub(r"\{[\w:]+\}(?=`)", "", words)
    words = re.sub(r"``[^`]+``|`[^`]*`", lambda match: "`code`" + "\n" * match[0].count("\n"), words)
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", words)
    return re.sub(r"https?://\S+|\$[^$]+\$|[*_]{2}|^[-: ]+$", "", words).strip()


def module(name: str, code: str) -> Iterator[Text]:
    """Texts of a Python file: docstrings of its public names, error messages, help, and what training prints."""
    source = "--help" if name.startswith("training/cli/") else "/".join(name.split("/")[:-1][:2])
    tree = ast.parse(code)
    strings = _strings(tree) if name.startswith("training/") else _messages(tree)
    for at, words in (*_docstrings(tree), *strings):
        for line, paragraph, cell in _paragraphs(words.split("\n")):
            if plain := _plain(re.sub(r"\[/?[a-z ]+\]", "", paragraph)):
                yield Text(source, name, at + line - 1, plain, cell)


def _docstrings(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and words of the docstrings of a module or class, of its fields, and of what is public in it."""
    for child in getattr(node, "body", ()):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant) and isinstance(child.value.value, str):
            yield child.lineno, _dedented(child.value.value)
        elif isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and child.name[0] != "_":
            yield from _docstrings(child)


def _dedented(words: str) -> str:
    first, *rest = words.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return "\n".join([first.strip(), *(line[indent:] for line in rest)])


def _messages(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and words of the strings given to `_CALLS`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in _CALLS:
            for given in (*node.args, *(word.value for word in node.keywords)):
                yield from _strings(given)


def _strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and words of all strings but docstrings; the values of an f-string become `code`."""
    parts = [tree]
    while parts:
        node = parts.pop()
        if isinstance(node, ast.JoinedStr):
            values = (str(part.value) if isinstance(part, ast.Constant) else "`code`" for part in node.values)
            yield node.lineno, "".join(values).strip()
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if " " in node.value.strip():  # a single word is a key or a name
                yield node.lineno, node.value.strip()
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            parts.extend(ast.iter_child_nodes(node))
