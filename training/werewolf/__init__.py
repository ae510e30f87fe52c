"""What is measured of Werewolf: published records, scores, tables."""
