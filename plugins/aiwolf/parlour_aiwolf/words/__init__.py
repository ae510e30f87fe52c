"""Words of transcripts, as games write them: roles, sides, kinds of moves and announcements."""
