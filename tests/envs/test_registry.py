"""Games are found by their name, wherever they come from; single seats under Gymnasium's ids pass `check_env`, also many at once."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from parlour.envs import make, plugins, register, registry
from parlour.envs._template import CoinSpec
from parlour.envs.core import ParlourError
from parlour.envs.gymnasium_ids import gymnasium_id
from parlour.envs.registry import _LOADED, loadable, lookup, name_of
from parlour.envs.spec import GameSpec
from parlour.wrappers import SeatEnv


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


def test_a_package_that_cannot_be_loaded_does_no_harm_until_its_game_is_asked_for(
    offer, tmp_path, error_of, output_of, caplog, monkeypatch
):
    monkeypatch.setattr(plugins, "_TOLD", set())
    (tmp_path / "broken.py").write_text("raise RuntimeError('two\\nlines')\n")
    offer("broken_v0 = broken:GAME", "gone_v0 = nowhere:GAME", "other_v0 = parlour.envs._template:GAME")
    assert "broken_v0" not in output_of(["list"]).partition("Plugins")[0]
    assert "RuntimeError" in caplog.text
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
        assert why in error_of(["play", name])


SMALL = {"num_players": 5, "rules": "official", "talk": False}
ASYNC_PROSE = {"vectorization_mode": "async", "observation": "text", "vector_kwargs": {"shared_memory": False}}


def first_legal(mask: np.ndarray[Any, Any]) -> int:
    return int(np.flatnonzero(mask)[0])


def steps(env: Any, seed: int, turns: int) -> list[Any]:
    """Many episodes at once, by the first legal action: all that is history, as comparable values."""
    seen, info = env.reset(seed=seed)
    history = [(np.array(seen).tolist(), info["action_mask"].tolist())]
    for _ in range(turns):
        actions = np.array([first_legal(mask) for mask in info["action_mask"]])
        seen, rewards, over, cut, info = env.step(actions)
        history.append((np.array(seen).tolist(), rewards.tolist(), over.tolist(), info["action_mask"].tolist()))
        assert not cut.any()
    env.close()
    return history


# -- the registry ----------------------------------------------------------------------------------------------


def test_gymnasium_imports_the_games_by_the_id_itself():
    """No import of parlour: Gymnasium takes `module:id`."""
    code = (
        "import gymnasium; print(gymnasium.make('parlour.envs:parlour/template-v0').reset(seed=1)[1]['seat'] in (0, 1))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout == "True\n"


# -- one environment -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("observation", ["features", "text"])
@pytest.mark.parametrize("name", list(registry))
def test_every_game_passes_check_env(name, observation):
    """With its spec, so that determinism and all render modes are checked as well; without a single warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(gymnasium_id(name), observation=observation)
        check_env(env.unwrapped)


def test_settings_reach_the_seat_and_the_game():
    env = gymnasium.make("parlour/avalon-v0", opponents="random", seat=3, render_mode="ansi", **SMALL)
    _, info = env.reset(seed=1)
    inner = env.unwrapped
    assert isinstance(inner, SeatEnv)
    assert (info["seat"], inner.seat) == (3, 3)
    assert {key: inner.game_env.game.config[key] for key in SMALL} == SMALL
    assert "Quest 1" in env.render()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"opponents": "nobody"}, "policy 'nobody' is not accepted"),
        ({"players": 5}, "option of avalon_v0 'players' is not accepted"),
        ({"seat": 9, "num_players": 5}, "seat 9 is not accepted"),
        ({"observation": "both"}, "observation 'both' is not accepted; accepted: features, text"),
    ],
)
def test_settings_outside_what_is_accepted_are_refused(settings, message):
    with pytest.raises(ParlourError, match=message):
        gymnasium.make("parlour/avalon-v0", **settings)


# -- many at once ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("observation", ["features", "text"])
def test_many_at_once_are_the_same_in_one_process_and_in_four(observation):
    """Long enough for each to begin new games, which are dealt by chance of its own; then by another seed."""
    prose = ASYNC_PROSE if observation == "text" else {"vectorization_mode": "async"}
    common = {"num_envs": 4, "opponents": "random", **SMALL}
    single = steps(gymnasium.make_vec("parlour/avalon-v0", observation=observation, **common), 5, 40)
    four = steps(gymnasium.make_vec("parlour/avalon-v0", **common, **prose), 5, 40)
    assert single == four
    assert all(any(turn[2][k] for turn in single[1:]) for k in range(4))  # each has ended a game, and gone on
    assert single != steps(gymnasium.make_vec("parlour/avalon-v0", observation=observation, **common), 6, 40)


def test_prose_is_refused_in_shared_memory():
    """Gymnasium would store only the characters that its Text space samples."""
    with pytest.raises(ValueError, match="shared_memory=False"):
        gymnasium.make_vec("parlour/template-v0", num_envs=2, vectorization_mode="async", observation="text")


@pytest.mark.parametrize("order", ["import gymnasium, parlour.envs", "import parlour.envs, gymnasium"])
def test_gymnasium_knows_the_games_whichever_package_is_imported_first(order):
    """In a process of its own, where the games of installed packages are there too."""
    code = f"""{order}
from parlour.envs.gymnasium_ids import gymnasium_id
known = sorted(name for name in gymnasium.registry if name.startswith('parlour/'))
assert known == sorted(map(gymnasium_id, parlour.envs.registry)), known
print(*known)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) >= set(map(gymnasium_id, registry))


def test_the_games_alone_import_neither_gymnasium_nor_pettingzoo():
    code = "import sys, parlour.envs; print([name for name in ('gymnasium', 'pettingzoo', 'numpy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
