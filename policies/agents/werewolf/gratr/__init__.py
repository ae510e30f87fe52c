"""GRATR: trust as a graph (Zhu et al. 2024, "Graph Retrieval Augmented Trustworthiness Reasoning")."""

from parlour.policies.agents.werewolf.gratr.agent import GratrAgent
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.agents.werewolf.gratr.parameters import Parameters

__all__ = ["GratrAgent", "Parameters", "TrustGraph"]
