# Everything runs in .venv, which is built on first use and again when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow test-lowest check bench docs clean

demo: $(VENV)/ready
	@$(BIN)/python -m discreet demo

test: check
	@$(BIN)/python -m pytest -m "not slow"

test-slow: check
	@$(BIN)/python -m pytest -m "slow"

# the lowest declared version of everything, in an environment of its own
test-lowest:
	@$(PYTHON) tests/lowest/install.py build/lowest
	@MPLBACKEND=agg PYTHONPATH=src build/lowest/bin/python tests/lowest/smoke.py

check: $(VENV)/ready
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/architecture

bench: $(VENV)/ready
	@$(BIN)/python benchmarks/run.py

docs: $(VENV)/ready
	@PYTHONPATH=docs $(BIN)/python -m generate --out build/docs

$(VENV)/ready: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) (once)…"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
