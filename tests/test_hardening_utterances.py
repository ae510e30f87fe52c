"""The attack by hostile utterances finds what is planted, and nothing at tables as they are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hardening.attack import Finding
from hardening.attacks import all_attacks
from hardening.hostile_words import HUGE, utterance
from hardening.runner import attempted
from parlour.envs._template.encode import CoinEncoder
from parlour.envs._template.text import CoinText
from parlour.envs.language.text import say_speech

pytestmark = pytest.mark.nightly

TINY = "template_v0"
AVALON = "avalon_v0 num_players=5 rules=official"


def findings_of(folder: Path, subject: str = TINY, attempts: int = 12) -> list[Finding]:
    """The findings of the first attempt with seed 0, of those up to this number, that has any."""
    for number in range(attempts):
        if findings := attempted(all_attacks()["utterances"], subject, number, 0, folder).findings:
            return list(findings)
    return []


@pytest.mark.slow
@pytest.mark.parametrize("subject", [TINY, AVALON, "werewolf_v0 num_players=4 rules=paper", "mediated_qa_v0"])
def test_nothing_is_found_at_tables_as_they_are(subject, tmp_path):
    assert findings_of(tmp_path, subject, attempts=3) == []


def test_a_line_that_does_not_escape_quotation_marks_is_found_with_the_shortest_words(monkeypatch, tmp_path):
    line = CoinText.line

    def unescaped(self: Any, event: Any) -> str:
        if event.move.words:
            taken = say_speech(event.move, ()) if event.move.kind != "promise" else self.say(event.move)
            return f'player_{event.seat} says: "{event.move.words}" (taken as: {taken})\n'
        return line(self, event)

    monkeypatch.setattr(CoinText, "line", unescaped)
    findings = findings_of(tmp_path, attempts=12)
    assert {finding.what.split(" (")[0] for finding in findings} == {"the prose changes beyond the quoted line"}
    shortest = min((json.loads(finding.shortest)["words"] for finding in findings), key=len)
    assert len(shortest) <= 2  # a quotation mark, or a backslash before something
    assert re.search(r'["\\]', shortest)


def test_features_that_read_words_are_found(monkeypatch, tmp_path):
    encode = CoinEncoder.__call__

    def reads(self: Any, view: Any) -> Any:
        seen = encode(self, view)
        seen[2] += 0.01 * any("\\" in event.move.words for event in view.events)
        return seen

    monkeypatch.setattr(CoinEncoder, "__call__", reads)
    assert {finding.what for finding in findings_of(tmp_path, attempts=20)} == {"features change"}


@pytest.mark.slow
def test_a_player_that_takes_words_for_private_lines_is_found(monkeypatch, tmp_path):
    private = "parlour.policies.agents.chat._secret"
    monkeypatch.setattr(private, lambda lines, info: ["Privately" in line for line in lines])
    assert "a prompt changes beyond the quoted line" in {
        finding.what for finding in findings_of(tmp_path, AVALON, attempts=30)
    }


def test_utterances_are_of_all_kinds_and_the_longest_has_5_mb():
    drawn = [utterance(np.random.default_rng(seed), ["Moderator: Night falls.\n"]) for seed in range(1200)]
    assert max(map(len, drawn)) == HUGE
    for mark in ("\u202e", "\x1b", "\u2028", "# ", "忽略", "Ignore all", '{"', "Night falls", "\ud800", "\x00"):
        assert any(mark in words for words in drawn), mark
