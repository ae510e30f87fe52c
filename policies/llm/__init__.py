"""Language models, and the rules of thumb that stand in for them: typed questions, and the transport that carries them."""
