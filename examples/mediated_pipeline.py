"""A mediator in a pipeline of retriever, generator and verifier, callable as chains of LangChain and query engines of LlamaIndex are.

`MediatedPipeline` has `invoke(question)` and `query(question)`, and is a plain callable. `langchain_parts` and `llamaindex_parts` make its parts of
a retriever and a model of these libraries; neither library is needed otherwise. Documents may be LangChain's (`page_content`, `metadata`),
LlamaIndex's (`text`, `metadata`), or what `GraceMediator.recommend` takes.

    pipeline = MediatedPipeline("policy.json", documents, **langchain_parts(store.as_retriever(search_kwargs={"k": 8}), model))
    pipeline = MediatedPipeline("policy.json", documents, **llamaindex_parts(index.as_retriever(similarity_top_k=8), llm))
    pipeline = MediatedPipeline("policy.json", documents, retrieve=..., generate=..., recall=..., check=...)
    answer = pipeline.invoke("Who wrote The Glass Harbour?")["answer"]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from parlour.policies import GraceMediator

SAMPLES, AGREEMENT = 5, 0.8
"""Of self-consistency, as in the published run: answers from memory, and the share of them that must agree."""
TEXTS = {"shallow": 3, "deep": 8}
"""How many retrieved texts are the evidence."""
UNKNOWN = "unknown"
READ = "Answer in a few words, from the evidence alone; answer {unknown} if it does not tell.\n\n{evidence}\n\nQuestion: {question}"
RECALL = "Answer in a few words; answer {unknown} if you do not know.\n\nQuestion: {question}"
CHECK = (
    "Does the evidence contradict the answer? Answer yes or no.\n\n{evidence}\n\nQuestion: {question}\nAnswer: {answer}"
)


def langchain_parts(retriever: Any, model: Any) -> dict[str, Callable[..., Any]]:
    """The parts of a pipeline from a retriever of LangChain, and a model or a chain that gives text."""

    def ask(prompt: str) -> str:
        content = getattr(reply := model.invoke(prompt), "content", reply)
        if isinstance(content, list):  # of a model that also gives its reasoning
            return "".join(str(piece.get("text", "")) for piece in content if isinstance(piece, dict))
        return str(content)

    return parts(lambda question: [found.page_content for found in retriever.invoke(question)], ask)


def llamaindex_parts(retriever: Any, llm: Any) -> dict[str, Callable[..., Any]]:
    """The parts of a pipeline from a retriever and a model of LlamaIndex."""
    return parts(
        lambda question: [found.get_content() for found in retriever.retrieve(question)],
        lambda prompt: str(llm.complete(prompt)),
    )


def parts(texts: Callable[[str], list[str]], ask: Callable[[str], str]) -> dict[str, Callable[..., Any]]:
    """The parts of a pipeline from a question's texts, best first, and a model's reply to a prompt."""

    def answer(template: str, **fields: str) -> str:
        reply = ask(template.format(unknown=UNKNOWN, **fields)).strip()
        return "" if reply.lower().strip(" .'\"") == UNKNOWN else reply

    def check(question: str, evidence: str, given: str) -> bool:
        return (
            not ask(CHECK.format(question=question, evidence=evidence, answer=given)).strip().lower().startswith("yes")
        )

    return {
        "retrieve": lambda question, depth: "\n\n".join(texts(question)[: TEXTS[depth]]),
        "generate": lambda question, evidence: answer(READ, question=question, evidence=evidence),
        "recall": lambda question: answer(RECALL, question=question),
        "check": check,
    }


def as_document(document: Any) -> Any:
    """A document of LangChain or LlamaIndex as `{title, text}`, entitled by its file where it has no title; anything else as it is."""
    text = getattr(document, "page_content", None) or getattr(document, "text", None)
    if not isinstance(text, str):
        return document
    metadata = getattr(document, "metadata", None) or {}
    file = Path(str(metadata.get("file_name") or metadata.get("source") or "")).stem.replace("_", " ")
    return {"title": str(metadata.get("title") or file), "text": text}


class MediatedPipeline:
    """Answers questions as the mediator recommends.

    Args:
        policy: A policy file of `parlour train grace`.
        documents: What questions are about; the mediator makes its signals of them.
        retrieve: Question and "shallow" or "deep" -> evidence, empty if there is none.
        generate: Question and evidence -> answer, empty for "I don't know".
        recall: Question -> an answer from memory.
        check: Question, evidence and answer -> False if the evidence contradicts the answer.
        choice: "sample" draws from the policy's row; "best" always takes the most probable action.
    """

    def __init__(
        self,
        policy: str | Path,
        documents: Iterable[Any],
        *,
        retrieve: Callable[[str, str], str],
        generate: Callable[[str, str], str],
        recall: Callable[[str], str],
        check: Callable[[str, str, str], bool],
        choice: str = "sample",
    ) -> None:
        self.mediator = GraceMediator(GraceMediator.load(policy).table, choice)
        self.probe = self.mediator.probe([as_document(document) for document in documents])
        self.retrieve, self.generate, self.recall, self.check = retrieve, generate, recall, check

    def invoke(self, question: str) -> dict[str, Any]:
        """The answer (None for silence), and what was recommended and why."""
        advice = self.mediator.advise(question, self.probe)
        answer = self._answer(question, *advice.joint) or None
        return {"answer": answer, "joint": advice.joint, "probability": advice.probability, "state": advice.state}

    __call__ = query = invoke

    def _answer(self, question: str, retriever: str, generator: str, verifier: str) -> str:
        """As the game carries it out: without evidence there is nothing to read and nothing to check."""
        depth = {"retrieve_shallow": "shallow", "retrieve_deep": "deep"}.get(retriever)
        evidence = self.retrieve(question, depth) if depth else ""
        if generator == "refuse_to_generate":
            return ""
        if generator == "generate" and evidence:
            answer = self.generate(question, evidence)
        elif generator == "generate_consistency":
            answer = self._agreed(question)
        else:
            answer = self.recall(question)
        if verifier == "run_nli_check" and evidence and answer and not self.check(question, evidence, answer):
            return ""
        return answer

    def _agreed(self, question: str) -> str:
        answers = [self.recall(question) for _ in range(SAMPLES)]
        most = max(answers, key=answers.count)
        return most if answers.count(most) >= AGREEMENT * SAMPLES else ""
