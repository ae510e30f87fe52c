"""What the tests share with those of the core."""

from tests.conftest import _no_call_beyond_loopback, pytest_collect_file  # noqa: F401
