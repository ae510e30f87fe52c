"""Agents that ask a model typed questions: a folder for each game, and an agent for any game."""
