"""What a player is good at, from its recorded games of Avalon: deduction, deception, persuasion, consistency, Merlin. docs/howto/abilities.md."""
