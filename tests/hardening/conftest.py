"""The tables that are attacked, `any_table`: those of the registry, or of the games named in the variable `PARLOUR_GAMES`; and a profile.

The profile `harden` of Hypothesis draws other examples with every seed; `scripts/harden` uses it.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings
from parlour.envs.registry import lookup
from parlour.envs.testing.table import ConfiguredGame

from tests.conftest import TABLES

settings.register_profile("harden", settings.get_profile("ci"), derandomize=False)
OTHERS = [ConfiguredGame(lookup(name).spec) for name in os.environ.get("PARLOUR_GAMES", "").split()]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "any_table" in metafunc.fixturenames:
        tables = OTHERS or TABLES
        metafunc.parametrize("any_table", tables, ids=[f"{table.spec.id} {dict(table.options)}" for table in tables])
