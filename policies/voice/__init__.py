"""A voice for players that speak by number: their claims in words, with reasons from their exact belief. Start with `spoken`."""
