# Two commands do everything on a machine with Python 3.11, make and pip:
#   make demo    install into .venv and run the main job on the sample sessions
#   make test    lint, types, import contracts and the whole test suite
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORPUS ?= ../shared/corpus

.PHONY: demo test lint types contracts unit bench fmt samples docs clean

$(VENV)/.base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.base

demo: $(VENV)/.base
	$(BIN)/warmstart demo

test: lint types contracts unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports --no-cache

unit: $(VENV)/.dev
	$(BIN)/pytest -q -n 2 --cov --cov-report=term:skip-covered

bench: $(VENV)/.dev
	$(BIN)/python bench/outcome_accuracy.py $(CORPUS)/labelled/calls.jsonl.gz
	$(BIN)/python bench/outcome_explicit.py $(CORPUS)/labelled/calls.jsonl.gz $(CORPUS)
	$(BIN)/python bench/outcome_speed.py $(CORPUS)/labelled/calls.jsonl.gz
	$(BIN)/python bench/store.py

fmt: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

samples: $(VENV)/.dev
	$(BIN)/python scripts/make_samples.py

docs: $(VENV)/.dev
	$(BIN)/python scripts/make_docs.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage* dist
