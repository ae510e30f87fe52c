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


def test_every_command_has_a_page_with_all_its_options():
    from parlour_pages import commands

    made = commands.pages()
    assert len(made) == len(COMMANDS) + 1  # and the index
    for words in COMMANDS:
        assert (
            f"](../commands/{words.replace(' ', '-')}.md)" in made["index.md"]
            or f"({words.replace(' ', '-')}.md)" in made["index.md"]
        )
    for option in ("`--epochs`", "`--gae-lambda`", "`--seat` `NUMBER|random`"):
        assert option.replace("|", "\\|") in made["train-seat.md"]


def test_every_trainer_and_every_player_has_a_page():
    from parlour_pages import commands, players

    trainers = [words for words in COMMANDS if words.startswith("train ")]
    assert len(commands.trainer_pages()) == len(trainers) + 1
    made = players.pages()
    assert {f"{name}.md" for name in (*(set(REGISTRY.here()) - {"mixture"}), "trained", "index")} == set(made)
    assert "| `mode` | `trained` |" in made["gratr.md"]
    assert "| `rho` | `1.0` |" in made["gratr.md"]  # the trained decay
    assert "| `deceit` | `0.0` |" in made["gratr.md"]


def test_every_game_has_a_page_which_shows_what_its_card_says():
    from parlour_pages.games import _actions, _observations, _options

    for name in GAMES:
        page = (DOCS / "reference" / "games" / f"{name}.md").read_text("utf-8")
        assert f"generated/fragments/{name}.md" in page
        assert f"reference/games/{name}\n" in (DOCS / "index.md").read_text("utf-8")
        env = registry[name].raw_env(info="full", observation="both")
        env.reset(seed=7)
        kinds = {move.kind for move in env.game.catalogue}
        assert {kind for kind in kinds if f"| `{kind}` |" not in _actions(env)} == set()
        assert {
            option for option in env.spec.options.model_fields if f"| `{option}` |" not in _options(env.spec)
        } == set()
        assert {
            kind for kind in env.spec.encoder(env.game).kinds if f"features='{kind}'" not in _observations(env)
        } == set()


def test_every_table_of_reproduce_is_on_the_page_of_the_papers():
    from parlour_pages import papers

    shown = papers.fragments()["papers.md"]
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


@pytest.mark.slow
def test_the_public_names_are_those_of_the_test_of_the_architecture():
    """Of a module here and now: names without a leading underscore that it defines, and none that it imports."""
    from parlour_pages.public import public_names

    names = set(public_names())
    assert "parlour.policies.registry.make_policy" in names
    assert "parlour.envs.core.Move" in names
    assert "parlour.policies.AvalonAgent" not in names  # imported: its place is the page of its module
    assert "parlour.policies._settings" not in names
    assert len(names) > 2000


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
