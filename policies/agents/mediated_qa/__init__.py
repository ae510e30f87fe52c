"""GRACE: a mediator that recommends actions to retriever, generator and verifier for a question."""

from parlour.policies.agents.mediated_qa.mediator import GraceMediator, ObedientModule, Recommendation
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable

__all__ = ["GraceMediator", "ObedientModule", "PolicyTable", "Recommendation"]
