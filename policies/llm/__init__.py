"""Language models, and the heuristics that stand in for them: typed questions, and the transport that carries them."""
