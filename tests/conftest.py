"""What the tests share: the tables they run on, random legal games, and a hypothesis profile without chance."""

from __future__ import annotations

import gc
import ipaddress
import json
import socket
from collections.abc import Callable, Generator, Iterator
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings
from parlour.envs import plugins, registry
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.language.speech import ACTS
from parlour.envs.registry import build, loadable
from parlour.envs.spec import GameSpec
from parlour.envs.testing.table import ConfiguredGame, Playout, random_playout
from parlour.policies import TrainedSeat
from parlour.policies.experts import catalogue
from parlour.training import cli

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("ci")


def pytest_configure() -> None:
    """Tests of the core see no package that is installed beside parlour, but those that they install themselves.

    The tests of plugins import from this module by name, so that pytest does not call this for them.
    """
    beside = {entry_point.dist.name for group in plugins.GROUPS for entry_point in entry_points(group=group)}

    def without_them(group: str) -> list[EntryPoint]:
        return [point for point in entry_points(group=group) if point.dist is None or point.dist.name not in beside]

    plugins.entry_points = without_them
    plugins.declared.cache_clear()


class CallBeyondLoopbackError(AssertionError):
    """A test tried to reach another machine. No OSError, so that nobody takes it for a bad connection and tries again."""


def _loopback(host: object) -> bool:
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    try:
        return name == "localhost" or ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


# method of a socket -> where its address stands among the arguments, and how many arguments there are then
_REACHING_OUT = {"connect": (0, 1), "connect_ex": (0, 1), "sendto": (-1, 2), "sendmsg": (3, 4)}


@pytest.fixture(autouse=True, scope="session")
def _no_call_beyond_loopback() -> Iterator[None]:
    """No real call is possible in tests: names are not looked up, sockets of the internet reach loopback only."""

    def guarded(name: str, place: int, least: int) -> Callable[..., Any]:
        real = getattr(socket.socket, name)

        def call(self: socket.socket, *arguments: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and len(arguments) >= least:
                host = arguments[place][0]
                if not _loopback(host):
                    raise CallBeyondLoopbackError(f"{name} to {host!r}; tests reach loopback only")
            return real(self, *arguments)

        return call

    look_up = socket.getaddrinfo

    def look_up_here(host: Any, *arguments: Any, **options: Any) -> Any:
        if host is not None and not _loopback(host):
            raise CallBeyondLoopbackError(f"looking up {host!r}; tests reach loopback only")
        return look_up(host, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        for name, (place, least) in _REACHING_OUT.items():
            patch.setattr(socket.socket, name, guarded(name, place, least))
        patch.setattr(socket, "getaddrinfo", look_up_here)
        yield


PRESETS = ("paper", "reference", "official")
SEVEN_WITH_MORDRED_AND_OBERON = ("Merlin", "Percival", *("Loyal Servant",) * 2, "Assassin", "Mordred", "Oberon")
TEN_WITH_EVERYBODY = ("Merlin", "Percival", *("Loyal Servant",) * 4, "Morgana", "Assassin", "Mordred", "Oberon")


def described(table: ConfiguredGame) -> str:
    """The id of a table in the names of tests."""
    shown = {
        k: f"{len(v)} roles" if k == "roles" and not isinstance(v, str) else Path(v).stem if k == "case" else v
        for k, v in table.options
    }
    return "-".join([table.spec.id, *(f"{k}={v}" for k, v in shown.items())])


def table_of(name: str, options: tuple[tuple[str, Any], ...] = ()) -> ConfiguredGame:
    return ConfiguredGame(registry[name].spec, options)


def avalon_table(num_players: int, rules: str, **options: Any) -> ConfiguredGame:
    return table_of("avalon_v0", (("num_players", num_players), ("rules", rules), *options.items()))


# two sizes with every preset, the others with one each
AVALON_TABLES = [
    *(avalon_table(n, rules) for n in (5, 7) for rules in PRESETS),
    *(avalon_table(n, rules) for n, rules in zip((6, 8, 9, 10), (*PRESETS, "reference"), strict=True)),
]
AVALON_EXTRAS = [
    avalon_table(5, "reference", talk=False),
    avalon_table(7, "official", talk=False),
    avalon_table(7, "paper", roles=SEVEN_WITH_MORDRED_AND_OBERON),
    avalon_table(10, "official", roles=TEN_WITH_EVERYBODY),
    avalon_table(5, "official", talk=False, sizes=(2, 2, 3, 3, 4)),
    avalon_table(7, "reference", guesser="Morgana", two_fails=True),
    avalon_table(5, "paper", speaking="bids"),
]
CASES = Path(__file__).parent / "envs" / "murder_mystery" / "cases"


def mystery_table(case: str, **options: Any) -> ConfiguredGame:
    """A case of ours for tests: `tower_en`, `lake_zh`, or `letter_en` (prose only)."""
    return table_of("murder_mystery_v0", (("case", str(CASES / f"{case}.json")), *options.items()))


def werewolf_table(num_players: int, rules: str, **options: Any) -> ConfiguredGame:
    return table_of("werewolf_v0", (("num_players", num_players), ("rules", rules), *options.items()))


WEREWOLF_TABLES = [
    *(werewolf_table(8, rules) for rules in PRESETS),
    werewolf_table(4, "official", talk=False),
    werewolf_table(6, "paper", talk=False),
    werewolf_table(7, "reference", roles=("Werewolf", "Seer", *("Villager",) * 5), max_days=3),
    werewolf_table(15, "official"),
    werewolf_table(6, "paper", speaking="bids"),
    werewolf_table(6, "paper", votes="as_cast"),
    werewolf_table(9, "paper", roles="hunter", seer="character"),
]
# A game without a list of its own is tested with its defaults.
SPECIAL = {
    "avalon_v0": [*AVALON_TABLES, *AVALON_EXTRAS],
    "werewolf_v0": WEREWOLF_TABLES,
    "mediated_qa_v0": [
        table_of("mediated_qa_v0"),
        table_of("mediated_qa_v0", (("questions", 3), ("joint", "all"), ("pay", "own"))),
        table_of("mediated_qa_v0", (("questions", 2), ("modules", False), ("normalisation", "paper"))),
    ],
    "murder_mystery_v0": [
        table_of("murder_mystery_v0", (("rounds", 1),)),
        mystery_table("tower_en", rounds=2, targets=1, hearing="two", rules="player"),
        mystery_table("lake_zh", rounds=2, questions=2),
        mystery_table("letter_en", rounds=1),
    ],
}
TABLES = [table for name in registry for table in SPECIAL.get(name, [table_of(name)])]
LARGE = 7
"""Players from which the tables of a game are slow to test."""


SIZES = ("num_players", "roles", "talk", "sizes", "max_days", "questions", "rounds")
"""Options that make a table larger or smaller."""


def marked(table: ConfiguredGame) -> Any:
    """A table as a parameter; slow where many sit; nightly if an earlier one differs in its size alone."""
    alike = [other for other in TABLES if _but_for_size(other) == _but_for_size(table)]
    marks = [pytest.mark.slow] if dict(table.options).get("num_players", 0) >= LARGE else []
    marks += [pytest.mark.nightly] if alike and alike[0] != table else []
    return pytest.param(table, id=described(table), marks=marks)


def _but_for_size(table: ConfiguredGame) -> tuple[Any, ...]:
    return table.spec.id, *((name, value) for name, value in table.options if name not in SIZES)


SMALL_TABLES = [SPECIAL.get(name, [table_of(name)])[0] for name in registry] + [
    avalon_table(5, "reference"),
    WEREWOLF_TABLES[4],
]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Doctests only of product files that hold an example: to look for one, pytest imports the file a second time."""
    collected = yield
    if not file_path.name.startswith("test_") and ">>> " in file_path.read_text(encoding="utf-8"):
        return collected
    return [collector for collector in collected if not isinstance(collector, DoctestModule)]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--nightly`: the tests marked so, and no others; without it they are left out."""
    parser.addoption("--nightly", action="store_true", help="run the tests marked nightly, and no others")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Nightly tests apart; then slow tests first, so that the last minutes are not one test on one core."""
    nightly = bool(config.getoption("--nightly"))
    chosen = [item for item in items if ("nightly" in item.keywords) == nightly]
    config.hook.pytest_deselected(items=[item for item in items if ("nightly" in item.keywords) != nightly])
    items[:] = sorted(chosen, key=lambda item: "slow" not in item.keywords)


def pytest_collection_finish() -> None:
    """The garbage collector leaves out what collection made, and comes seldom: it takes a twentieth of the time of tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`table`: every registered game in all configurations. `small_table`: one or two of each. `avalon`: those of Avalon."""
    for argument, tables in (("table", TABLES), ("small_table", SMALL_TABLES), ("avalon", SPECIAL["avalon_v0"])):
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, [marked(table) for table in tables])


def _default(spec: GameSpec) -> Any:
    return build(spec, {})


WITH_WORDS = (*ACTS, *(kind for game in map(_default, loadable()) for kind in game.worded))


@pytest.fixture(scope="session")
def playout() -> Callable[..., Playout]:
    """`playout(game, seed, words=0.3)`: random legal moves from a fixed seed."""

    def play(game: Any, seed: int, words: float = 0.3) -> Playout:
        return random_playout(game, seed, words=words, worded=(*WITH_WORDS, *game.worded))

    return play


@pytest.fixture(scope="session")
def avalon_env() -> Callable[..., GameEnv]:
    """`avalon_env(num_players, rules, **options)`: a bare environment; `roles`, `talk` and settings as it takes them."""

    def make(num_players: int = 6, rules: str = "paper", **options: Any) -> GameEnv:
        return registry["avalon_v0"].raw_env(num_players=num_players, rules=rules, **options)

    return make


@pytest.fixture
def output_of(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """`output_of(words, code=0)`: what a command prints that ends with this code."""

    def command(words: list[str], code: int = 0) -> str:
        status = cli.run(words)
        out, err = capsys.readouterr()
        assert status == code, err
        return out

    return command


@pytest.fixture
def json_of(output_of: Callable[..., str]) -> Callable[..., Any]:
    """`json_of(words, code=0)`: the value that a command prints as JSON."""
    return lambda words, code=0: json.loads(output_of(words, code))


@pytest.fixture
def error_of(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """`error_of(words, code=2, notes=False)`: the line with which a command refuses; `notes`: it tells more before that."""

    def command(words: list[str], code: int = 2, *, notes: bool = False) -> str:
        status = cli.run(words)
        err = capsys.readouterr().err
        assert status == code, err
        assert notes or err.count("\n") == 1, err
        assert err.splitlines()[-1].startswith("parlour: "), err
        return err

    return command


@pytest.fixture(scope="session")
def grace_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mediator learned from 80 generated questions and compared on 60, in a folder that tests leave as it is."""
    out = tmp_path_factory.mktemp("runs") / "grace"
    words = ["train", "grace", "--questions", "80", "--held-out", "60", "--temperature", "0.7", "--floor", "0.02"]
    assert cli.run([*words, "--deploy", "learned", "--out", str(out)]) == 0
    return out


@pytest.fixture
def small_expert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """`small_expert(game, **options)`: makes an expert for this table, not trained, the only one; returns `game.config`."""

    def make(game: str, **options: Any) -> dict[str, Any]:
        env, rng = registry[game].raw_env(features="belief", **options), np.random.default_rng(0)
        sizes = (env.encoder.size, 16, len(env.game.catalogue))
        layers = [(rng.normal(0, b**-0.5, (a, b)), np.zeros(a)) for b, a in pairwise(sizes)]
        config = dict(env.game.config)
        seat = TrainedSeat(game, config, layers, features="belief", activation="relu", sample=True)
        seat.save(tmp_path / "small.npz", "float16")
        points = catalogue.Points(60.0, 55.0, 65.0, 2000)
        catalogue.ExpertCard(
            name="small",
            game=game,
            config=config,
            sha256=sha256((tmp_path / "small.npz").read_bytes()).hexdigest(),
            features="belief",
            command="",
            seed=0,
            decisions=0,
            seconds=0.0,
            date="2000-01-01",
            whole_sides=points,
            one_seat=points,
        ).write(tmp_path / "small.json")
        monkeypatch.setitem(catalogue.FOLDERS, "parlour", tmp_path)
        return config

    return make
