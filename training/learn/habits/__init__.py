"""Habits learned from recorded games: `avalon`, `werewolf`; how well they tell who is evil on held-out games."""
