"""The attack by faults of the endpoint: it finds a planted key, a lost game, decisions that do not add up."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
from hardening.faults import FaultsAttack, agents_of
from parlour.policies.llm.server.settings import FAULTS
from parlour.policies.llm.transport.endpoint import Endpoint
from parlour.training.play import decisions

pytestmark = pytest.mark.nightly

ATTACK = FaultsAttack()


def defects(subject: str, folder, of: int = 3) -> list[str]:
    """What some attempts find; each seed leads to another player, half of them by the command line."""
    tried = []
    for seed in range(of):
        (scratch := folder / str(seed)).mkdir()
        tried += [finding.what for finding in ATTACK.attempt(subject, np.random.default_rng(seed), scratch).findings]
    return tried


def test_every_game_meets_every_fault_at_its_own_players():
    subjects = ATTACK.subjects(["mine:GAME"])
    assert {f"mine:GAME fault={fault}" for fault in FAULTS} <= set(subjects)
    assert {f"werewolf_v0 fault={fault}" for fault in (*FAULTS, "none")} <= set(subjects)
    assert agents_of("avalon_v0") == ["chat", "avalon_agent", "avalon_baseline"]
    assert {"chat", "gratr", "werewolf_rag"} <= set(agents_of("werewolf_v0"))
    assert agents_of("mediated_qa_v0") == ["chat"]


@pytest.mark.parametrize("fault", ["none", "filter", "reset", "gzip"])
def test_a_small_game_comes_to_its_end(fault, tmp_path):
    assert defects(f"template_v0 fault={fault}", tmp_path) == []


def test_it_finds_a_key_that_is_written_down(tmp_path, monkeypatch):
    monkeypatch.setattr(Endpoint, "_clean", lambda self, text: text)
    said = defects("template_v0 fault=filter", tmp_path)
    assert {"the key is in game.jsonl", "the key is in what was printed or logged"} <= set(said)


def test_it_finds_decisions_that_do_not_add_up(tmp_path, monkeypatch):
    monkeypatch.setattr(decisions, "_decision", lambda line, refused: decisions.Decisions(first=2))
    assert "decisions do not add up" in defects("template_v0 fault=none", tmp_path)
