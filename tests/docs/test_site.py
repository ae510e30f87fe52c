"""The pages of the site that are made from the code: nothing is left out, and docstrings become Markdown that says the same.

`scripts/docs` builds the site, with warnings as errors; what is tested here needs no Sphinx.
"""

from __future__ import annotations

import re
import sys

import pytest
from parlour.envs.registry import GAMES, registry
from parlour.policies import REGISTRY
from parlour.training.cli import COMMANDS
from parlour.training.papers.reproduce import TABLES

from tests import ROOT

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
    assert [name for name in TABLES if f"`parlour reproduce {name}`" not in shown] == []


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


def test_links_between_pages_lead_to_files_and_to_pages_of_the_site():
    wrong = []
    for path in DOCS.rglob("*.md"):
        if path.relative_to(DOCS).parts[0] in ("_build", "generated"):
            continue
        prose = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            file = (path.parent / target).resolve()
            if not file.exists() or (file.suffix == ".md" and not file.is_relative_to(DOCS)):
                wrong.append(f"{path.name}: {target}")
    assert wrong == []
