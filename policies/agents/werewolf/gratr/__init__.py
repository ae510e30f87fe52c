"""GRATR: trust as a graph (Zhu et al. 2024, "Graph Retrieval Augmented Trustworthiness Reasoning")."""

from parlour.policies.agents.werewolf.gratr.agent import GratrAgent
from parlour.policies.agents.werewolf.gratr.equations import Parameters
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph

__all__ = ["GratrAgent", "Parameters", "TrustGraph"]
