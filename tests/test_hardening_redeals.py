"""The attack "redeals" of `scripts/harden`: it counts what it compares, and finds a planted leak."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hardening.redeals import ATTACKS, ENOUGH
from parlour.envs.registry import registry
from parlour.envs.werewolf.rules import Werewolf

pytestmark = pytest.mark.nightly

ATTACK = ATTACKS[0]
SUBJECT = "werewolf_v0 num_players=8 rules=paper"


def test_every_game_of_the_registry_is_a_subject_with_its_presets_and_numbers_of_seats():
    subjects = ATTACK.subjects(())
    assert {subject.partition(" ")[0] for subject in subjects} == set(registry)
    assert SUBJECT in subjects
    assert "avalon_v0 num_players=10 rules=official" in subjects


def test_an_attempt_counts_moments_twins_and_cycles_and_finds_nothing(tmp_path):
    for subject in ("template_v0", SUBJECT):
        tried = ATTACK.attempt(subject, np.random.default_rng(1), tmp_path)
        assert tried.tries >= ENOUGH
        assert tried.counts["twins"] > 0
        assert tried.counts["cycles"] > 0
        assert tried.findings == ()


def test_a_planted_leak_is_found_with_the_moves_that_show_it(monkeypatch, tmp_path):
    """Nights as long as there are wolves to act: the cycles of the same knowledge differ."""
    monkeypatch.setattr(Werewolf, "hidden_cycles", lambda self, view: 0)
    findings: list[Any] = []
    for seed in range(8):
        findings += ATTACK.attempt(SUBJECT, np.random.default_rng(seed), tmp_path).findings
        if findings:
            break
    assert findings[0].what == "cycles, table features tells a seat more than it knows"
    data = json.loads(findings[0].shortest)
    assert data["moves"][0][0] == "deal"
    assert data["twin"] != data["moves"]
