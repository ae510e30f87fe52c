"""Pages of the site made from the code. Sphinx loads `extension`; only `api` and `extension` need Sphinx."""
