"""Processes that play for another one, and end when it does, however it ends."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from threading import Thread


def make_pool(workers: int) -> ProcessPoolExecutor:
    """So many fresh processes. What is sent to them must be picklable, and of modules that can be imported."""
    return ProcessPoolExecutor(workers, get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """Without this, a killed run would play on, and its idle processes would wait for ever."""
    Thread(target=_wait, daemon=True).start()


def _wait() -> None:
    parent = parent_process()
    assert parent is not None, "called in a process of a pool"
    parent.join()
    os._exit(1)
