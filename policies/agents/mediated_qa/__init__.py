"""GRACE: a mediator that recommends what retriever, generator and verifier shall do with a question."""

from parlour.policies.agents.mediated_qa.mediator import GraceMediator, ObedientModule, Recommendation
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable

__all__ = ["GraceMediator", "ObedientModule", "PolicyTable", "Recommendation"]
