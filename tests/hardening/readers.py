"""Readers of what others wrote, each for one kind of input: bytes are read, or refused by an error in one line.

A reader goes as far as the library does with such an input: a transcript is played again, a policy plays, an option builds
its game, a request's body becomes a question.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hardening import originals
from hardening.mutations import Mutator, Original
from parlour.envs import replay
from parlour.envs.avalon.vocabulary import ROLES
from parlour.envs.core import ParlourError
from parlour.envs.language.claims import claims
from parlour.envs.language.text import end_of
from parlour.envs.mediated_qa import corpora
from parlour.envs.mediated_qa.corpora.documents import read_documents
from parlour.envs.murder_mystery.cases import case
from parlour.envs.registry import build, lookup
from parlour.policies.agents.mediated_qa import policy_file
from parlour.policies.llm.server.protocol import Refused, parsed, question
from parlour.policies.llm.transport.answers import read_reply, refusal
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.trained import TrainedSeat
from parlour.training.cli.options import key_values
from parlour.training.learn.mediators import table
from parlour.training.play.decisions import of_transcript

REFUSED = (ParlourError, Refused)


@dataclass(frozen=True)
class Reader:
    """How one kind of input is read."""

    name: str
    batch: int
    """Mutants of one attempt."""
    originals: Callable[[], Sequence[Original]]
    read: Callable[[bytes, Path], None]
    """Raises one of `REFUSED`, or reads; `Path` is a scratch folder."""
    spoil: Callable[[Mutator, np.random.Generator], bytes] = lambda mutator, _: mutator.mutant()
    """Makes a mutant."""


def _file(content: bytes, folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def transcript(content: bytes, _: Path) -> None:
    """Read and played again, and all that `parlour replay` shows of it."""
    transcript = replay.Transcript.parse(content, "x.jsonl")
    text = replay.text_of(transcript)
    for step in replay.reenact(transcript, watched=()):
        if step.move is not None:
            text.say(step.move)
    of_transcript(transcript)
    *_, last = replay.states(transcript.game(), transcript.moves)
    for event in last.log:
        text.line(event)
    if transcript.outcome is not None:
        end_of(text, transcript.outcome)


def trained_seat(content: bytes, folder: Path) -> None:
    """Loaded for a table, and asked for one action."""
    env = lookup("template_v0").raw_env(observation="features")
    env.reset(seed=0)
    player = TrainedSeat.load_for(_file(content, folder, "x.npz"), "template_v0", env.game.config)
    player.reset(0, 0)
    observation, _, _, _, info = env.last()
    env.step(player.act(observation, info))


def spoilt_arrays(mutator: Mutator, rng: np.random.Generator) -> bytes:
    """A file of arrays, spoilt in its bytes, or packed again with an array, a name or the settings changed."""
    if rng.random() < 0.5:
        return mutator.mutant()
    arrays = originals.arrays(mutator.originals[0].content)
    name = sorted(arrays)[int(rng.integers(len(arrays)))]
    if name == "parlour_seat":
        text = Mutator([Original(str(arrays[name]).encode())], rng).mutant().decode("utf-8", "replace")
        arrays[name] = np.array(text.replace("\0", ""))
    else:
        arrays[name] = _ARRAYS[int(rng.integers(len(_ARRAYS)))](arrays[name])
    if rng.random() < 0.2:
        arrays["x"] = arrays.pop(name)
    packed = io.BytesIO()
    (np.savez if rng.random() < 0.5 else np.savez_compressed)(packed, **arrays)
    return packed.getvalue()


_ARRAYS: tuple[Callable[[Any], Any], ...] = (
    *(lambda a: a.T, lambda a: a[:1], lambda a: a[:0], lambda a: np.full_like(a, np.nan), lambda a: np.float32(0)),
    *(lambda a: np.concatenate([a, a]), lambda a: a[..., None], lambda a: a.astype("U5"), lambda a: a.astype(complex)),
    *(
        lambda a: a.astype(np.float16),
        lambda a: np.full_like(a, 1e38),
        lambda a: np.zeros(2**22, np.int8),
        lambda a: -a,
    ),
)


def settings(content: bytes, _: Path) -> None:
    """Options of a game as on the command line: the game in the first line."""
    name, *pairs = _text(content).split("\n")
    build(lookup(name if name in originals.GAMES else "avalon_v0").spec, key_values([pair for pair in pairs if pair]))


def reply_to(number: int) -> Callable[[bytes, Path], None]:
    """The reader of a model's reply to one of the questions."""
    return lambda content, _: originals.questions()[number].question.read(_text(content)) and None


def chat_body(content: bytes, _: Path) -> None:
    """The body of a request: checked, and the question in it."""
    question(parsed(content))


def utilities(content: bytes, _: Path) -> None:
    """A table of utilities, as CSV and as JSON."""
    (table.from_json if content[:1] in (b"[", b"{") else table.from_csv)(_text(content))


def endpoint(content: bytes, _: Path) -> None:
    """What a server answered, as a completion and as a failure; whatever it is, it is read."""
    read_reply(_text(content))
    refusal(400, _text(content))


def said(content: bytes, _: Path) -> None:
    """Free words, read for their claims: whatever they are, they claim something of those present, or nothing."""
    claimed = claims(_text(content), 1, 5, ROLES)
    if any(not 0 <= seat < 5 for claim in claimed for seat in claim.seats):
        raise AssertionError("a claim about nobody present")


READERS: tuple[Reader, ...] = (
    Reader("claims", 100, lambda: originals.SAYINGS, said),
    Reader("transcript", 20, originals.transcripts, transcript),
    Reader("case", 20, originals.cases, lambda content, folder: case.load(_file(content, folder, "x.json")) and None),
    Reader("policy.npz", 10, originals.policies, trained_seat, spoilt_arrays),
    Reader("policy.json", 200, originals.mediators, lambda content, _: policy_file.loads(_text(content)) and None),
    Reader("game settings", 100, lambda: originals.SETTINGS, settings),
    *(
        Reader(f"reply to {kind}", 150, lambda k=k: originals.replies()[k], reply_to(k))  # type: ignore[misc]
        for k, kind in enumerate(originals.ASKED)
    ),
    Reader("chat body", 100, originals.bodies, chat_body),
    Reader("server's answer", 200, lambda: originals.COMPLETIONS, endpoint),
    Reader("utilities", 100, lambda: originals.TABLES, utilities),
    *(
        Reader(
            f"{form} corpus",
            20,
            lambda form=form: originals.CORPORA[form],  # type: ignore[misc]
            lambda content, folder, form=form: corpora.load(_file(content, folder, "x.json"), form=form) and None,  # type: ignore[misc]
        )
        for form in originals.CORPORA
    ),
    Reader(
        "documents",
        20,
        lambda: originals.DOCUMENTS,
        lambda content, folder: read_documents(_file(content, folder, "x.jsonl")) and None,
    ),
    Reader(
        "prices",
        10,
        lambda: originals.PRICES,
        lambda content, folder: Prices.load(_file(content, folder, "x.json")) and None,
    ),
)
