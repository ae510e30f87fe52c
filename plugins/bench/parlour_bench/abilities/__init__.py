"""What a player is good at, from its recorded games of Avalon and Werewolf. docs/abilities.md of the plugin lists the measures."""
