# Python 3.11 or later drives everything (the standard library is enough); scripts/venvs.py finds the others.
PYTHON ?= $(shell for p in python3 python3.11 python3.13; do $$p -c 'import tomllib' 2>/dev/null && echo $$p && break; done)

.PHONY: help sysdeps env demo roundtrip check test ui docs site build clean distclean

help:
	@echo "make env [BPY=4.5.15]   .venv with Blender as a module, .venv-usd with usd-core"
	@echo "make demo               the demonstration"
	@echo "make roundtrip          fidelity of import and export on files of others, as a table"
	@echo "make check              ruff and mypy"
	@echo "make test               every suite on every bpy that this machine can run, window tests included"
	@echo "make ui                 the window tests alone"
	@echo "make docs               the manual, in build/site"
	@echo "make site               the manual, and a test that opens each page in Chromium"
	@echo "make build              wheels and zips, in dist/"
	@echo "make clean | distclean  remove what was built | and the environments"

sysdeps:
	@sh scripts/sysdeps.sh

env: sysdeps
	@$(PYTHON) scripts/venvs.py env $(BPY)

roundtrip: env
	@.venv/bin/python scripts/roundtrip.py

demo: env
	@.venv/bin/python scripts/demo.py

check:
	@$(PYTHON) scripts/suite.py check

test: sysdeps
	@$(PYTHON) scripts/suite.py core blender package ui docs site

ui: sysdeps
	@$(PYTHON) scripts/suite.py ui

docs: sysdeps
	@$(PYTHON) scripts/suite.py docs

site: sysdeps
	@$(PYTHON) scripts/suite.py docs site

build: env
	@.venv/bin/python scripts/build.py

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -not -path './.v*' -not -path './.ui-tree/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv .venv-usd .venv-check .venvs .ui-tree wheels
