"""Does a game keep the contract of `parlour.envs.core`? What parlour's own tests call, for games of anybody.

    from parlour.envs.testing import check_game

    def test_the_contract():
        check_game(GAME)

Conformance, leaks, spoofs, replay, and the suites of PettingZoo and Gymnasium, as `gymnasium.utils.env_checker` and
`pettingzoo.test` are for their environments. PettingZoo's suite needs pygame.
"""

from __future__ import annotations

import contextlib
import io
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from parlour.envs.core import GameSpec, ParlourError
from parlour.envs.testing.table import Table, random_playout

__all__ = ["SUITES", "Table", "check_game", "checks", "random_playout", "run_checks"]

SUITES: Final = ("conformance", "leaks", "spoof", "replaying", "contracts")
"""The modules of this package that have `CHECKS`."""
Check = Callable[[Table], None]


def checks(suite: str) -> tuple[Check, ...]:
    """The checks of a suite. Raises `ParlourError` where a library that it needs is not installed."""
    try:
        found: tuple[Check, ...] = import_module(f"parlour.envs.testing.{suite}").CHECKS
    except ModuleNotFoundError as error:
        raise ParlourError(f"{error.name} is not installed; accepted: pip install 'parlour[dev]'") from None
    return found


def run_checks(spec: GameSpec, configs: Sequence[Mapping[str, Any]] = ({},)) -> Iterator[tuple[str, str]]:
    """Run all checks. Yields the name of each, and why it failed; empty if it did not."""
    tables = [Table(spec, tuple(config.items())) for config in configs]
    for suite in SUITES:
        for check in checks(suite):
            yield check.__name__, next(filter(None, (_failure(check, table) for table in tables)), "")


def check_game(spec: GameSpec, configs: Sequence[Mapping[str, Any]] = ({},)) -> None:
    """Check a game in some configurations.

    Args:
        spec: The game; it need not be registered.
        configs: Options of `spec.build`, a table each; by default its defaults.

    Raises:
        AssertionError: A check failed; the message says which one, at which table, and where.
        ParlourError: A configuration is not accepted.
    """
    for name, failure in run_checks(spec, configs):
        if failure:
            raise AssertionError(f"{spec.id}: {name}: {failure}")


def _failure(check: Check, table: Table) -> str:
    """Why a table failed a check, in one line; empty if it did not."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")  # prose is no array, a seat that waits has an empty mask: all by design
            check(table)
    except Exception as error:  # whatever the game raises
        last = traceback.extract_tb(error.__traceback__)[-1]
        told = " ".join(f"{type(error).__name__} {error}".split())
        wanted = " ".join((check.__doc__ or "").split())
        options = f" with {dict(table.options)}" if table.options else ""
        return f"{wanted} Not so{options}: {told} ({last.filename}:{last.lineno}: {last.line})"
    return ""
