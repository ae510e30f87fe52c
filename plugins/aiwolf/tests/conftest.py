"""What the tests share: fixtures of the core's tests, and their yardsticks in this folder."""

import sys
from pathlib import Path

from tests.conftest import _no_call_beyond_loopback, error_of, json_of, output_of, pytest_collect_file  # noqa: F401

sys.path.append(str(Path(__file__).parent))
