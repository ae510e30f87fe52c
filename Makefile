PYTHON ?= .venv/bin/python
PACKAGES = parlour.envs parlour.wrappers parlour.policies parlour.training

.PHONY: help check lint types test harden golden

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

check: lint types test  ## Formatting, lint, types, tests

lint:  ## Formatting and lint
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .

types:  ## Type check
	$(PYTHON) -m mypy $(PACKAGES:%=-p %)

test: export OMP_NUM_THREADS = 1 # each worker of pytest has one core
test:  ## Tests, doctests included, slow ones first; those marked nightly are left out
	$(PYTHON) -m pytest -n auto --dist worksteal

harden:  ## Attack everything once; fails if anything lies or breaks (docs/reference/hardening.md)
	$(PYTHON) -m pytest tests/hardening --nightly -n auto

golden:  ## Write the golden playthroughs anew; review the difference
	$(PYTHON) scripts/playthrough.py --all
