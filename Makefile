# Everything runs in .venv, which is built on first use and again when pyproject.toml changes: `make demo` installs what
# the demonstration needs, all other targets the test tools and every engine too.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# processes that share the tests; one of them runs Spark, with 3 GB of memory
WORKERS ?= 2
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo serve test test-slow test-lowest test-postgres check bench docs dist clean
.NOTPARALLEL: # one pip at a time

demo: $(VENV)/ready
	@$(BIN)/python -m discreet demo

# the same hospital behind a wall: an owner, two analysts, a console; Ctrl-C ends it
serve: $(VENV)/ready-server
	@$(BIN)/python -m discreet serve --demo

test: check
	@$(BIN)/python -m pytest -m "not slow" -n $(WORKERS)

test-slow: check
	@DISCREET_TEST_COINS=fresh $(BIN)/python -m pytest -m "slow" -n $(WORKERS)

# the lowest declared version of everything, in an environment of its own
test-lowest:
	@$(PYTHON) tests/lowest/install.py build/lowest
	@MPLBACKEND=agg PYTHONPATH=src build/lowest/bin/python tests/lowest/smoke.py

# against a server that is there already: DISCREET_TEST_POSTGRES=postgresql://superuser:…@host/database make test-postgres
test-postgres: $(VENV)/ready-dev
	@$(BIN)/python -m pytest -m "not slow" -k postgres tests

check: $(VENV)/ready-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/architecture

bench: $(VENV)/ready-dev
	@$(BIN)/python benchmarks/run.py

docs: $(VENV)/ready-dev
	@PYTHONPATH=docs $(BIN)/python -m generate --out build/docs

dist: $(VENV)/ready-dev
	@$(BIN)/python -m hatchling build --clean --directory dist

# bytecode is written when a module is first imported, not for all modules of all libraries beforehand
$(VENV)/ready: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) (once)…"
	@$(INSTALL) --no-compile --editable ".[plots]"
	@touch $@

$(VENV)/ready-server: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) for serving (once)…"
	@$(INSTALL) --no-compile --editable ".[plots,server]"
	@touch $@

# tests start many processes, so everything is compiled once; what does not compile (libraries carry templates and files for
# other Pythons) is not imported either
$(VENV)/ready-dev: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) for development (once)…"
	@$(INSTALL) --no-compile --editable ".[dev]"
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib > /dev/null || true
	@touch $(VENV)/ready $(VENV)/ready-server $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
