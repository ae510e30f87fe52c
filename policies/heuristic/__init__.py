"""Players by heuristic: the embedded default, one module for each game. They are no language models. Start with `policy`."""
