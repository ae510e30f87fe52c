"""What a command imports before it does anything: nothing heavy that it does not use."""

from __future__ import annotations

import subprocess
import sys

import pytest
from parlour import policies
from parlour.policies import REGISTRY

HEAVY = (
    *("numpy", "gymnasium", "pettingzoo", "scipy", "networkx", "openai", "faiss", "torch", "numba", "matplotlib"),
    "parlour.policies.agents.chat.player",
)


@pytest.mark.parametrize("words", ["--help", "train --help", "list", "play --help"])
def test_these_commands_import_nothing_heavy(words: str) -> None:
    code = (
        "import sys; from parlour.training.cli import run; code = run(sys.argv[1:]);"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words.split()], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"
    assert done.stdout


def test_a_player_is_registered_under_the_name_that_its_class_has() -> None:
    named = {name: kind.cls.name for name, kind in REGISTRY.items() if not kind.extra}
    assert named == {name: name for name in named}
    assert {"random", "chat", "gratr", "questum", "grace"} <= set(named)


def test_every_public_name_of_the_players_can_be_imported() -> None:
    assert [name for name in policies.__all__ if not hasattr(policies, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        _ = policies.Nobody  # type: ignore[attr-defined]
