"""The scripted players over arrays, for `parlour.envs.batch`: one module for each game, named by its tables.

Each has `choose(tables, where, actions)`: it writes what the heuristic does to `actions`, (B,) whole numbers, where `where`,
(B,), is nonzero and the game is not over.
"""
