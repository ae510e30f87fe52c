"""A mediator as a web service (extra `serve`): POST /recommend for a question, POST /results/ID when it is known what came of it.

parlour train grace --corpus questions.jsonl --documents notes --reader extract --out runs/grace
POLICY=runs/grace/policy.json DOCUMENTS=notes LOG=log.jsonl uvicorn --app-dir examples --factory mediator_service:from_environment
parlour train grace --from-log log.jsonl --temperature 0.7 --floor 0.02 --out runs/better
"""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from fastapi import FastAPI, HTTPException
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.corpora.documents import read_documents
from parlour.policies import GraceMediator
from parlour.policies.agents.mediated_qa.recommendation_log import RecommendationLog
from pydantic import BaseModel, Field


class Question(BaseModel):
    """What is asked."""

    question: str = Field(min_length=1, max_length=4000)


class Result(BaseModel):
    """What came of a recommendation; without a cost, the nominal costs of its actions count."""

    outcome: Literal["right", "wrong", "rightly_silent", "wrongly_silent"]
    cost: float | None = Field(default=None, ge=0)


def make_app(policy: str | Path, documents: Any, log: str | Path) -> FastAPI:
    """The service of one policy over some documents (as `GraceMediator.recommend` takes them), with its log."""
    app = FastAPI(title="mediator")
    mediator = GraceMediator.load(policy)
    probe, kept = mediator.probe(documents), RecommendationLog(log, mediator.table.thresholds)
    alone = Lock()  # routes run in threads, and both draws and numbers of the log come in an order

    @app.post("/recommend")
    def recommend(asked: Question) -> dict[str, Any]:
        """The joint action, with its probability and why."""
        try:
            with alone:
                advice = mediator.advise(asked.question, probe)
                number = kept.recommended(asked.question, advice)
        except ParlourError as error:
            raise HTTPException(422, str(error)) from None
        names = ("retriever", "generator", "verifier")
        actions = dict(zip(names, advice.joint, strict=True))
        return {"id": number, **actions, "probability": advice.probability, "state": advice.state}

    @app.post("/results/{number}", status_code=204)
    def result(number: str, came: Result) -> None:
        """Store the outcome of a recommendation."""
        try:
            with alone:
                kept.result(number, came.outcome, came.cost)
        except ParlourError as error:
            raise HTTPException(404, str(error)) from None

    return app


def from_environment() -> FastAPI:
    """The service that POLICY, DOCUMENTS and LOG name."""
    documents = read_documents(Path(os.environ["DOCUMENTS"]))
    return make_app(os.environ["POLICY"], documents, os.environ.get("LOG", "log.jsonl"))
