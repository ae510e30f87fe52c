"""The decisions page: code and tests cite its entries by number, and every cited number is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests import ROOT

PAGE = (ROOT / "docs" / "reference" / "decisions.md").read_text("utf-8")
FOLDERS = ("envs", "policies", "training", "wrappers", "tests", "scripts", "examples", "docs", "plugins")
COLUMNS = "| point | paper | code | parlour | why |"
CITED = re.compile(
    r"\bdecisions?( \d(?:\.\d+)?(?: \([^)]*\))?(?:,? (?:and )?\d(?:\.\d+)?(?: \([^)]*\))?)+)", re.IGNORECASE
)
ENTRY = re.compile(r"^\(d([\d-]+)\)=\n#+ (\d+(?:\.\d+)?) \S.*\n", re.MULTILINE)


def cited_in(text: str) -> set[str]:
    """Numbers of the entries that a text cites."""
    return {
        number
        for match in CITED.finditer(text)
        for number in re.findall(r"\d(?:\.\d+)?", re.sub(r"\(.*?\)", "", match[1]))
    }


def test_citations_are_read():
    assert cited_in("as decisions 1.3 and 1.4 say") == {"1.3", "1.4"}
    assert cited_in("Decisions 4.4 (sensors, 3 of them), 4.5 and 5 (PLAYER*)") == {"4.4", "4.5", "5"}
    assert cited_in("12 decisions, 3 of them drawn; a decision of 2 players") == set()


def test_every_cited_decision_is_on_the_page():
    entries = {number for _, number in ENTRY.findall(PAGE)}
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    wrong = []
    for path in files:
        if path.suffix not in (".py", ".md", ".toml", ".txt") or path.name == Path(__file__).name:
            continue
        if {"_build", "generated"} & set(path.relative_to(ROOT).parts):
            continue
        wrong += [f"{path.relative_to(ROOT)}: {number}" for number in cited_in(path.read_text("utf-8")) - entries]
    assert wrong == []


def test_entries_have_an_anchor_of_their_number_and_the_five_columns():
    entries = ENTRY.findall(PAGE)
    assert [anchor.replace("-", ".") for anchor, _ in entries] == [number for _, number in entries]
    assert len({number for _, number in entries}) == len(entries) > 25
    for part in re.split(r"^\(d[\d-]+\)=$", PAGE, flags=re.MULTILINE)[1:]:
        first = next(table for table in part.split("\n\n") if table.startswith("|"))  # worked figures may follow
        rows = first.splitlines()
        assert rows[0].partition("|")[2].count("|") == COLUMNS.count("|") - 1
        assert {row.replace(r"\|", "").count("|") for row in rows} == {COLUMNS.count("|")}, part[:60]
