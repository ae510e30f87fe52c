"""What a player is good at, from its recorded games of Avalon: deduction, deception, Merlin. docs/howto/abilities.md."""
