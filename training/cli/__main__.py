"""`python -m parlour.training.cli` does what `parlour` does."""

from parlour.training.cli import main

main()
