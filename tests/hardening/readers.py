"""Readers of what others wrote, each for one kind of input, with small inputs that it takes.

A reader goes as far as the library does with such an input: a transcript is played again, a policy plays, an option builds
its game, a request's body becomes a question.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import strategies as st
from parlour.envs import replay
from parlour.envs.avalon.vocabulary import ROLES
from parlour.envs.core import ParlourError
from parlour.envs.language.claims import claims
from parlour.envs.language.text import end_of
from parlour.envs.mediated_qa import corpora
from parlour.envs.mediated_qa.corpora.documents import read_documents
from parlour.envs.murder_mystery.cases import case
from parlour.envs.murder_mystery.generate import from_seed
from parlour.envs.registry import build, lookup
from parlour.policies.agents.mediated_qa import policy_file
from parlour.policies.llm.server.protocol import Refused, parsed, question
from parlour.policies.llm.transport.answers import read_reply, refusal
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.trained import TrainedSeat
from parlour.training.cli.options import key_values
from parlour.training.learn.mediators import table
from parlour.training.play import asked
from parlour.training.play.asked import At, Heard
from parlour.training.play.decisions import of_transcript
from parlour.wrappers import Recorder

from tests.envs.mediated_qa.corpora.test_forms import FILES
from tests.hardening.mutations import mutants

REFUSED = (ParlourError, Refused)
GAMES: dict[str, dict[str, Any]] = {
    "template_v0": {},
    "avalon_v0": {"num_players": 5},
    "werewolf_v0": {"num_players": 6},
    "murder_mystery_v0": {"case": "train_en", "rounds": 1},
    "mediated_qa_v0": {"questions": 2},
}
ASKED = {
    "avalon_agent.act": ("avalon_v0", {"num_players": 6}),
    "avalon_agent.weigh": ("avalon_v0", {"num_players": 6}),
    "chat.take_turn": ("template_v0", {}),
    "werewolf.choose": ("werewolf_v0", {"num_players": 6}),
}
"""Kind of question -> the table where it is asked."""


# -- inputs that are taken ---------------------------------------------------------------------------------------

SAYINGS = (
    b"I know I'm good, so one of player_0/player_3 is evil; if this fails, it's player_0.",
    "I agree with player_2: me plus player_4 (not both player_0 and player_3), I’d approve that.".encode(),
    "As Merlin, I trust player_0–player_2–me, rather than bring player_3 back.".encode(),
)
COMPLETIONS = (
    b'{"id": "x", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", '
    b'"content": "{\\"choice\\": 1}", "reasoning_content": "hm"}, "logprobs": {"content": [{"token": "a", "logprob": -0.1, '
    b'"top_logprobs": []}]}}], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": '
    b'{"cached_tokens": 1}}, "timings": {"prompt_n": 5}}',
    b'{"error": {"message": "too many", "type": "rate", "code": 429, "param": "stop"}}',
)
TABLES = (b"id,state,u_shallow_gen_nli,u_skip_param_nocheck\nq1,T:mid_Q:mid,1.5,2\nq2,T:low_Q:high,-3,0\n",)
DOCUMENTS = (b'{"title": "It", "text": "It is a book."}\n{"title": "Ann", "sentences": ["She wrote."]}\n',)
PRICES = (b'{"models": {"m": [0.15, 0.6], "n": [1, 2]}}',)
MEDIATORS = (
    b"{\"policy\": {\"T:mid_Q:mid\": {\"('retrieve_shallow', 'generate', 'run_nli_check')\": 0.25, "
    b"\"('skip_retrieval', 'generate_parametric', 'skip_check')\": 0.75}}, \"signal_thresholds\": {\"T\": [0.1, 0.5]}, "
    b'"temperature": 1.0, "min_prob_floor": 0.01}',
)
CORPORA = {
    "own": [
        {"id": 1, "question": "Who wrote it?", "answer": "Ann Lee", "context": ["It is a book. Ann Lee wrote it in 1931."]},
        {"question": "Who sold it?", "answers": [], "context": "It is a book. Ann Lee wrote it in 1931."},
    ],
    **FILES,
}  # fmt: skip
"""By form."""
SETTINGS = (
    b"avalon_v0\nnum_players=5\nrules=official\nroles=deeprole\ntalk=false",
    b"werewolf_v0\nnum_players=8\nrules=official\ntalk=true",
    b"template_v0",
    b"mediated_qa_v0\nquestions=3\njoint=all\npay=own\nutilities=[120, -40, 10, -20]\ncosts=[1, 3, 0, 2, 5, 2, 0, 4, 0]\n"
    b"difficulty=hard\ncorpus_seed=1\ncorpus_size=20\nnormalisation=paper\nmodules=false",
    b"murder_mystery_v0\ncase=train_en\nrounds=2\nquestions=1\ntargets=2\nhearing=two\nrules=player\ncase_sha256=null",
)
"""A game, then its options, one a line, as on the command line."""


@cache
def transcripts() -> tuple[bytes, ...]:
    """Of all games, by random moves; the rest of a long game is cut off, as a kill does."""
    made = []
    for number, (name, options) in enumerate(GAMES.items()):
        rng = np.random.default_rng(number)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "game.jsonl"
            env = Recorder(lookup(name).raw_env(**options), path, header={"players": {"player_0": "random"}})
            env.reset(seed=number)
            while env.unwrapped.outcome is None:
                env.step(int(rng.choice(np.flatnonzero(env.last()[0]["action_mask"]))))
            made.append(b"".join(path.read_bytes().splitlines(keepends=True)[:40]))
    return tuple(made)


@cache
def cases() -> tuple[bytes, ...]:
    """A case of facts, and a short one of prose."""
    whole = case.dump(from_seed.generate(3, "en", 4, 1, None))
    value = json.loads(whole)
    people = [{"name": person["name"], "script": "S.", "murders": person["murders"]} for person in value["characters"]]
    prose = {key: value[key] for key in ("format", "id", "title", "language", "victims") if key in value}
    prose |= {"briefing": "B", "characters": people, "questions": [asks[:1] for asks in value["questions"]]}
    return whole.encode(), *[json.dumps(prose).encode()] * 4


@cache
def policies() -> tuple[bytes, ...]:
    """A trained seat of the template, in a file of NumPy's."""
    env = lookup("template_v0").raw_env(observation="features")
    env.reset(seed=0)
    size, actions = env.observe("player_0")["observation"].size, len(env.game.catalogue)
    layers = [(np.ones((2, size), np.float32), np.zeros(2, np.float32)), (np.ones((actions, 2)), np.zeros(actions))]
    with TemporaryDirectory() as folder:
        TrainedSeat("template_v0", env.game.config, layers).save(Path(folder) / "policy.npz")
        return ((Path(folder) / "policy.npz").read_bytes(),)


@cache
def heard(kind: str) -> Heard:
    """A question that a player put to a model, as it was asked in a game."""
    game, options = ASKED[kind]
    return asked.heard(kind, At(game, options, None, 1, 1))


def replies(kind: str) -> tuple[bytes, ...]:
    """Replies of a model."""
    reply = heard(kind).question.heuristic(np.random.default_rng(0)).model_dump_json()
    return reply.encode(), f"<think>{{}}</think>\n```json\n{reply}\n```".encode()


@cache
def bodies() -> tuple[bytes, ...]:
    """Bodies of requests: words, and questions."""
    said = [
        {"role": "system", "content": "You play."},
        {"role": "user", "content": [{"type": "text", "text": "Hello."}]},
    ]
    words = {"model": "heuristic", "messages": said, "temperature": 0.3, "max_tokens": 100, "n": 1, "seed": 7}
    words |= {"stream": False, "response_format": {"type": "text"}}
    asked_of = [heard(kind).question for kind in list(ASKED)[:2]]
    asks = [words | {"messages": [said[0], {"role": "user", "content": question.prompt()}]} for question in asked_of]
    return tuple(json.dumps(ask).encode() for ask in (words, *asks))


# -- readers -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reader:
    """How one kind of input is read."""

    name: str
    originals: Callable[[], Sequence[bytes]]
    read: Callable[[bytes, Path], object]
    """Raises one of `REFUSED`, or reads; `Path` is a scratch folder."""
    mutants: Callable[[Sequence[bytes]], st.SearchStrategy[bytes]] = mutants


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


_ARRAYS: tuple[Callable[[Any], Any], ...] = (
    *(lambda a: a.T, lambda a: a[:1], lambda a: a[:0], lambda a: np.full_like(a, np.nan), lambda a: np.float32(0)),
    *(lambda a: np.concatenate([a, a]), lambda a: a[..., None], lambda a: a.astype("U5"), lambda a: a.astype(complex)),
    *(lambda a: a.astype(np.float16), lambda a: np.full_like(a, 1e38), lambda a: np.zeros(2**22, np.int8), lambda a: -a),
)  # fmt: skip


@st.composite
def spoilt_arrays(draw: st.DrawFn, originals: Sequence[bytes]) -> bytes:
    """A file of arrays, spoilt in its bytes, or packed again with an array, a name or the settings changed."""
    if draw(st.booleans()):
        return draw(mutants(originals))
    with np.load(io.BytesIO(originals[0])) as stored:
        arrays = dict(stored)
    name = draw(st.sampled_from(sorted(arrays)))
    if name == "parlour_seat":
        arrays[name] = np.array(_text(draw(mutants([str(arrays[name]).encode()]))).replace("\0", ""))
    else:
        arrays[name] = draw(st.sampled_from(_ARRAYS))(arrays[name])
    if draw(st.integers(0, 4)) == 0:
        arrays["x"] = arrays.pop(name)
    packed = io.BytesIO()
    draw(st.sampled_from([np.savez, np.savez_compressed]))(packed, **arrays)
    return packed.getvalue()


def settings(content: bytes, _: Path) -> None:
    """Options of a game as on the command line: the game in the first line."""
    name, *pairs = _text(content).split("\n")
    build(lookup(name if name in GAMES else "avalon_v0").spec, key_values([pair for pair in pairs if pair]))


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
    assert all(0 <= seat < 5 for claim in claimed for seat in claim.seats), "a claim about nobody present"


def in_file(read: Callable[[Path], object], name: str, content: bytes, folder: Path) -> None:
    """Read from a file of this name."""
    read(_file(content, folder, name))


READERS: tuple[Reader, ...] = (
    Reader("claims", lambda: SAYINGS, said),
    Reader("transcript", transcripts, transcript),
    Reader("case", cases, partial(in_file, case.load, "x.json")),
    Reader("policy.npz", policies, trained_seat, spoilt_arrays),
    Reader("policy.json", lambda: MEDIATORS, lambda content, _: policy_file.loads(_text(content))),
    Reader("game settings", lambda: SETTINGS, settings),
    *(
        Reader(
            f"reply to {kind}",
            partial(replies, kind),
            lambda content, _, k=kind: heard(k).question.read(_text(content)),
        )
        for kind in ASKED
    ),
    Reader("chat body", bodies, lambda content, _: question(parsed(content))),
    Reader("server's answer", lambda: COMPLETIONS, endpoint),
    Reader("utilities", lambda: TABLES, utilities),
    *(
        Reader(
            f"{form} corpus",
            lambda entries=entries: (json.dumps(entries).encode(),),
            partial(in_file, partial(corpora.load, form=form), "x.json"),
        )
        for form, entries in CORPORA.items()
    ),
    Reader("documents", lambda: DOCUMENTS, partial(in_file, read_documents, "x.jsonl")),
    Reader("prices", lambda: PRICES, partial(in_file, Prices.load, "x.json")),
)
