"""The arena: all players of a game as whole sides on common deals, and how strong each of them is."""
