"""Language models, and the heuristics that replace them: typed questions and their transport."""
