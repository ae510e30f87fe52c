"""Habits learned from recorded games: `avalon`, `werewolf`; how well they identify evil players on held-out games."""
