"""Avalon: published games, metrics of behaviour, practice games of the six-module agent."""
