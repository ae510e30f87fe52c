"""Small language models that are made here and learn to talk and play at our tables: by imitation, then from whole games."""
