"""Does a game keep the contract of `parlour.envs.core`? The checks that parlour's own tests run, for any game.

    from parlour.envs.testing import check_game

    def test_contract():
        check_game(GAME)

They correspond to `gymnasium.utils.env_checker` and `pettingzoo.test`, and call both; PettingZoo's suite needs pygame.
They raise under `python -O`, too; the two libraries' own suites use `assert`, which finds nothing there.
"""

from __future__ import annotations

import contextlib
import io
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from parlour.envs.spec import GameSpec
from parlour.envs.testing import conformance, redeal, require, spoof
from parlour.envs.testing.table import ConfiguredGame

__all__ = ["CHECKS", "check_game", "failure_of", "run_checks"]

Check = Callable[[ConfiguredGame], None]
CHECKS: Final[tuple[Check, ...]] = (
    conformance.catalogue,
    conformance.legal_moves,
    conformance.words_in_moves,
    conformance.illegal_moves,
    conformance.purity,
    conformance.config,
    conformance.ends,
    conformance.card,
    conformance.spec_options,
    conformance.heuristic,
    conformance.choice_section,
    conformance.canonical_sentences,
    conformance.default_moves,
    conformance.incremental_prose,
    conformance.features,
    conformance.own_features,
    conformance.own_actions,
    redeal.event_visibility,
    redeal.hidden_information,
    redeal.hidden_phases,
    spoof.spoofed_prose,
    spoof.spoofed_moves,
    conformance.replays,
    conformance.pettingzoo_tests,
    conformance.gymnasium_check_env,
)
"""The docstring of a check is the requirement; it raises an error if a table does not meet it."""


def run_checks(spec: GameSpec, configs: Sequence[Mapping[str, Any]] | None = None) -> Iterator[tuple[str, str]]:
    """Run all checks. Yields the name of each and why it failed, empty if it passed. See `check_game`."""
    tables = [ConfiguredGame(spec, tuple(config.items())) for config in ([{}] if configs is None else configs)]
    for check in CHECKS:
        yield check.__name__, next(filter(None, (failure_of(check, table) for table in tables)), "")


def check_game(spec: GameSpec, configs: Sequence[Mapping[str, Any]] | None = None) -> None:
    """Run all checks on a game.

    Args:
        spec: The game; it need not be registered.
        configs: Options of the game to check it with; None: the defaults only.

    Raises:
        AssertionError: A check failed; the message names the check, the configuration and the line.
    """
    for name, failure in run_checks(spec, configs):
        if failure:
            raise AssertionError(f"{spec.id}: {name}: {failure}")


def failure_of(check: Check, table: ConfiguredGame) -> str:
    """Why a check failed, in one line; empty if it passed."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")  # PettingZoo warns of prose and of empty masks, which are by design
            check(table)
    except Exception as error:  # whatever the game raises
        frames = traceback.extract_tb(error.__traceback__)
        last = next((frame for frame in reversed(frames) if frame.filename != require.__file__), frames[-1])
        failure = f"{check.__doc__} Failed{f' with {dict(table.options)}' if table.options else ''}: "
        failure += f"{type(error).__name__} {error} ({last.filename}:{last.lineno}: {last.line})"
        return " ".join(failure.split())
    return ""
