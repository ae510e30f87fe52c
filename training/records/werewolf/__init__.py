"""Records of games of Werewolf that others played: formats, and how their files become transcripts or records of our own."""
