"""A causal language model of `transformers` with its tokenizer: prompts from conversations, and replies to many at once.

Interfaces of transformers 5.23: `AutoModelForCausalLM`, `generate` with a logits processor and a stopping criterion.

Files: local folders alone, weights as safetensors alone, no code from the folder. The checkpoint's own settings of generation
are not used except for the tokens that end a reply.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import Any, Final, NamedTuple, Self

import numpy as np
import torch
import transformers
from jinja2 import TemplateError
from parlour.envs.core import ParlourError
from parlour.policies.files import reading
from parlour.policies.llm.reading import own_turn, set_aside
from parlour.policies.local_lm.prompts import plain_form
from parlour.policies.local_lm.settings import weights_in
from safetensors import SafetensorError

CLOSE: Final = 1e-3
"""Least difference of scores over temperature that is safe from rounding."""
_EXACT: Final = (torch.float32, torch.float64)


@dataclass
class Drawing:
    """One reply in the making."""

    prompt: tuple[int, ...]
    rng: np.random.Generator
    temperature: float
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    ended: bool = False
    again: int = 0
    """How many tokens were computed again alone."""

    def noise(self, size: int) -> torch.Tensor | None:
        """Gumbel noise for drawing the next token, shape (tokens,); None at temperature 0."""
        return torch.from_numpy(self.rng.gumbel(size=size)) if self.temperature else None

    def scaled(self, scores: torch.Tensor) -> torch.Tensor:
        """Log-probabilities of the distribution that is drawn from, shape (tokens,), in double precision."""
        return torch.log_softmax(scores.double().cpu() / (self.temperature or 1.0), dim=-1)

    def take(self, token: int, scaled: torch.Tensor) -> None:
        """Add a token."""
        self.ids.append(token)
        self.logprobs.append(float(scaled[token]))


class OwnDraws(transformers.LogitsProcessor):
    """Leaves, of the scores of each row, the token that it draws.

    Args:
        rows: The replies, in the order of the rows.
        model: Computes a row alone.
    """

    def __init__(self, rows: Sequence[Drawing], model: Any) -> None:
        self._rows, self._model = rows, model
        self._checked = model.dtype in _EXACT

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores, shape (rows, tokens) -> the same shape: 0 for the token that is taken, else minus infinity."""
        chosen = torch.zeros(len(self._rows), 1, dtype=torch.long)
        for k, row in enumerate(self._rows):
            if not row.ended:
                chosen[k] = self._draw(row, scores[k])
        left = torch.full_like(scores, -torch.inf)
        return left.scatter_(1, chosen.to(scores.device), 0.0)

    def _draw(self, row: Drawing, scores: torch.Tensor) -> int:
        noise = row.noise(scores.shape[-1])
        scaled = row.scaled(scores)
        best = torch.topk(scaled if noise is None else scaled + noise, min(2, scaled.numel()))
        if self._checked and len(best.values) > 1 and float(best.values[0] - best.values[1]) < CLOSE:
            scaled = row.scaled(self._alone(row))
            best = torch.topk(scaled if noise is None else scaled + noise, 1)
            row.again += 1
        row.take(int(best.indices[0]), scaled)
        return row.ids[-1]

    @torch.no_grad()
    def _alone(self, row: Drawing) -> torch.Tensor:
        """Scores of the next token of one row, computed from its own tokens alone: shape (tokens,)."""
        ids = torch.tensor([[*row.prompt, *row.ids]], device=self._model.device)
        scores: torch.Tensor = self._model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False).logits[
            0, -1
        ]
        return scores


class Finished(transformers.StoppingCriteria):
    """Which replies are complete.

    Args:
        rows: The replies, in the order of the rows.
        ends: Tokens that end a reply.
        complete: Whether these tokens are a complete reply; None: only `ends` tell.
    """

    def __init__(
        self, rows: Sequence[Drawing], ends: frozenset[int], complete: Callable[[Sequence[int]], bool] | None
    ) -> None:
        self._rows, self._ends, self._complete = rows, ends, complete

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        """A truth value for each row."""
        for row in self._rows:
            if not row.ended:
                row.ended = row.ids[-1] in self._ends or (self._complete is not None and self._complete(row.ids))
        return torch.tensor([row.ended for row in self._rows], device=input_ids.device)


class Prompt(NamedTuple):
    """What a model reads."""

    ids: tuple[int, ...]
    """Its tokens."""


@dataclass(frozen=True)
class Sampling:
    """How a reply is drawn."""

    temperature: float = 0.0
    """0: the most probable token, always."""
    max_new_tokens: int = 128


class Reply(NamedTuple):
    """What a model answered."""

    words: str
    """Without tokens that stand for no text, without thoughts and without blanks around it; may be empty."""
    ids: tuple[int, ...]
    """All tokens that were drawn, including the end of the reply."""
    logprobs: tuple[float, ...]
    """Log-probability of each token under the distribution that it was drawn from (at temperature 0: the model's)."""
    ended: bool
    """Whether the model ended it; otherwise it is cut off at `max_new_tokens`."""


class LanguageModel:
    """Answers prompts.

    Args:
        model: A causal language model. It is computed in `eval` mode and left in the mode in which it was.
        tokenizer: Its tokenizer.
        batch: Prompts that are computed together at most.
    """

    def __init__(self, model: Any, tokenizer: Any, batch: int = 16) -> None:
        self.model, self.tokenizer, self.batch = model, tokenizer, batch
        self._lock = Lock()
        self._source: tuple[Any, ...] | None = None
        self._ends = _end_tokens(model, tokenizer)
        self.has_template = bool(tokenizer.chat_template)

    @classmethod
    def load(cls, folder: str, device: str = "cpu", dtype: str = "float32", batch: int = 16) -> Self:
        """From a folder that `save_pretrained` wrote.

        Raises:
            ParlourError: There is no such checkpoint, it cannot be used, or not on this device.
        """
        model, tokenizer = _loaded(folder, device, dtype)
        local = cls(model, tokenizer, batch)
        local._source = (folder, device, dtype, batch)
        return local

    def __reduce__(self) -> Any:
        if self._source is None:
            raise ParlourError("a language model that was not loaded from a folder cannot be sent to other processes")
        return shared, self._source

    @property
    def context(self) -> int | None:
        """Tokens that it takes, as its configuration says; None if it does not say."""
        config = self.model.config.get_text_config()
        longest = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
        return None if longest is None else int(longest)

    def prompt(self, messages: Sequence[tuple[str, str]]) -> Prompt:
        """A conversation (role, content) as the model's chat template has it, or in the plain form.

        Raises `ParlourError` if the template refuses it.
        """
        with self._lock:
            if not self.has_template:
                ids = list(self.tokenizer(plain_form(messages))["input_ids"])
                while ids and ids[-1] == self.tokenizer.eos_token_id:  # some tokenizers end every text
                    ids.pop()
                return Prompt(tuple(ids))
            chat = [{"role": role, "content": content} for role, content in messages]
            try:
                text = self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
            except TemplateError as error:
                raise ParlourError(f"the chat template refuses the conversation: {error}") from None
            return Prompt(tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"]))

    def replies(self, prompts: Sequence[Prompt], draws: Sequence[np.random.Generator], how: Sampling) -> list[Reply]:
        """The reply to each prompt.

        The chance of each is that of its own generator. With weights in float32 or float64 a reply does not depend on what
        else is asked: see `parlour.policies.local_lm.model`.

        Args:
            prompts: What is read; none of them empty.
            draws: A generator for each, which nobody else uses meanwhile; not used at temperature 0.
            how: How replies are drawn.
        """
        replies_by_row: dict[int, Reply] = {}
        order = sorted(range(len(prompts)), key=lambda k: (len(prompts[k].ids), k))
        with self._lock, _evaluated(self.model):
            for start in range(0, len(order), self.batch):
                some = order[start : start + self.batch]
                rows = self._drawn([prompts[k] for k in some], [draws[k] for k in some], how)
                replies_by_row.update(zip(some, map(self._reply, rows), strict=True))
        return [replies_by_row[k] for k in range(len(prompts))]

    def _drawn(self, prompts: Sequence[Prompt], draws: Sequence[np.random.Generator], how: Sampling) -> list[Drawing]:
        rows = [Drawing(prompt.ids, rng, how.temperature) for prompt, rng in zip(prompts, draws, strict=True)]
        longest = max(len(row.prompt) for row in rows)
        ids = torch.zeros((len(rows), longest), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for k, row in enumerate(rows):  # left padding: the newest token of all rows stands in the last column
            ids[k, longest - len(row.prompt) :] = torch.tensor(row.prompt)
            mask[k, longest - len(row.prompt) :] = 1
        device = self.model.device
        settings = transformers.GenerationConfig(
            max_new_tokens=how.max_new_tokens, do_sample=False, pad_token_id=0, use_cache=True
        )
        ends = Finished(rows, self._ends, None if self.has_template else self._line_ends)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of settings of generation, none of which are used
            self.model.generate(
                input_ids=ids.to(device),
                attention_mask=mask.to(device),
                generation_config=settings,
                logits_processor=transformers.LogitsProcessorList([OwnDraws(rows, self.model)]),
                stopping_criteria=transformers.StoppingCriteriaList([ends]),
            )
        return rows

    def _reply(self, row: Drawing) -> Reply:
        words = self._words(row.ids)
        if not self.has_template:
            words = words.strip().partition("\n")[0]
        return Reply(set_aside(words)[1], tuple(row.ids), tuple(row.logprobs), row.ended)

    def _words(self, ids: Sequence[int]) -> str:
        """The text of tokens, without thoughts whose marks are special tokens, and without special tokens."""
        whole = str(self.tokenizer.decode(ids, skip_special_tokens=False))
        said = set_aside(whole)[1]
        if said == whole.strip():
            return str(self.tokenizer.decode(ids, skip_special_tokens=True))
        said = own_turn(said)
        for token in self.tokenizer.all_special_tokens:
            said = said.replace(token, "")
        return said

    def _line_ends(self, ids: Sequence[int]) -> bool:
        """Whether a reply in the plain form is complete: its words are one line."""
        return "\n" in str(self.tokenizer.decode(ids, skip_special_tokens=True)).lstrip()


@lru_cache(maxsize=4)
def shared(folder: str, device: str, dtype: str, batch: int) -> LanguageModel:
    """The one model of a folder that all seats of this process share."""
    return LanguageModel.load(folder, device, dtype, batch)


@contextmanager
def _evaluated(model: Any) -> Iterator[None]:
    """In `eval` mode and without settings of generation of its own, for as long as the block lasts."""
    training, own = model.training, model.generation_config
    model.eval()
    model.generation_config = transformers.GenerationConfig()
    try:
        yield
    finally:
        model.generation_config = own
        model.train(training)


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """The tokens that end a reply, as checkpoint and tokenizer say."""
    ends = model.generation_config.eos_token_id
    tokens = {*ends} if isinstance(ends, list) else {ends}
    return frozenset({*tokens, tokenizer.eos_token_id} - {None})


@contextmanager
def _silent() -> Iterator[None]:
    """Without the library's own bars and reports."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _loaded(folder: str, device: str, dtype: str) -> tuple[Any, Any]:
    weights_in(folder)
    local: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    kind = getattr(torch, dtype)
    with reading(folder, "checkpoint", "cannot be used as a causal language model with its tokenizer"):
        try:
            with _silent():
                tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **local)
                model, info = transformers.AutoModelForCausalLM.from_pretrained(
                    folder, use_safetensors=True, dtype=kind, output_loading_info=True, **local
                )
        except SafetensorError as error:
            raise ValueError(str(error)) from None
    if info["missing_keys"]:
        some = ", ".join(sorted(info["missing_keys"])[:3])
        raise ParlourError(f"{folder!r} holds no weights for {some}; accepted: a whole causal language model")
    try:
        return model.to(device).eval(), tokenizer
    except (RuntimeError, AssertionError) as error:
        why = str(error).splitlines()[0]
        raise ParlourError(
            f"device {device!r} is not accepted ({why}); accepted: a device that PyTorch has here"
        ) from None
