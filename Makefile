# Two commands do everything on a machine with Python 3.11, make and pip; without make it is
# python scripts/dev.py demo and python scripts/dev.py test:
#   make demo    install into .venv and run the main job on the sample sessions
#   make test    lint, types, import contracts and the whole test suite
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORPUS ?= ../shared/corpus
# Which real agents test-agents installs and starts; AGENTS=hermes for one.
AGENTS ?= claude codex hermes

.PHONY: demo test test-agents lint types contracts unit bench fmt samples docs model experiment clean

demo test lint types contracts unit:
	$(PYTHON) scripts/dev.py $@

$(VENV)/.base $(VENV)/.dev: pyproject.toml
	$(PYTHON) scripts/dev.py install

test-agents: $(VENV)/.dev
	$(BIN)/python scripts/install_agents.py $(AGENTS)
	$(BIN)/pytest -q -m agents $(foreach agent,$(AGENTS),$(wildcard tests/agents/test_$(agent)_*.py))

# Everything that has a bar, with --check added by hand: make bench ARGS=--check
ARGS ?=
BASELINE ?= ../shared/bench

bench: $(VENV)/.dev
	$(BIN)/python bench/outcome_accuracy.py $(CORPUS)/labelled/calls.jsonl.gz $(ARGS)
	$(BIN)/python bench/outcome_explicit.py $(CORPUS)/labelled/calls.jsonl.gz $(CORPUS) $(ARGS)
	$(BIN)/python bench/outcome_speed.py $(CORPUS)/labelled/calls.jsonl.gz $(ARGS)
	$(BIN)/python bench/store.py --seed $(BASELINE)/seed_store.py $(ARGS)
	$(BIN)/python bench/facts.py --baseline $(BASELINE) $(ARGS)
	$(BIN)/python bench/redact.py $(ARGS)
	$(BIN)/python bench/injection.py $(CORPUS)/labelled/calls.jsonl.gz --runs $(CORPUS)/agentdojo/runs.jsonl.gz $(ARGS)
	$(BIN)/python bench/import_hostile.py $(ARGS)
	$(BIN)/python bench/template_list.py $(ARGS)
	$(BIN)/python bench/warm.py $(ARGS)
	$(BIN)/python bench/verdict.py $(ARGS)
	$(BIN)/python bench/resume.py $(ARGS)

fmt: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

samples: $(VENV)/.dev
	$(BIN)/python scripts/make_samples.py

docs: $(VENV)/.dev
	$(BIN)/python scripts/make_docs.py

# A small real model on this machine: 0.5 GB of weights, checked by sha256, and a server in a venv of
# its own. Nothing else here needs either.
MODEL ?= qwen2.5-coder-0.5b
THREADS ?= 2
TRIALS ?= 2

.venv-model/.ready:
	$(PYTHON) -m venv .venv-model
	.venv-model/bin/python -m pip install --quiet --disable-pip-version-check xllamacpp==2026.10.11549
	@touch $@

model: .venv-model/.ready
	.venv-model/bin/python scripts/get_model.py $(MODEL) .models

experiment: $(VENV)/.base
	$(BIN)/python scripts/run_example_experiment.py --threads $(THREADS) --trials $(TRIALS)

clean:
	rm -rf $(VENV) .venv-model .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage* dist
