"""Records of games of Werewolf that others played. Start with `importing`."""
