"""The pages of the site that are made from the code. `extension` is what Sphinx loads; the rest needs no Sphinx, but `api`, `analysis` and `links`."""
