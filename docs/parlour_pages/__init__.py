"""Pages of the site made from the code. Sphinx loads `extension`. Only `api`, `analysis` and `links` need Sphinx."""
