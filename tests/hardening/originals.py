"""Inputs that readers take, from which mutants are made: small ones, the same in every process."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hardening.mutations import Original
from parlour.envs.murder_mystery.cases.case import dump
from parlour.envs.murder_mystery.generate import from_seed
from parlour.envs.registry import lookup
from parlour.policies.llm.prompt import Templates
from parlour.policies.trained import TrainedSeat
from parlour.training.play import asked
from parlour.training.play.asked import At, Heard
from parlour.wrappers import Recorder

from tests.envs.mediated_qa.corpora.test_forms import FILES

GAMES: dict[str, dict[str, Any]] = {
    "template_v0": {},
    "avalon_v0": {"num_players": 5},
    "werewolf_v0": {"num_players": 6},
    "murder_mystery_v0": {"case": "train_en", "rounds": 1},
    "mediated_qa_v0": {"questions": 2},
}
SAYINGS = (
    Original(b"I know I'm good, so one of player_0/player_3 is evil; if this fails, it's player_0."),
    Original("I agree with player_2: me plus player_4 (not both player_0 and player_3), I’d approve that.".encode()),
    Original("As Merlin, I trust player_0–player_2–me, rather than bring player_3 back.".encode()),
)
"""Statements of discussions."""
LINES = 40
"""Of a transcript that are kept: the rest of a long game is cut off, as a kill does."""
ASKED = {
    "avalon_agent.act": ("avalon_v0", {"num_players": 6}),
    "avalon_agent.weigh": ("avalon_v0", {"num_players": 6}),
    "chat.take_turn": ("template_v0", {}),
    "werewolf.choose": ("werewolf_v0", {"num_players": 6}),
}
"""Kind of question -> the table where it is asked."""


@cache
def transcripts() -> tuple[Original, ...]:
    """Of all games, by random moves."""
    originals = []
    for number, (name, options) in enumerate(GAMES.items()):
        rng = np.random.default_rng(number)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "game.jsonl"
            env = Recorder(lookup(name).raw_env(**options), path, header={"players": {"player_0": "random"}})
            env.reset(seed=number)
            while env.unwrapped.outcome is None:
                mask = env.last()[0]["action_mask"]
                env.step(int(rng.choice(np.flatnonzero(mask))))
            lines = path.read_bytes().splitlines(keepends=True)
        originals.append(Original(b"".join(lines[:LINES])))
    return tuple(originals)


@cache
def cases() -> tuple[Original, ...]:
    """A case of facts, and a short one of prose."""
    whole = dump(from_seed.generate(3, "en", 4, 1, None))
    value = json.loads(whole)
    keep = ("format", "id", "title", "language", "briefing", "victims")
    people = [{"name": person["name"], "script": "S.", "murders": person["murders"]} for person in value["characters"]]
    prose = {key: value[key] for key in keep if key in value} | {"briefing": "B", "characters": people}
    prose |= {"questions": [question[:1] for question in value["questions"]]}
    return Original(whole.encode()), *[Original(json.dumps(prose).encode())] * 4


@cache
def policies() -> tuple[Original, ...]:
    """A trained seat of the template, in a file of NumPy's."""
    env = lookup("template_v0").raw_env(observation="features")
    env.reset(seed=0)
    size, actions = env.observe("player_0")["observation"].size, len(env.game.catalogue)
    layers = [(np.ones((2, size), np.float32), np.zeros(2, np.float32)), (np.ones((actions, 2)), np.zeros(actions))]
    with TemporaryDirectory() as folder:
        TrainedSeat("template_v0", env.game.config, layers).save(Path(folder) / "policy.npz")
        return (Original((Path(folder) / "policy.npz").read_bytes()),)


def arrays(content: bytes) -> dict[str, Any]:
    """What a file of NumPy's holds."""
    with np.load(io.BytesIO(content)) as stored:
        return dict(stored)


@cache
def mediators() -> tuple[Original, ...]:
    """Policies of GRACE's mediator."""
    row = {
        "('retrieve_shallow', 'generate', 'run_nli_check')": 0.25,
        "('skip_retrieval', 'generate_parametric', 'skip_check')": 0.75,
    }
    data = {
        "policy": {"T:mid_Q:mid": row, "T:low_Q:high": row},
        "signal_thresholds": {"T": [0.1, 0.5]},
        "temperature": 1.0,
        "min_prob_floor": 0.01,
    }
    return (Original(json.dumps(data).encode()),)


@cache
def questions() -> tuple[Heard, ...]:
    """Questions that players put to a model, as they were asked in a game."""
    return tuple(asked.heard(kind, At(game, options, None, 1, 1)) for kind, (game, options) in ASKED.items())


@cache
def replies() -> tuple[tuple[Original, ...], ...]:
    """Of each question: replies of a model."""
    made = []
    for question in questions():
        reply = question.question.heuristic(np.random.default_rng(0)).model_dump_json()
        made.append((Original(reply.encode()), Original(f"<think>{{}}</think>\n```json\n{reply}\n```".encode())))
    return tuple(made)


@cache
def bodies() -> tuple[Original, ...]:
    """Bodies of requests: words, and a question."""
    words = {
        "model": "heuristic",
        "messages": [
            {"role": "system", "content": "You play."},
            {"role": "user", "content": [{"type": "text", "text": "Hello."}]},
        ],
        "temperature": 0.3,
        "max_tokens": 100,
        "n": 1,
        "seed": 7,
        "stream": False,
        "response_format": {"type": "text"},
    }
    asks = [words | {"messages": question.messages(Templates(None))} for question in questions()[:2]]
    return tuple(Original(json.dumps(ask).encode()) for ask in (words, *asks))


COMPLETIONS = (
    Original(
        b'{"id": "x", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", '
        b'"content": "{\\"choice\\": 1}", "reasoning_content": "hm"}, "logprobs": {"content": [{"token": "a", "logprob": -0.1, '
        b'"top_logprobs": []}]}}], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": '
        b'{"cached_tokens": 1}}, "timings": {"prompt_n": 5}}'
    ),
    Original(b'{"error": {"message": "too many", "type": "rate", "code": 429, "param": "stop"}}'),
)
TABLES = (Original(b"id,state,u_shallow_gen_nli,u_skip_param_nocheck\nq1,T:mid_Q:mid,1.5,2\nq2,T:low_Q:high,-3,0\n"),)
_BOOK = "It is a book. Ann Lee wrote it in 1931."
_OWN = [
    {"id": 1, "question": "Who wrote it?", "answer": "Ann Lee", "context": [_BOOK]},
    {"question": "Who sold it?", "answers": [], "context": _BOOK},
]
CORPORA = {form: (Original(json.dumps(entries).encode()),) for form, entries in {"own": _OWN, **FILES}.items()}
"""By form."""
DOCUMENTS = (Original(b'{"title": "It", "text": "It is a book."}\n{"title": "Ann", "sentences": ["She wrote."]}\n'),)
PRICES = (Original(b'{"models": {"m": [0.15, 0.6], "n": [1, 2]}}'),)
SETTINGS = tuple(
    Original(text.encode())
    for text in (
        "avalon_v0\nnum_players=5\nrules=official\nroles=deeprole\ntalk=false",
        "werewolf_v0\nnum_players=8\nrules=official\ntalk=true",
        "template_v0",
        "mediated_qa_v0\nquestions=3\njoint=all\npay=own\nutilities=[120, -40, 10, -20]\ncosts=[1, 3, 0, 2, 5, 2, 0, 4, 0]\n"
        "difficulty=hard\ncorpus_seed=1\ncorpus_size=20\nnormalisation=paper\nmodules=false",
        "murder_mystery_v0\ncase=train_en\nrounds=2\nquestions=1\ntargets=2\nhearing=two\nrules=player\ncase_sha256=null",
    )
)
"""A game, then its options, one a line, as on the command line."""


def warm() -> None:
    """Make all of them; an attempt that made them would be slow."""
    for made in (transcripts, cases, policies, mediators, replies, bodies):
        made()
