"""Games are found by their name, wherever they come from: registered, in another package, at `module:ATTRIBUTE`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from parlour.envs import make, register, registry
from parlour.envs._template import CoinSpec
from parlour.envs.core import GameSpec, ParlourError
from parlour.envs.registry import _LOADED, loadable, lookup, name_of
from parlour.training.cli import run


class Coin2(CoinSpec):
    id = "coin2_v0"


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    kept = dict(_LOADED)
    yield
    _LOADED.clear()
    _LOADED.update(kept)


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """`offer("x_v0 = a:GAME", ...)`: packages are installed with these entry points."""

    def write(*lines: str) -> None:
        for number, line in enumerate(lines):
            info = tmp_path / f"package{number}-1.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: package{number}\nVersion: 1\n")
            (info / "entry_points.txt").write_text(f"[parlour.games]\n{line}\n")
        monkeypatch.syspath_prepend(tmp_path)

    return write


def test_a_registered_game_is_made_by_its_id_once():
    spec = register(Coin2())
    assert "coin2_v0" in registry
    assert make("coin2_v0").unwrapped.spec is spec
    assert register(spec) is spec
    with pytest.raises(ParlourError, match="another game has the id 'coin2_v0'"):
        register(Coin2())
    with pytest.raises(ParlourError, match="another game has the id 'template_v0'"):
        register(CoinSpec())


def test_what_is_no_game_is_refused_in_one_line():
    class Nameless(CoinSpec):
        id = "Coin"

    class Bare(GameSpec):
        pass

    for spec, why in ((Coin2, "it is a class"), (Bare(), "it has no id, title"), (Nameless(), "id of a game 'Coin'")):
        with pytest.raises(ParlourError, match=why) as caught:
            register(spec)
        assert "\n" not in str(caught.value)


def test_games_with_the_same_id_do_not_share_their_rules(tmp_path, monkeypatch):
    (tmp_path / "elsewhere.py").write_text(Path(__file__).read_text().split("@pytest")[0] + "GAME = Coin2()\n")
    monkeypatch.syspath_prepend(tmp_path)
    ours = register(Coin2())
    theirs = lookup("elsewhere:GAME").spec
    assert make("coin2_v0").unwrapped.game is not make("elsewhere:GAME").unwrapped.game
    assert (name_of(ours), name_of(theirs)) == ("coin2_v0", "elsewhere:GAME")


def test_a_package_that_cannot_be_loaded_does_no_harm_until_its_game_is_asked_for(offer, tmp_path, capsys):
    (tmp_path / "broken.py").write_text("raise RuntimeError('two\\nlines')\n")
    offer("broken_v0 = broken:GAME", "gone_v0 = nowhere:GAME", "other_v0 = parlour.envs._template:GAME")
    assert run(["list"]) == 0
    shown = capsys.readouterr().out
    assert "cannot be loaded" in shown
    assert "RuntimeError" in shown
    assert {"broken_v0", "gone_v0", "other_v0"} <= set(registry)
    assert "template_v0" in [spec.id for spec in loadable()]
    for name, why in (
        ("broken_v0", "RuntimeError: two lines"),
        ("gone_v0", "there is no module 'nowhere'"),
        ("other_v0", "names the game 'template_v0'"),
        ("nowhere:GAME", "there is no module 'nowhere'"),
        ("parlour.envs._template:NONE", "there is no 'NONE' in"),
        ("parlour.envs._template:CoinSpec", "it is a class"),
        ("chess_v6", "game 'chess_v6' is not accepted; accepted: avalon_v0"),
    ):
        assert run(["play", name]) == 2
        told = capsys.readouterr().err
        assert why in told
        assert told.count("\n") == 1


def test_two_packages_with_one_game_are_told_apart(offer):
    offer("twice_v0 = one:GAME", "twice_v0 = two:GAME")
    with pytest.raises(ParlourError, match="offered by one:GAME and by two:GAME"):
        lookup("twice_v0")


def test_a_package_cannot_replace_a_game_of_parlour(offer):
    offer("avalon_v0 = nowhere:GAME")
    assert type(lookup("avalon_v0").spec).__name__ == "AvalonSpec"
