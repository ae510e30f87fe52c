"""The overview of harnesses for language models says what there is, with the versions that were run; README's first screen names each."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests import ROOT

DOCS = ROOT / "docs"
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
HARNESSES = [
    name
    for name in ("inspect", "verifiers", "trl", "mcp", "openenv", "hf")
    if (DOCS / "integrations" / f"{name}.md").exists()
]
PAGE = (DOCS / "howto" / "harnesses.md").read_text("utf-8")
ROWS = {
    match[1]: match
    for match in re.finditer(
        r"^\| \[[^]]+\]\(\.\./integrations/(\w+)\.md\) \| `(\w+)` \| ([\w-]+) ([\d.]+) \|", PAGE, re.MULTILINE
    )
}


def test_every_harness_has_a_row_and_every_row_a_harness():
    assert set(ROWS) == set(HARNESSES)


@pytest.mark.parametrize("name", ROWS)
def test_a_row_names_the_extra_and_the_version_that_was_run(name):
    _, page, extra, library, version = ROWS[name].group(0, 1, 2, 3, 4)
    assert extra in EXTRAS
    assert (ROOT / "tests" / "integrations" / f"test_{page}.py").exists()
    assert f"{library}=={version}\n" in (DOCS / "integrations" / f"{page}.txt").read_text("utf-8")
    assert f"{library} {version}" in (DOCS / "integrations" / f"{page}.md").read_text("utf-8")


def test_the_first_screen_of_the_readme_links_to_each():
    """What stands above the first heading of the second rank."""
    first = (ROOT / "README.md").read_text("utf-8").partition("\n## ")[0]
    assert [name for name in HARNESSES if f"(docs/integrations/{name}.md)" not in first] == []
    for page in ("docs/howto/harnesses.md", "docs/tutorials/train_language_model.md"):
        assert f"({page})" in first
