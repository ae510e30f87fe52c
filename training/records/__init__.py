"""Records of games that others played, for any game: formats, names in what was said, the way through the rules."""
