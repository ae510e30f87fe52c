"""scripts/test-browser finds the browser that is there, so that its tests are not skipped where they could run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "test-browser"


def chromium_at(path, named=None):
    """What the script's own function prints, and its exit code."""
    function = re.search(r"^find_chromium\(\) \{\n.*?^\}\n", SCRIPT.read_text(), re.MULTILINE | re.DOTALL)[0]
    env = {"PATH": str(path)} | ({} if named is None else {"PARLOUR_CHROMIUM": named})
    bash = next(Path(folder) / "bash" for folder in os.environ["PATH"].split(":") if (Path(folder) / "bash").exists())
    done = subprocess.run(
        [bash, "-c", function + "find_chromium"], env=env, capture_output=True, text=True, check=False
    )
    return done.stdout.strip(), done.returncode


@pytest.fixture
def programs(tmp_path):
    for name in ("chromium", "my-browser"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


def test_a_browser_on_the_path_is_found_where_none_is_named(programs):
    """It printed nothing and ended with 0, so that all was skipped."""
    assert chromium_at(programs) == (f"{programs}/chromium", 0)
    assert chromium_at(programs, named="") == (f"{programs}/chromium", 0)


def test_the_browser_that_is_named_comes_first(programs):
    assert chromium_at(programs, named=f"{programs}/my-browser") == (f"{programs}/my-browser", 0)


def test_none_is_found_where_there_is_none(tmp_path):
    assert chromium_at(tmp_path) == ("", 1)
