# Everything runs in .venv, which is built on first use and again when pyproject.toml changes: `make demo` installs what
# the demonstration needs, all other targets the test tools and every engine too.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2 # processes that share the tests; each wants about 2 GB, and one of them Spark's 3 GB more
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-slow test-lowest check bench book clean
.NOTPARALLEL: # one pip at a time

demo: $(VENV)/ready
	@$(BIN)/python -m discreet demo

test: check
	@$(BIN)/python -m pytest -m "not slow" -n $(WORKERS)

test-slow: check
	@$(BIN)/python -m pytest -m "slow" -n $(WORKERS)

# the lowest declared version of everything, in an environment of its own
test-lowest:
	@$(PYTHON) tests/lowest/install.py build/lowest
	@MPLBACKEND=agg PYTHONPATH=src build/lowest/bin/python tests/lowest/smoke.py

check: $(VENV)/ready-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/architecture

bench: $(VENV)/ready-dev
	@$(BIN)/python benchmarks/run.py

book: $(VENV)/ready-dev
	@$(BIN)/python docs/book/build.py --out build/book

# bytecode is written when a module is first imported, not for all modules of all libraries beforehand
$(VENV)/ready: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) (once)…"
	@$(INSTALL) --no-compile --editable ".[plots]"
	@touch $@

# tests start many processes, so everything is compiled once; what does not compile (libraries carry templates and files for
# other Pythons) is not imported either
$(VENV)/ready-dev: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) for development (once)…"
	@$(INSTALL) --no-compile --editable ".[dev]"
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib > /dev/null || true
	@touch $(VENV)/ready $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
