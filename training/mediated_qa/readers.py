"""Who answers and checks in an experiment: the reader of the pipeline, chosen by words."""

from __future__ import annotations

from typing import Final

from parlour.envs.core import ParlourError, check_one_of
from parlour.envs.mediated_qa.pipeline import OfflineReader, Reader
from parlour.envs.mediated_qa.readers import ExtractiveReader
from parlour.training.mediated_qa.held_out import HeldOutConfig

READERS: Final = ("offline", "extract")
SIMULATED: Final = "simulated memory"
"""What results say of answers that a simulated memory gave to questions of a file."""


def make(config: HeldOutConfig) -> Reader:
    """The reader of an experiment.

    Raises:
        ParlourError: It is not accepted, or its memory would be a fiction that nobody asked for.
    """
    name = config.reader or "offline"
    check_one_of("reader", name, READERS)
    if config.simulate_memory and name != "offline":
        raise ParlourError(f"reader {name!r} with simulate_memory; accepted: reader offline, or no simulated memory")
    if name == "extract":
        return ExtractiveReader()
    if config.corpus and not config.simulate_memory:
        raise ParlourError(
            "reader 'offline' remembers made-up facts, not those of a corpus; accepted: --reader extract, or "
            "--simulate-memory to have its memory drawn at random"
        )
    return OfflineReader()


def note(config: HeldOutConfig) -> str:
    """What tables and policies say of who answered; empty for the offline reader of generated questions."""
    if not config.corpus and config.reader in ("", "offline"):
        return ""
    return SIMULATED if config.simulate_memory else f"reader {config.reader}"
