"""Pages are short, and a reader can reach each: words of a page, words of all, links to and from the pages of plugins."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests import ROOT
from tests.docs.links import dead_links, links

DOCS = ROOT / "docs"
MOST_WORDS = 50_000
"""Words of the core's pages together."""
MOST_A_PAGE = 700
"""Words of a how-to, of a page of an integration or an explanation, and of a plugin's page; docs/style.md says so."""
MOST_A_LOG = 900
"""Words of a log of experiments."""
PLUGINS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))


def words(page: Path) -> int:
    return len(page.read_text("utf-8").split())


def core_pages() -> list[Path]:
    """All but pages that scripts write: the site's, and the rows of nightly runs."""
    made = {"_build", "generated", "nightly.md"}
    pages = [path for path in sorted(DOCS.rglob("*.md")) if not made & set(path.parts)]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *pages]


def plugin_pages(plugin: Path) -> list[Path]:
    return [plugin / "README.md", *sorted((plugin / "docs").rglob("*.md"))]


def is_log(page: Path) -> bool:
    return page.read_text("utf-8").removeprefix("---\norphan: true\n---\n\n").startswith("# Log: ")


SHORT = [
    *itertools.chain.from_iterable(
        (DOCS / room).glob("*.md") for room in ("howto", "integrations", "explanation", "lab")
    ),
    *itertools.chain.from_iterable(map(plugin_pages, PLUGINS)),
]


@pytest.mark.parametrize("page", sorted(SHORT), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_short(page):
    assert words(page) <= (MOST_A_LOG if is_log(page) else MOST_A_PAGE)


def test_a_how_to_is_no_log():
    assert [path.name for path in (DOCS / "howto").glob("*.md") if is_log(path)] == []


def test_the_pages_of_the_core_are_short_together():
    assert sum(map(words, core_pages())) <= MOST_WORDS


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)
def test_every_page_of_a_plugin_has_a_link_from_another(plugin):
    pages = plugin_pages(plugin)
    linked = {file for path in (*core_pages(), *pages) for file, _ in links(path) if file != path}
    assert [path.name for path in pages if path not in linked] == []


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)
def test_links_of_a_plugins_pages_lead_somewhere(plugin):
    assert [*itertools.chain.from_iterable(map(dead_links, plugin_pages(plugin)))] == []
