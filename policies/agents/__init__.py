"""Agents that put typed questions to a model: one folder for each game, and one that plays any game."""
