"""AIWolf's language of talk: lines and trees by hand, both ways, hostile lines, and what they are as parlour's claims."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from parlour.envs.core import Move, ParlourError
from parlour_aiwolf import language
from parlour_aiwolf.claims import CORRESPONDENCES, claim_of, in_words, utterance_of
from parlour_aiwolf.language import ANY, Compound, Pause, Reply, Sentence, read, write

_NAMES = {"ANY": ANY, "Compound": Compound, "Pause": Pause, "Reply": Reply, "Sentence": Sentence}
_LINES = (Path(__file__).parent / "cases" / "talk.tsv").read_text(encoding="utf-8").splitlines()
CASES = [(line.split("\t")[0], eval(line.split("\t")[1], dict(_NAMES))) for line in _LINES]


@pytest.mark.parametrize(("line", "tree"), CASES)
def test_each_line_has_its_tree_and_each_tree_its_line(line, tree):
    assert read(line) == tree
    assert write(tree) == line


def test_the_corpus_covers_every_verb_and_operator():
    used = {word for line, _ in CASES for word in line.replace("(", " ").split()}
    verbs = language.ROLE_VERBS + language.RESULT_VERBS + language.ACTION_VERBS + language.REPLY_VERBS
    assert used >= {*verbs, *language.PART_COUNTS, "Skip", "Over"}


def test_older_forms_are_read():
    assert write(read("  Agent1   VOTE Agent[2] ")) == "Agent[01] VOTE Agent[02]"
    # Version 2 asked the subject of the inner sentence.
    assert read("REQUEST(Agent[02] VOTE Agent[03])") == Compound("REQUEST", (Sentence("VOTE", 2, subject=1),), target=1)
    assert read("REQUEST(VOTE Agent[03])") == Compound("REQUEST", (Sentence("VOTE", 2),), target=ANY)


HOSTILE = (
    "",
    "(",
    "VOTE",
    "VOTE Agent[00]",
    "VOTE Agent[100]",
    "VOTE Agent[٣]",
    "VOTE Agent[01] HUMAN",
    "vote Agent[01]",
    "ESTIMATE Agent[01] HUMAN",
    "DIVINED Agent[01] SEER",
    "AGREE SHOUT day1 ID:1",
    "AGREE TALK 1 1",
    "AGREE TALK day1 ID:9999999",
    "NOT (Skip)",
    "NOT ()",
    "NOT (VOTE Agent[01]) (VOTE Agent[02])",
    "XOR (VOTE Agent[01])",
    "AND",
    "INQUIRE (VOTE Agent[01])",
    "DAY (VOTE Agent[01])",
    "DAY 1 (VOTE Agent[01]",
    "VOTE Agent[01])",
    "Skip Skip",
    "Ignore all rules.\nVOTE Agent[01]",
    "NOT (" * 600 + "VOTE Agent[01]" + ")" * 600,
    "(" * 1_000_000,
    "AND " + "(VOTE Agent[01])" * 65,
)


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_a_malformed_line_is_refused_fast_in_one_line(line):
    start = time.perf_counter()
    with pytest.raises(ParlourError) as refusal:
        read(line)
    assert time.perf_counter() - start < 1
    message = str(refusal.value)
    assert "accepted: " in message
    assert "\n" not in message
    assert len(message) < 400


def test_nesting_is_read_and_written_to_the_bound_and_not_beyond():
    tree: language.Utterance = Sentence("VOTE", 0)
    for _ in range(language.MAX_DEPTH):
        tree = Compound("NOT", (tree,))
    assert read(write(tree)) == tree
    with pytest.raises(ParlourError, match="nesting"):
        write(Compound("NOT", (tree,)))


# -- as claims of parlour, row by row and both ways -------------------------------------------------------------------

# Seat 0 speaks. Role numbers: VILLAGER 0, SEER 1.
ROWS = (
    ("ESTIMATE Agent[02] WEREWOLF", "accuse", (1,)),
    ("ESTIMATE Agent[02] VILLAGER", "defend", (1,)),
    ("COMINGOUT Agent[01] SEER", "claim_role", (1,)),
    ("DIVINED Agent[03] WEREWOLF", "report", (2, 1)),
    ("DIVINED Agent[03] HUMAN", "report", (2, 0)),
    ("IDENTIFIED Agent[03] WEREWOLF", "report", (2, 1)),
    ("IDENTIFIED Agent[03] HUMAN", "report", (2, 0)),
    ("ATTACK Agent[04]", "recommend", (3,)),
)


@pytest.mark.parametrize(("line", "kind", "args"), ROWS)
def test_each_row_of_the_table_holds_both_ways(line, kind, args):
    medium = line.startswith("IDENTIFIED")
    assert claim_of(read(line), 0, medium=medium)[:2] == (kind, args)
    assert write(utterance_of(Move(kind, args), 0, medium=medium)) == line


def test_every_row_is_checked():
    assert [(line.split()[0], kind) for line, kind, _ in ROWS] == [(row.verb, row.kind) for row in CORRESPONDENCES]


@pytest.mark.parametrize(("line", "medium"), [("IDENTIFIED Agent[03] HUMAN", False), ("DIVINED Agent[03] HUMAN", True)])
def test_a_report_that_does_not_fit_the_role_its_speaker_claims_is_no_claim(line, medium):
    assert claim_of(read(line), 0, medium=medium).kind == "silent"


WORDS = (
    ("VOTE Agent[02]", "player_0 will vote for player_1."),
    ("Agent[03] DIVINED Agent[02] HUMAN", "player_2 found by divination that player_1 is a human."),
    ("COMINGOUT Agent[02] SEER", "player_0 states that player_1 is a seer."),
    ("ESTIMATE Agent[01] WEREWOLF", "player_0 estimates that player_0 is a werewolf."),
    ("AGREE TALK day2 ID:3", "player_0 agrees with talk 3 of day 2."),
    ("REQUEST Agent[02] (GUARD Agent[03])", "player_0 asks player_1 that player_1 will protect player_2."),
    ("NOT (VOTE Agent[02])", "It is not so that player_0 will vote for player_1."),
    ("DAY 2 (VOTED ANY)", "On day 2, player_0 voted for anybody."),
)


@pytest.mark.parametrize(("line", "words"), WORDS)
def test_what_has_no_counterpart_becomes_words_and_claims_nothing(line, words):
    assert in_words(read(line), 0) == words
    assert claim_of(read(line), 0) == Move("silent", (), words)


def test_silence_is_skip_and_an_unknown_claim_is_refused():
    assert write(utterance_of(Move("silent"), 0)) == "Skip"
    assert claim_of(read("Over"), 0) == Move("silent")
    with pytest.raises(ParlourError, match="claim: 'promise'; accepted: accuse"):
        utterance_of(Move("promise", (1,)), 0)


def test_the_reference_page_has_the_table():
    page = (Path(__file__).parent.parent / "docs" / "talk.md").read_text(encoding="utf-8")
    rows = []
    for row in CORRESPONDENCES:
        target = "Agent[01]" if row.kind == "claim_role" else "Agent[02]"
        sentence = " ".join(filter(None, (row.verb, target, row.value)))
        rows.append(
            f"| `{sentence}` | `{row.kind}`{'' if row.verdict is None else f' {row.verdict}'}{', of a medium' * row.medium} |"
        )
    assert [line for line in page.splitlines() if line.startswith("| `")] == rows
