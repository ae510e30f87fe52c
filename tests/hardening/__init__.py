"""A harness that attacks parlour for as long as it is given (`scripts/harden`); not installed."""
