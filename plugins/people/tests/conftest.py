"""What the plugin's tests share: fixtures of the core's tests, and the games of GPT-5.1."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path

import pytest

from tests.conftest import (  # noqa: F401
    _no_call_beyond_loopback,
    avalon_env,
    error_of,
    json_of,
    output_of,
    playout,
    pytest_collect_file,
    small_expert,
)
from tests.reference_data import reference
from tests.training.records.conftest import refused, taken  # noqa: F401

sys.path.append(str(Path(__file__).parent))

from gpt51_record import game_made


@pytest.fixture
def made():
    """A game of five that holds every case: rejections, a fifth team, a fail, the guess. See `MISSIONS`."""
    return copy.deepcopy(game_made())


@pytest.fixture(scope="session")
def gpt51():
    """The folder with the games of GPT-5.1."""
    return reference("gpt51_avalon")


@pytest.fixture(scope="session")
def gpt51_games(gpt51):
    return [json.loads(line) for file in sorted(gpt51.glob("*.jsonl")) for line in file.read_text().splitlines()]
