"""Makes policies better, and measures them.

`play` has one game, many games, and people. `measure` has evaluation and arena. `learn` has networks, tuning,
mediators, habits and clones. `records` reads games that others played. `results` makes tables, pictures and pages. `papers`
reproduces published results. `harnesses` serves other people's programs. `cli` is the command `parlour`.
"""
