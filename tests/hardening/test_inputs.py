"""Mutated inputs: each is read, or refused in one line; none takes over 2 s or 500 MB. Last, defects are planted."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from parlour.envs.core import ParlourError

from tests.hardening.mutations import mutants
from tests.hardening.readers import READERS, REFUSED, Reader

pytestmark = pytest.mark.nightly

SLOW = 2.0
"""Seconds of this process from which an input is too dear."""
LONGEST = 4000
"""Characters of the line with which an input is refused."""
LARGE = 500 * 2 ** (20 if sys.platform == "darwin" else 10)  # getrusage(2)
"""Memory from which an input is too dear, in the units of `ru_maxrss`."""


def refusal(reader: Reader, content: bytes, folder: Path) -> str:
    """The line with which an input is refused; empty if it is read."""
    try:
        reader.read(content, folder)
    except REFUSED as error:
        line = str(error)
    else:
        return ""
    assert line.strip(), "refused without a reason"
    assert "\n" not in line, "not refused in one line"
    assert len(line) <= LONGEST, f"refused in over {LONGEST} characters"
    return line


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_originals_are_read(reader, tmp_path):
    """Mutants of what is refused anyhow would be refused for the same reason."""
    for original in reader.originals():
        assert refusal(reader, original, tmp_path) == ""


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_mutants_are_read_or_refused(reader, tmp_path):
    refused = set[str]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    @settings(max_examples=100)
    @given(content=reader.mutants(reader.originals()))
    def check(content: bytes) -> None:
        begun = time.process_time()
        refused.add(refusal(reader, content, tmp_path))
        assert time.process_time() - begun < SLOW

    check()
    assert reader.name in ("server's answer", "claims") or refused > {""}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < LARGE


# -- the tests can fail ------------------------------------------------------------------------------------------


def found(read: Any, folder: Path) -> tuple[str, bytes]:
    """What is found where a reader has a defect, and the shortest input that shows it; the same whatever the attack's seed is."""
    seen = [b""]

    @settings(max_examples=500, report_multiple_bugs=False, derandomize=True)
    @given(content=mutants((b'{"a": 1, "b": ["x", 2]}',)) | st.binary(max_size=10))
    def check(content: bytes) -> None:
        seen[0] = content
        refusal(Reader("planted", tuple, read), content, folder)

    with pytest.raises((AssertionError, LookupError, TypeError)) as error:
        check()
    return f"{type(error.value).__name__}: {error.value}", seen[0]


def test_a_reader_that_lets_an_error_through_is_found_with_the_shortest_input(tmp_path):
    def takes(content: bytes, _: Path) -> None:
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            raise ParlourError("no JSON") from None
        if isinstance(value, dict) and "b" in value:
            value["b"][1]

    what, shortest = found(takes, tmp_path)
    assert what.partition(":")[0] in ("TypeError", "IndexError", "KeyError")
    assert len(shortest) <= 25


@pytest.mark.parametrize(
    ("words", "what"),
    [("no JSON:\n{!r}", "not refused in one line"), ("{!r} is not accepted", "refused in over 4000 characters")],
)
def test_a_refusal_of_several_lines_or_at_length_is_found(words, what, tmp_path):
    def refuses(content: bytes, _: Path) -> None:
        raise ParlourError(words.format(content))

    assert what in found(refuses, tmp_path)[0]
