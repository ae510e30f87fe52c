"""The words of the game and of generated cases, in English and in Chinese."""
