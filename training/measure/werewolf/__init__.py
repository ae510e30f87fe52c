"""What is measured of Werewolf: published records and our transcripts, scores of GRATR's tables, amnesia, trust."""
