"""Our games in other people's harnesses for language models: thin adapters of `parlour.wrappers.conversation`.

They hold no rules, no legality and no words of a game.
"""
