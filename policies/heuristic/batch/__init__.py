"""The scripted players over arrays, for `parlour.envs.batch`: one module for each game, named in its `GameSpec`."""
