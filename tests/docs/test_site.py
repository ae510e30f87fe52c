"""The pages of the site that are made from the code: nothing is left out, and docstrings become Markdown that says the same.

`scripts/docs` builds the site, with warnings as errors; what is tested here needs no Sphinx.
"""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

import pytest
from parlour.envs.registry import GAMES, registry
from parlour.policies import REGISTRY
from parlour.training.cli import COMMANDS
from parlour.training.papers.reproduce import TABLES

from tests import ROOT
from tests.docs.links import dead_links, links

DOCS = ROOT / "docs"


@pytest.fixture(scope="module", autouse=True)
def pages_of_the_site():
    sys.path.insert(0, str(DOCS))
    yield
    sys.path.remove(str(DOCS))


def test_every_command_is_listed_with_all_its_options():
    from parlour_pages import pages

    made = pages.commands()
    assert [words for words in COMMANDS if f"\n### parlour {words}\n" not in made] == []
    for option in ("`--epochs`", "`--gae-lambda`", "`--seat` NUMBER\\|random"):
        assert f"\n| {option}" in made


def test_every_player_is_listed_with_its_settings_and_questions():
    from parlour_pages import pages

    made = pages.players()
    assert [name for name in REGISTRY.here() if f"\n## {name}\n" not in made] == []
    gratr = made.partition("\n## gratr\n")[2].partition("\n## ")[0]
    for row in ("| `mode` | `trained` |", "| `rho` | `1.0` |", "| `deceit` | `0.0` |"):  # the trained mode and decay
        assert row in gratr
    assert "`gratr.intent`" in gratr


@pytest.mark.slow
def test_the_settings_of_every_trainer_are_listed():
    from parlour.training.learn.mediators.learn import GraceConfig
    from parlour.training.learn.ppo.config import SeatConfig
    from parlour_pages import pages

    made = pages.settings()
    for model in (GraceConfig, SeatConfig):
        assert f"\n## {model.__name__}\n" in made
        assert [name for name in model.model_fields if f"\n| `{name}` | " not in made] == []


def test_every_game_is_listed_with_its_options_and_kinds_of_moves():
    from parlour_pages import pages

    made = pages.games()
    for name in GAMES:
        spec = registry[name].spec
        own = made.partition(f"\n## {spec.title}\n")[2].partition("\n## ")[0]
        kinds = {move.kind for move in registry[name].raw_env().game.catalogue}
        assert [word for word in (*kinds, *spec.options.model_fields) if f"\n| `{word}` | " not in own] == [], name
        assert f"replays/{name}.html" in own


def test_every_table_of_reproduce_is_on_the_page_of_the_papers():
    from parlour_pages import pages

    shown = pages.papers()
    assert [name for name in TABLES if f"| `{name}` |" not in shown] == []


def test_every_page_in_docs_is_in_a_table_of_contents():
    index = (DOCS / "index.md").read_text("utf-8")
    names = [str(path.relative_to(DOCS).with_suffix("")) for path in DOCS.rglob("*.md")]
    own = [name for name in names if not name.startswith(("_build", "generated", "cards/", "lab/")) and name != "index"]
    assert [name for name in own if not re.search(rf"^(.*<)?{name}>?$", index, re.MULTILINE)] == []


def test_logs_of_experiments_are_dated_and_outside_the_navigation():
    listed = (DOCS / "lab" / "index.md").read_text("utf-8")
    for path in sorted((DOCS / "lab").glob("*.md")):
        assert path.read_text("utf-8").startswith("---\norphan: true\n---\n"), path.name
        undated = path.stem in ("index", "nightly")
        assert undated or re.fullmatch(r"\d{4}-\d{2}-\w+", path.stem), path.name
        assert path.stem == "index" or f"({path.name})" in listed, path.name


def pages_in_docs() -> list[Path]:
    return [
        path for path in sorted(DOCS.rglob("*.md")) if path.relative_to(DOCS).parts[0] not in ("_build", "generated")
    ]


def test_links_between_pages_lead_to_files_and_to_pages_of_the_site():
    beyond = [
        f"{path.name}: {file.name}"
        for path in pages_in_docs()
        for file, _ in links(path)
        if file.suffix == ".md" and not file.is_relative_to(DOCS)
    ]
    assert [*itertools.chain.from_iterable(map(dead_links, pages_in_docs())), *beyond] == []


def test_a_dead_link_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Two `words`\n\n[a](page.md#two-words) [b](#three) [c](gone.md) [d](https://gone.org)\n", "utf-8")
    assert dead_links(page) == ["page.md: page.md#three", "page.md: gone.md"]


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_of_a_page_outside_the_site_lead_somewhere(name):
    assert dead_links(ROOT / name) == []


def test_every_page_has_a_link_from_the_text_of_another():
    sources = [*pages_in_docs(), *ROOT.glob("*.md")]
    linked = {file for path in sources for file, _ in links(path) if file != path}
    assert [path.name for path in pages_in_docs() if path not in linked] == []
