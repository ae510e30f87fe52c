"""A mediator as a web service (extra `serve`): POST /recommend says which actions to take for a question.

parlour train grace --corpus questions.jsonl --documents notes --reader extract --out runs/grace
POLICY=runs/grace/policy.json DOCUMENTS=notes uvicorn --app-dir examples --factory mediator_service:from_environment
"""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock
from typing import Any

from fastapi import FastAPI, HTTPException
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.corpora.documents import read_documents
from parlour.policies import GraceMediator
from pydantic import BaseModel, Field


class Question(BaseModel):
    """What is asked."""

    question: str = Field(min_length=1, max_length=4000)


def make_app(policy: str | Path, documents: Any) -> FastAPI:
    """The service of one policy over some documents (as `GraceMediator.recommend` takes them)."""
    app = FastAPI(title="mediator")
    mediator = GraceMediator.load(policy)
    probe = mediator.probe(documents)
    alone = Lock()  # routes run in threads, and draws come in an order

    @app.post("/recommend")
    def recommend(asked: Question) -> dict[str, Any]:
        """The joint action, with its probability and why."""
        try:
            with alone:
                advice = mediator.advise(asked.question, probe)
        except ParlourError as error:
            raise HTTPException(422, str(error)) from None
        names = ("retriever", "generator", "verifier")
        actions = dict(zip(names, advice.joint, strict=True))
        return {**actions, "probability": advice.probability, "state": advice.state}

    return app


def from_environment() -> FastAPI:
    """The service that POLICY and DOCUMENTS name."""
    return make_app(os.environ["POLICY"], read_documents(Path(os.environ["DOCUMENTS"])))
