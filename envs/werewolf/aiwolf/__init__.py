"""AIWolf's Werewolf: the game of the AIWolf contest and its formal language of talk."""
