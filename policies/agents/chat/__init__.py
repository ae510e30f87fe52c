"""The plain language-model player, one question a turn, for any game: `player`."""
