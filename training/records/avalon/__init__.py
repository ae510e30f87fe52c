"""Records of games of Avalon that others played. Start with `importing`."""
