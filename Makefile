PYTHON ?= .venv/bin/python
PACKAGES = parlour.envs parlour.wrappers parlour.policies parlour.training

.PHONY: help check lint types test harden golden bench

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

check: lint  ## Everything that continuous integration checks; types and attacks take one core each
	$(MAKE) --no-print-directory -j2 types harden
	$(MAKE) --no-print-directory test

lint:  ## Formatting and lint
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .

types:  ## Type check
	$(PYTHON) -m mypy $(PACKAGES:%=-p %)

test: export OMP_NUM_THREADS = 1 # each worker of pytest has one core
test:  ## Tests, doctests included: the quick ones, then those marked slow
	$(PYTHON) -m pytest -n auto --dist worksteal -m "not slow"
	$(PYTHON) -m pytest -n auto --dist worksteal -m slow

harden:  ## Attack everything for two minutes; fails if anything lies or breaks (docs/reference/hardening.md)
	PYTHONPATH=tests $(PYTHON) -m hardening --minutes 2

golden:  ## Write the golden playthroughs anew; review the difference
	$(PYTHON) scripts/playthrough.py --all

bench:  ## Speed, as ratios within one run
	$(PYTHON) scripts/bench/all.py
