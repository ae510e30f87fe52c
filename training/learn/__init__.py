"""Learning: networks by PPO, agents' numbers by tuning, mediators, habits and clones from recorded games.

Here: `ppo` and `selfplay` (networks), `batch` (networks over arrays of games), `tuning` (a few numbers of an agent),
`mediators` (GRACE), `habits` and `clone` (recorded players), `reliability` (GRATR's evidence), `experts` (what ships).
Not here: measuring what was learned (`measure`). Start with `ppo.seat.train` or `selfplay.run.selfplay`.
"""
