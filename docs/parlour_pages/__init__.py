"""Pages of the site made from the code. Sphinx loads `extension`. Only `api` and `extension` need Sphinx."""
