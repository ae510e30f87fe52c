"""A corpus of real documents, made on the spot: what a Debian machine with Python holds, and questions from its text by rule.

Documents are Debian's copyright files and entries of its package list, its common licences, the metadata of installed Python
distributions, and what the modules of Python's library say of themselves (read, never imported). Questions are made by
`real_questions`. The same documents give the same corpus, in the form of docs/howto/corpora.md:

    python scripts/bench/real_documents.py OUT

writes OUT/questions.jsonl and OUT/documents/. Nothing of it was chosen by how any method does.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email import message_from_string
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

COPYRIGHTS = Path("/usr/share/doc")
PACKAGES = Path("/var/lib/dpkg/status")
LICENCES = Path("/usr/share/common-licenses")
LARGEST = 6_000
"""Characters of a document; of a longer one the beginning, up to the end of a paragraph."""
MOST = 160
"""Documents of a kind; of more, these are spread evenly over their names."""
LEAST_DOCUMENTS, LEAST_ANSWERABLE, LEAST_UNANSWERABLE = 200, 300, 100


@dataclass(frozen=True)
class RealDocument:
    """A document, and what a rule finds in it; a fact that is not there is missing from it."""

    kind: str
    title: str
    text: str
    facts: dict[str, Any] = field(default_factory=dict)


# -- facts -----------------------------------------------------------------------------------------------------

_PERSON = r"[A-Z][\w.'’-]+(?: (?:[A-Z][\w.'’-]*|de|van|von)){0,2} [A-Z][\w'’-]+"
_PACKAGED = re.compile(rf"(?:debianized|put together|packaged for Debian) by (?:me, )?({_PERSON})(.{{0,120}})")
_AUTHOR = re.compile(rf"^ *Upstream[ -](?:Author|Contact)(?:\(?s\)?)?: *\n? *({_PERSON})", re.MULTILINE)
_HELD = re.compile(
    rf"^(?:.{{0,20}}?(?:Copyright|\([cC]\)|©))?[\s:]*(?:\([cC]\)|©)?\s*(\d{{4}}(?:\s*[-–,]\s*\d{{4}})*),?\s+(?:by\s+)?({_PERSON})",
    re.MULTILINE,
)
_YEAR = re.compile(r"\b(19[6-9]\d|20[0-3]\d)\b")
_LICENCE = re.compile(r"^Files: *\*\n(?:.*\n)*?License: *(\S.{0,60})$", re.MULTILINE)
_DATED = re.compile(r"Version [\d.]+, [\w ]*?(\d{4})|^\s*Version [\d.]+, \w+ (\d{4})", re.MULTILINE)


def copyright_facts(text: str) -> dict[str, Any]:
    """Who packaged it and when, the author, the licence, and who holds copyrights of which years."""
    plain = " ".join(text.split())
    facts: dict[str, Any] = {}
    if packaged := _PACKAGED.search(plain):
        facts["packager"] = packaged[1]
        if year := _YEAR.search(packaged[2]):
            facts["packaged"] = year[1]
    if author := _AUTHOR.search(text):
        facts["author"] = author[1]
    if licence := _LICENCE.search(text):
        facts["licence"] = licence[1].strip()
    years_of: dict[str, set[int]] = {}
    for years, holder in _HELD.findall(text):
        name = holder.split(" All ")[0].rstrip(".")
        numbers = [int(year) for year in re.findall(r"\d{4}", years) if 1960 <= int(year) < 2040]
        spans = re.findall(r"(\d{4})\s*[-–]\s*(\d{4})", years)
        covered = {year for a, b in spans for year in range(int(a), min(int(b), 2040) + 1)} | set(numbers)
        if numbers:
            years_of.setdefault(name, set()).update(covered)
    if years_of:
        facts["held"] = years_of
    return facts


def package_facts(text: str) -> dict[str, Any]:
    """The fields of an entry of the package list that questions are asked about."""
    fields = message_from_string(text)
    facts: dict[str, Any] = {}
    for key, field_name in (("section", "Section"), ("homepage", "Homepage"), ("version", "Version")):
        if fields[field_name]:
            facts[key] = fields[field_name].strip()
    if fields["Maintainer"]:
        facts["maintainer"] = fields["Maintainer"].partition("<")[0].strip()
    if fields["Installed-Size"]:
        facts["size"] = int(fields["Installed-Size"])
    if fields["Source"] and fields["Source"].split()[0] != fields["Package"]:
        facts["source"] = fields["Source"].split()[0]
    wanted = [
        dependency.split()[0]
        for dependency in (fields["Depends"] or "").split(",")
        if dependency.strip() and "|" not in dependency
    ]
    if len(wanted) == 1:
        facts["needs"] = wanted[0].partition(":")[0]
    return facts


def distribution_facts(text: str) -> dict[str, Any]:
    """The fields of a distribution's metadata that questions are asked about."""
    fields = message_from_string(text)
    facts: dict[str, Any] = {"version": fields["Version"]}
    author = fields["Author"] or (fields["Author-email"] or "").partition("<")[0]
    if re.fullmatch(_PERSON, author.strip().strip('"')):
        facts["author"] = author.strip().strip('"')
    licence = fields["License-Expression"] or fields["License"] or ""
    if licence and len(licence.split()) <= 5:
        facts["licence"] = licence
    if fields["Requires-Python"]:
        facts["python"] = fields["Requires-Python"]
    wanted = [requirement for requirement in fields.get_all("Requires-Dist", []) if "extra ==" not in requirement]
    facts["all_needs"] = tuple(re.split(r"[^\w.-]", requirement)[0] for requirement in wanted)
    if len(wanted) == 1:
        facts["needs"] = facts["all_needs"][0]
    return facts


# -- documents -------------------------------------------------------------------------------------------------


def real_documents() -> list[RealDocument]:
    """The documents of this machine, at most `MOST` of a kind."""
    kinds = map(list, (_copyrights(), _packages(), _licences(), _distributions(), _modules()))
    sizes = [(documents, min(len(documents), MOST)) for documents in kinds]
    return [documents[k * len(documents) // size] for documents, size in sizes for k in range(size)]


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8") if path.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _beginning(text: str) -> str:
    if len(text) <= LARGEST:
        return text
    return text[: max(text.rfind("\n\n", 0, LARGEST), text.rfind("\n", LARGEST // 2, LARGEST), LARGEST // 2)]


def _copyrights() -> Iterator[RealDocument]:
    """One of several files with the same text: that of the package that comes first."""
    seen = set()
    for folder in sorted(COPYRIGHTS.glob("*")):
        text = _beginning(_text_of(folder / "copyright"))
        if text.strip() and text not in seen:
            seen.add(text)
            yield RealDocument("copyright", folder.name, text, copyright_facts(text))


def _packages() -> Iterator[RealDocument]:
    for text in sorted(_text_of(PACKAGES).split("\n\n")):
        named = re.match(r"Package: (\S+)", text)
        if named:
            yield RealDocument("package", named[1], _beginning(text), package_facts(_beginning(text)))


def _licences() -> Iterator[RealDocument]:
    for path in sorted(LICENCES.glob("*")):
        text = _text_of(path)
        if not path.is_symlink() and text.strip():
            dated = _DATED.search(text[:600])
            yield RealDocument("licence", path.name, text, {"published": dated[1] or dated[2]} if dated else {})


def _distributions() -> Iterator[RealDocument]:
    metadata = {
        distribution.metadata["Name"]: distribution.read_text("METADATA") or "" for distribution in distributions()
    }
    for name in sorted(filter(None, metadata), key=str.lower):
        text = _beginning(metadata[name])
        if text.strip():
            yield RealDocument("distribution", name, text, distribution_facts(text))


def _modules() -> Iterator[RealDocument]:
    """Python's own modules, as their documentation strings describe them and what is in them."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    for name in sorted(sys.stdlib_module_names):
        path = folder / f"{name}.py"
        text = _text_of(path if path.is_file() else folder / name / "__init__.py")
        tree = ast.parse(text) if text and not name.startswith("_") else None
        if tree is None:
            continue
        defined = {"class": {}, "function": {}}
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                says = (ast.get_docstring(node) or "").partition("\n\n")[0]
                if says:
                    defined["class" if isinstance(node, ast.ClassDef) else "function"][node.name] = " ".join(
                        says.split()
                    )
        lines = [f"{what} {symbol}: {says}" for what, symbols in defined.items() for symbol, says in symbols.items()]
        whole = "\n\n".join(filter(None, (ast.get_docstring(tree), *lines)))
        if whole:
            kept = _beginning(whole)
            facts = {
                what: {symbol: says for symbol, says in symbols.items() if f"{what} {symbol}: {says}" in kept}
                for what, symbols in defined.items()
            }
            yield RealDocument("module", name, kept, facts)


# -- writing ---------------------------------------------------------------------------------------------------


def too_few(documents: Sequence[RealDocument], questions: Sequence[dict[str, Any]]) -> str:
    """What there is too little of on this machine; empty if there is enough."""
    answerable = sum(bool(question["answers"]) for question in questions)
    counted = (
        ("documents", len(documents), LEAST_DOCUMENTS),
        ("answerable questions", answerable, LEAST_ANSWERABLE),
        ("unanswerable questions", len(questions) - answerable, LEAST_UNANSWERABLE),
    )
    return "; ".join(f"{number} {what}, wanted {least}" for what, number, least in counted if number < least)


def write(out: Path, documents: Sequence[RealDocument], questions: Sequence[dict[str, Any]]) -> None:
    """The corpus as a folder: texts by kind, those whose titles are no names of files as lines of JSON."""
    lines: dict[str, list[str]] = {}
    for document in documents:
        if document.kind in ("distribution", "module"):
            lines.setdefault(document.kind, []).append(json.dumps({"title": document.title, "text": document.text}))
            continue
        path = out / "documents" / document.kind / f"{document.title}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.text, encoding="utf-8")
    for kind, texts in lines.items():
        (out / "documents" / f"{kind}s.jsonl").write_text("\n".join(texts) + "\n", encoding="utf-8")
    (out / "questions.jsonl").write_text(
        "".join(json.dumps(question) + "\n" for question in questions), encoding="utf-8"
    )


def main(out: str) -> None:
    """Write the corpus of this machine to a folder that is not there yet."""
    from real_questions import questions_about

    documents = real_documents()
    questions = questions_about(documents)
    Path(out).mkdir(parents=True)
    write(Path(out), documents, questions)
    print(f"{len(documents)} documents, {len(questions)} questions in {out}", too_few(documents, questions))


if __name__ == "__main__":
    main(*sys.argv[1:])
