"""Studies of recorded games of Avalon."""
