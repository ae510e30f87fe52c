"""Play over arrays of games: players that choose for many tables at once, and matches on common deals."""
