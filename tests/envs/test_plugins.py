"""What installed packages add: found by entry points, loaded when looked up, left out with one warning where they break."""

import ast
import json
import logging
import re
import sys
import tomllib

import pytest
from parlour.envs import plugins
from parlour.envs.core import ParlourError
from parlour.envs.plugins import OpenTable
from parlour.policies import REGISTRY, make_policy
from parlour.policies.llm import prompt
from parlour.training import cli
from parlour.training.cli.elsewhere import hint

from tests import ROOT

GOOD = """
from typing import Annotated
import typer
from parlour.policies.registry import PolicyKind
MINE = PolicyKind("mine", "parlour.policies.random:RandomPolicy")
def greet(name: Annotated[str, typer.Argument(), "Who."]) -> None:
    '''Greet somebody.'''
    print(f"Hello, {name}!")
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """`install(package, module text, entry points)`: a package is installed."""
    monkeypatch.setattr(REGISTRY, "_loaded", {})

    def write(package: str, text: str, points: str, needs: str = "") -> None:
        (tmp_path / f"{package}.py").write_text(text)
        sys.modules.pop(package, None)
        info = tmp_path / f"{package}-1.dist-info"
        info.mkdir()
        about = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\nSummary: Greetings\n"
        (info / "METADATA").write_text(about + (f"Requires-Dist: {needs}\n" if needs else ""))
        (info / "entry_points.txt").write_text(points)
        monkeypatch.syspath_prepend(tmp_path)

    forgotten = (cli.commands, cli.app, cli._docstrings, prompt._words, prompt.layout)
    for cached in forgotten:
        cached.cache_clear()
    monkeypatch.setattr(plugins, "_TOLD", set())
    yield write
    for cached in forgotten:
        cached.cache_clear()


def test_a_package_adds_a_policy_and_a_command(install, capsys):
    install("good", GOOD, "[parlour.policies]\nmine = good:MINE\n[parlour.commands]\nhello greet = good:greet\n")
    assert "mine" in list(REGISTRY)
    assert make_policy("mine", "avalon_v0", {}).name == "random"
    assert cli.run(["hello", "greet", "you"]) == 0
    assert capsys.readouterr().out == "Hello, you!\n"
    assert cli.run(["--help"]) == 0
    assert "Greetings" in capsys.readouterr().out  # the group has the words of the package


def test_a_package_that_breaks_costs_one_line(install, capsys, caplog):
    points = "[parlour.policies]\na = bad:A\nb = bad:B\n[parlour.commands]\nfall = bad:fall\nno module = nowhere_here.cli:f\n"
    install("bad", "def fall() -> None:\n    '''Fall.'''\nraise RuntimeError('broken')\n", points)
    with caplog.at_level(logging.WARNING, "parlour"):
        names = list(REGISTRY)
        assert cli.run(["--help"]) == 0
    assert {"a", "b"}.isdisjoint(names)
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["bad is left out"]
    assert "fall" in capsys.readouterr().out  # its help is read, not run
    with pytest.raises(ParlourError, match="broken"):
        make_policy("a", "avalon_v0", {})


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("import nowhere_here", "MINE", "nowhere_here"),
        ("raise ValueError('broken')", "MINE", "broken"),
        ("", "MINE", "MINE"),
        ("MINE = 3", "MINE", "PolicyKind"),
    ],
)
def test_a_player_that_cannot_be_loaded_costs_one_line_of_the_list(text, place, why, install, capsys):
    install("bad", text, f"[parlour.policies]\nfirst = bad:{place}\nsecond = bad:{place}\n")
    install("good", GOOD, "[parlour.policies]\nmine = good:MINE\n")
    assert cli.run(["list", "--json"]) == 0
    shown = capsys.readouterr()
    listed = json.loads(shown.out)
    assert "avalon_v0" in listed["games"]
    assert "mine" in listed["policies"]
    assert listed["plugins"]["good 1"] == {"parlour.policies": ["mine"]}
    (line,) = shown.err.splitlines()
    assert "bad is left out" in line
    assert why in line


def test_a_game_that_cannot_be_loaded_costs_one_line_of_the_list(install, capsys):
    install("bad", "import nowhere_here", "[parlour.games]\nbad_v0 = bad:GAME\n")
    assert cli.run(["list", "--json"]) == 0
    shown = capsys.readouterr()
    games = json.loads(shown.out)["games"]
    assert "avalon_v0" in games
    assert "bad_v0" not in games
    (line,) = shown.err.splitlines()
    assert "bad is left out" in line


def test_a_package_for_another_version_costs_one_line_and_is_not_loaded(install, capsys):
    points = "[parlour.policies]\nmine = old:MINE\n[parlour.games]\nold_v0 = old:GAME\n[parlour.commands]\ngreet = old:greet\n"
    install("old", "raise RuntimeError('loaded')", points, "parlour[batch]<0.2,>=0.1")
    assert cli.run(["list", "--json"]) == 0
    shown = capsys.readouterr()
    assert "old_v0" not in json.loads(shown.out)["games"]
    (line,) = shown.err.splitlines()
    assert "old is left out: it needs parlour[batch]<0.2,>=0.1" in line
    assert "mine" not in REGISTRY
    assert "greet" not in cli.commands()


def test_the_list_says_which_package_brings_what(install, capsys):
    install("good", GOOD, "[parlour.policies]\nmine = good:MINE\n[parlour.commands]\nhello greet = good:greet\n")
    assert cli.run(["list"]) == 0
    table = capsys.readouterr().out.partition("Plugins")[2]
    assert "good 1" in table
    assert "hello greet" in table


def test_a_package_brings_prompts_where_parlour_has_none(install, tmp_path):
    install(
        "words",
        "from pathlib import Path\nHERE = Path(__file__).parent / 'words'\n",
        "[parlour.prompts]\nw = words:HERE\n",
    )
    for name, text in {
        "de/layout.json": json.dumps(dict(prompt.layout("en"), answer="Antworte mit JSON:")),
        "de/system.md": "Du spielst.",
        "de/chat.take_turn.md": "Du bist am Zug.",
        "en/chat.take_turn.md": "Never read.",
    }.items():
        file = tmp_path / "words" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    package = "parlour.policies.agents.chat"
    assert prompt.Templates().of("chat.take_turn", "de", package) == "Du bist am Zug."
    assert prompt.Templates().system("de") == "Du spielst."
    assert prompt.layout("de")["answer"] == "Antworte mit JSON:"
    assert prompt.Templates().of("chat.take_turn", "en", package) != "Never read."
    with pytest.raises(ParlourError, match="fr"):
        prompt.layout("fr")


def test_two_packages_with_the_same_prompt_are_refused(install, tmp_path):
    for name in ("one", "two"):
        install(
            name,
            f"from pathlib import Path\nHERE = Path(__file__).parent / 'of_{name}'\n",
            f"[parlour.prompts]\n{name} = {name}:HERE\n",
        )
        file = tmp_path / f"of_{name}" / "de" / "system.md"
        file.parent.mkdir(parents=True)
        file.write_text("Du spielst.", encoding="utf-8")
    with pytest.raises(ParlourError, match="one and by two"):
        prompt.Templates().system("de")


def test_every_open_table_is_of_a_listed_group():
    opened = {
        node.args[0].value
        for folder in ("envs", "policies", "training", "wrappers")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("OpenTable", "Places")
    }
    assert opened | {"parlour.games", cli.ENTRY_POINTS} == set(plugins.GROUPS)


@pytest.mark.parametrize("project", sorted(ROOT.glob("plugins/*/pyproject.toml")), ids=lambda path: path.parent.name)
def test_what_our_plugins_offer_is_of_a_listed_group_and_found_by_refusals(project):
    plugin = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    offers = {group: names for group, names in plugin["entry-points"].items() if group.startswith("parlour.")}
    assert set(offers) <= set(plugins.GROUPS)
    hinted = tomllib.loads((ROOT / "training/cli/plugins.toml").read_text(encoding="utf-8"))[project.parent.name]
    for group in ("parlour.games", "parlour.policies", "parlour.records", "parlour.papers"):
        assert set(offers.get(group, {})) <= set(hinted["names"])
    assert all(set(words.split()) & set(hinted["names"]) for words in offers.get("parlour.commands", {}))
    needs = [
        *plugin["dependencies"],
        *(need for extra in plugin.get("optional-dependencies", {}).values() for need in extra),
    ]
    assert all(re.fullmatch(r"parlour(\[\w+\])?>=0\.4,<0\.5", need) for need in needs if need.startswith("parlour"))


def test_no_package_replaces_a_name(install):
    install("good", GOOD, "[parlour.policies]\nrandom = good:MINE\n")
    assert REGISTRY["random"].home == "parlour.policies.random:RandomPolicy"


def test_a_value_of_another_class_is_refused(install):
    install("good", GOOD, "[parlour.policies]\nmine = good:greet\n")
    with pytest.raises(ParlourError, match="PolicyKind"):
        REGISTRY["mine"]


def test_two_packages_with_one_name_are_refused(install):
    install("good", GOOD, "[parlour.policies]\nmine = good:MINE\n")
    install("fine", GOOD, "[parlour.policies]\nmine = fine:MINE\n")
    with pytest.raises(ParlourError, match="fine:MINE and by good:MINE"):
        REGISTRY["mine"]


def test_a_table_is_a_mapping_of_what_is_here_and_there():
    table = OpenTable("parlour.nothing", int, {"one": 1})
    table["two"] = 2
    assert (dict(table), len(table), "three" in table) == ({"one": 1, "two": 2}, 2, False)
    with pytest.raises(KeyError):
        table["three"]


def test_a_refusal_names_the_plugin_that_has_the_word(monkeypatch):
    monkeypatch.setattr("parlour.training.cli.elsewhere._installed", lambda name: False)
    player = "policy 'deeprole:file=x.npz' is not accepted"
    assert "plugin deeprole " in hint(["play", "avalon_v0", "--policy", "deeprole:file=x.npz"], player)
    assert "plugin aiwolf " in hint(["play", "aiwolf_v0"], "game 'aiwolf_v0' is not accepted")
    assert "plugin aiwolf " in hint(["replay", "old.jsonl"], "rules 'aiwolf-5' is not accepted")
    form = "format 'avalonlogs' is not accepted"
    assert "plugin people " in hint(["import", "avalon", "x", "--format=avalonlogs"], form)
    assert hint(["play", "avalon_v0", "--set", "roles=deeprole", "-n", "x"], "'x' is not a valid integer") == ""
    assert hint(["play", "avalon_v0"], "anything") == ""
    monkeypatch.setattr("parlour.training.cli.elsewhere._installed", lambda name: True)
    assert hint(["table"], "No such command 'table'.") == ""


def test_a_style_of_experts_that_is_not_here_names_the_plugin_that_makes_it(error_of):
    """The whole way: the refusal of the core shows the word that the plugin brings."""
    words = ["evaluate", "avalon_v0", "--policy", "expert:style=human", "--games", "2"]
    assert "plugin people " in error_of(words)
