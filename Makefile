# Set-up and the two commands of the README: `make demo` and `make test`.

VENV   := .venv
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN    := $(VENV)/Scripts
else
PYTHON ?= python3
BIN    := $(VENV)/bin
endif
# Two files say what is installed: cpx for the demonstration, and what tests and pages need.
DEMO   := $(VENV)/.installed
STAMP  := $(VENV)/.installed-dev

# Hundreds of processes that tests start would each compile the package, where this is set.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test slow lint types docs bench clean

demo: $(DEMO)
	$(BIN)/cpx demo

test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal --durations 15 --durations-min 1

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
	rm -rf $(VENV) docs/_build build dist *.egg-info cpx/compiled/kernels.*.so

# setuptools warns of folders that are called like a package, whenever one is installed like this.
$(DEMO) $(STAMP): export PYTHONWARNINGS := ignore:Editable installation
KERNELS := $(shell find cpx -name '*.[ch]')
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --constraint constraints.txt

$(DEMO): pyproject.toml setup.py constraints.txt $(KERNELS)
	@echo "make: a virtual environment in $(VENV), then cpx and its engines: some 600 MB, a minute or two"
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable .
	@touch $(DEMO)

$(STAMP): $(DEMO)
	@echo "make: what the tests, the linters and the pages need: some 500 MB more, a minute"
	$(INSTALL) --editable '.[dev]'
	@touch $(STAMP)
