"""What a player is good at, from its recorded games of Avalon and Werewolf. docs/howto/abilities.md lists the measures."""
