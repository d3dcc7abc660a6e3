# Python 3.11 or later drives everything (the standard library is enough); scripts/venvs.py finds the others.
PYTHON ?= $(shell for p in python3 python3.11 python3.13; do $$p -c 'import tomllib' 2>/dev/null && echo $$p && break; done)

# As scripts/venvs.py has it: Windows puts the Python of an environment elsewhere.
VENV_PYTHON = .venv/$(if $(filter Windows_NT,$(OS)),Scripts/python.exe,bin/python)

USD_PYTHON = .venv-usd/$(if $(filter Windows_NT,$(OS)),Scripts/python.exe,bin/python)

.PHONY: help sysdeps env demo roundtrip check quick test stranger laboratory conformance ui docs site build wheel release next clean distclean

help:
	@echo "make env [BPY=4.5.15]   .venv with Blender as a module, .venv-usd with usd-core"
	@echo "make demo               the demonstration"
	@echo "make roundtrip          fidelity of import and export on files of others, as a table"
	@echo "make check              ruff and mypy"
	@echo "make quick              the fast tests of core, and of blender in one Blender: under two minutes of processor time"
	@echo "make test               every suite on every bpy that this machine can run, window tests included"
	@echo "make stranger           every suite without the files of others: collected, and run where they would be used"
	@echo "make laboratory [SEEDS=500]   random scenes said in two ways, which must move in one; reduced failures in build/laboratory"
	@echo "make conformance        scenes with answers, as files and a runner for any engine, in build/conformance"
	@echo "make ui                 the window tests alone"
	@echo "make docs               the manual, in build/site"
	@echo "make site               the manual, and a test that opens each page in Chromium"
	@echo "make build              wheels and zips, in dist/"
	@echo "make wheel              the Python package without Blender, in dist/"
	@echo "make release [DRY=1]    everything that is published, in dist/release; see docs/releasing.md"
	@echo "make next VERSION=...   the version of the tree after a release, such as 0.2.0-dev"
	@echo "make clean | distclean  remove what was built | and the environments"

sysdeps:
	@sh scripts/sysdeps.sh

env: sysdeps
	@$(PYTHON) scripts/venvs.py env $(BPY)

roundtrip: env
	@$(VENV_PYTHON) scripts/roundtrip.py

demo: env
	@$(VENV_PYTHON) scripts/demo.py

check:
	@$(PYTHON) scripts/suite.py check

test: sysdeps
	@$(PYTHON) scripts/suite.py core blender package ui docs site

quick: sysdeps
	@$(PYTHON) scripts/suite.py quick

stranger: sysdeps
	@$(PYTHON) scripts/suite.py stranger

laboratory: env
	@$(USD_PYTHON) scripts/laboratory.py --seeds $(or $(SEEDS),500) --keep build/laboratory --check

conformance: env
	@$(USD_PYTHON) scripts/conformance.py --blender $(VENV_PYTHON) --page docs/conformance.md

ui: sysdeps
	@$(PYTHON) scripts/suite.py ui

docs: sysdeps
	@$(PYTHON) scripts/suite.py docs

site: sysdeps
	@$(PYTHON) scripts/suite.py docs site

build: env
	@$(VENV_PYTHON) scripts/build.py

release: env
	@$(VENV_PYTHON) scripts/release.py $(if $(DRY),--dry)

next:
	@$(PYTHON) scripts/release.py --next "$(VERSION)"

wheel: sysdeps
	@$(PYTHON) scripts/wheel.py

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -not -path './.v*' -not -path './.ui-tree/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv .venv-* .venvs .ui-tree wheels
