# Set-up and the two commands of the README: `make demo` and `make test`.

VENV   := .venv
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN    := $(VENV)/Scripts
else
PYTHON ?= python3
BIN    := $(VENV)/bin
endif
STAMP  := $(VENV)/.installed

# Hundreds of processes that tests start would each compile the package, where this is set.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test slow lint types docs bench clean

demo: $(STAMP)
	$(BIN)/cpx demo

test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal

slow: $(STAMP)
	$(BIN)/python -m pytest -m "slow or hypothesis" --hypothesis-profile many

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

docs: $(STAMP)
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

bench: $(STAMP)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) docs/_build build dist *.egg-info cpx/compiled/objects

# setuptools warns of folders that are called like a package, whenever one is installed like this.
$(STAMP): export PYTHONWARNINGS := ignore:Editable installation
$(STAMP): pyproject.toml setup.py constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)
