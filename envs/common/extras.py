"""Optional packages: what to install where one is missing, in one text for every error, and FAISS kept to one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from parlour.envs.core import ParlourError

_CONSTRAINED: Final = frozenset(
    (
        "batch",
        "browser",
        "corpora",
        "dev",
        "docs",
        "embed",
        "gambit",
        "nli",
        "retrieve",
        "serve",
        "tensorboard",
        "train",
        "wandb",
    )
)
"""Extras whose tested versions are in `constraints.txt`; an extra of another library has a file of its own."""
_FILES: Final = {"lm": "train_lm", "sb3": "supersuit"}
"""Extra -> the name of its file, where that is another."""


def install(extra: str) -> str:
    """The command that installs an extra. It is editable: a copy would replace the editable install of a checkout.

    >>> install("train")
    'pip install -c constraints.txt -e ".[train]" --config-settings editable_mode=strict in a checkout of parlour (nothing is on PyPI yet)'
    """
    own = f"docs/integrations/{_FILES.get(extra, extra)}.txt"
    versions = "constraints.txt" if extra in _CONSTRAINED else own
    pip = f'pip install -c {versions} -e ".[{extra}]" --config-settings editable_mode=strict'
    return f"{pip} in a checkout of parlour (nothing is on PyPI yet)"


def not_installed(package: str | None, extra: str) -> ParlourError:
    """The error where a package of an extra is missing."""
    return ParlourError(f"{package} is not installed; accepted: {install(extra)}")


@contextmanager
def one_faiss_thread() -> Iterator[None]:
    """Keep FAISS to one thread in here: processes of a pool and games in threads share the cores.

    A search spread over all cores would be slower (one query over 10,000 texts took 1.7 ms on two threads, 0.5 ms on one).
    OpenMP keeps the setting for each thread of Python apart: make it where the search is, and nobody else's changes.
    """
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
