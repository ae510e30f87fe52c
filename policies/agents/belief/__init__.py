"""The question how likely each other player is to be of the hidden side: `question`."""
