"""`parlour train deeprole`: value networks of DeepRole, learned backwards from the end of the game."""
