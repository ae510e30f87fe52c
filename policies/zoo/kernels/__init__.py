"""Kernels of the zoo's players of Avalon: each has `choose(tables, where, actions, ...)`, as `parlour.policies.heuristic.batch` has."""
