# surefoot: `make run` and `make test` work from nothing (python3 3.11 or 3.12 with venv, make, git).
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
FULL   := $(VENV)/.installed-all
# The first of these that exists and is 3.11 or 3.12 (or any newer python3: everything but planning).
PYTHON ?= $(shell for p in python3.12 python3.11 python3; do \
	$$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
WORKERS ?= auto

export PYTHONDONTWRITEBYTECODE = # every run imports hundreds of modules: parse them once

.PHONY: run test test-full lint docs browser lock install install-run clean

run: install-run ## installs what running needs, without the tools of developers
	@$(BIN)/surefoot run walk

test: install
	@$(BIN)/pytest -m "not slow" -n $(WORKERS) --dist worksteal tests

test-full: install
	@$(BIN)/pytest -n $(WORKERS) tests

lint: install
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

docs: install ## the documentation as a static site in site/; warnings are errors
	@rm -rf site
	@$(BIN)/python -m sphinx -W --keep-going --quiet --jobs auto --doctree-dir build/doctrees docs site
	@echo "site/index.html"

browser: ## needs root: installs Debian's chromium and the GL libraries with apt
	@echo "make browser: installs chromium and GL libraries with apt-get; needs root"
	@if command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1; then \
		echo "chromium is already here"; \
	elif [ "$$(id -u)" -ne 0 ]; then \
		echo "make browser: not root; run: sudo make browser" >&2; exit 1; \
	else \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q chromium libgl1 libegl1 libosmesa6; \
	fi

install: $(FULL)

install-run: $(STAMP)

$(FULL): requirements.lock $(STAMP)
	@echo "installing the tools of developers (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python scripts/link_openmp.py
	@touch $(FULL)

$(STAMP): requirements-run.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "surefoot needs python3 3.11 or newer with venv (apt: python3 python3-venv)" >&2; exit 2; }
	@echo "creating $(VENV) with $(PYTHON) and installing the locked packages (once)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-run.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		--config-settings editable_mode=compat -e .
	@$(BIN)/python scripts/link_openmp.py
	@touch $(STAMP)

lock: install ## pin the newest versions that pyproject.toml allows
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile pyproject.toml --extra dev --extra studio --universal --python-version 3.11 --upgrade \
		--no-emit-index-url --no-header --no-annotate -o requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --extra studio --universal --python-version 3.11 --constraint requirements.lock \
		--no-emit-index-url --no-header --no-annotate -o requirements-run.lock
	@echo "setuptools" >> requirements-run.lock

clean:
	rm -rf $(VENV) build dist site *.egg-info
