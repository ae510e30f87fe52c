"""Games that people played, or language models, at Avalon: read, analysed, learned from and studied. README.md of the plugin."""
