"""What installed packages add: found by entry points, loaded when looked up, left out with one warning where they break."""

import logging

import pytest
from parlour.envs import plugins
from parlour.envs.core import ParlourError
from parlour.envs.plugins import OpenTable
from parlour.policies import REGISTRY, make_policy
from parlour.training import cli
from parlour.training.cli.elsewhere import hint

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

    def write(package: str, text: str, points: str) -> None:
        (tmp_path / f"{package}.py").write_text(text)
        info = tmp_path / f"{package}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\nSummary: Greetings\n")
        (info / "entry_points.txt").write_text(points)
        monkeypatch.syspath_prepend(tmp_path)

    forgotten = (plugins.warn_once, cli.commands, cli.app, cli._docstrings)
    for cached in forgotten:
        cached.cache_clear()
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
    assert "fall" in capsys.readouterr().out  # its help is read, not run
    with pytest.raises(ParlourError, match="broken"):
        make_policy("a", "avalon_v0", {})


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
