PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
# Python keeps what it compiles, even where the environment forbids it: a process that imports torch takes a third of the time
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test fuzz check release-check format docs readme bench bench-peers clean clean-kernels

demo: $(INSTALLED)
	$(BIN)/graphreach demo --output demo

# three processes for two cores: tests of a cluster wait for much of their time
test: $(READY)
	$(BIN)/python -m pytest --numprocesses 3 --dist loadgroup --no-loadscope-reorder

# 100,000 damaged files, odd arguments and planted misreadings; python -m tests.fuzz --case ENTRY:NUMBER runs one again
fuzz: $(READY)
	$(BIN)/python -m tests.fuzz --cases 100000 --workers 2 --write

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# the wheel in empty environments, with the lowest and the newest packages: some minutes each, all from the package index
release-check: $(READY)
	$(BIN)/python -m tools.release_check

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# a warning is an error; the site is in site/ and needs no network to build or to read
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# the README's tables, from results/ and benchmarks/results/
readme: $(READY)
	$(BIN)/python -m tools.readme

bench: $(READY)
	$(BIN)/python -m benchmarks

bench-peers: $(READY)
	$(BIN)/python -m benchmarks --peers

# numba does not notice that a kernel called from another file has changed
clean-kernels:
	find src benchmarks -name "*.nb[ic]" -delete

clean:
	rm -rf $(VENV) .venv-* demo site

# what the demo needs comes first; files are compiled when they are imported, which most never are;
# a new version is installed again, as the version that pip knows is asked for
$(INSTALLED): pyproject.toml constraints.txt src/graphreach/_version.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "graphreach needs Python 3.11 or newer, got " + sys.version.split()[0] + "; run make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable ".[nn,plot]"
	@touch $@

$(READY): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable ".[all]" build hatchling hypothesis ipykernel mypy nbclient packaging playwright pre-commit proselint pytest pytest-xdist ruff latex2mathml mkdocs-material "mkdocstrings[python]"
	@touch $@
