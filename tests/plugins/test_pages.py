"""Pages of the plugins: a README of at most 250 words, plain prose, and links that lead somewhere."""

from __future__ import annotations

import re

import pytest

from tests import ROOT
from tests.docs.links import dead_links
from tests.docs.prose import measure, page

PLUGINS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))
PAGES = [path.relative_to(ROOT).as_posix() for plugin in PLUGINS for path in sorted(plugin.rglob("*.md"))]


def test_every_plugin_has_a_readme_that_says_how_to_install_it_and_names_two_commands():
    for plugin in PLUGINS:
        text = (plugin / "README.md").read_text("utf-8")
        assert re.search(rf'^    pip install "?\./plugins/{plugin.name}\b', text, re.MULTILINE), plugin.name
        assert len(re.findall(r"^    parlour ", text, re.MULTILINE)) == 2, plugin.name


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_short_plain_and_has_no_dead_link(name):
    path = ROOT / name
    text = path.read_text("utf-8")
    if path.name == "README.md":  # tests/docs/test_pages.py counts the words of the others
        assert len(text.split()) <= 250
    measured = measure(name, list(page(name, text)))
    assert measured.passes, measured.findings or measured.longest
    assert dead_links(path) == []
