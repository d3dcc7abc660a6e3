"""The recipes of the manual: each is typed into a copy of the repository, where its commands succeed."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
RECIPES = dict(zip(*[iter(re.split(r"^## (.+)\n", PAGE, flags=re.MULTILINE)[1:])] * 2, strict=True))
#: A fence with the line above it, which says where its text goes.
FENCE = re.compile(r"(?:^([^\n]+)\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEW, END = re.compile(r"New file `(.+?)`:"), re.compile(r"At the end of `(.+?)`:")
BESIDE = re.compile(r"In `(.+?)`, (after|before|in place of) `(.+)`:")
#: A recipe that changes what another one has made.
GOES_ON = re.compile(r"This goes\s+on\s+from\s+\[([^]]+)\]")
NOT_COPIED = shutil.ignore_patterns(".git", ".v*", ".ui-tree", "build", "dist", "wheels", "__pycache__", ".*_cache")


def type_in(root, where, text):
    """Put the text of a fence where the line above it says."""
    if new := NEW.fullmatch(where):
        path = root / new[1]
        assert not path.exists(), f"{where} It is there already."
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    elif end := END.fullmatch(where):
        path = root / end[1]
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
    else:
        found = BESIDE.fullmatch(where)
        assert found, f"nothing says where this goes: {where}\n{text}"
        path, place, words = root / found[1], found[2], found[3]
        before = path.read_text(encoding="utf-8")
        assert before.count(words) == 1, f"{where} The text is there {before.count(words)} times."
        if place == "in place of":
            after = before.replace(words, text.removesuffix("\n"))
        else:
            start = before.rindex("\n", 0, before.index(words)) + 1 if "\n" in before[: before.index(words)] else 0
            cut = start if place == "before" else before.index("\n", start) + 1
            after = before[:cut] + text + before[cut:]
        path.write_text(after, encoding="utf-8")


def type_recipe(root, name):
    """Type the snippets of a recipe, and of the one that it goes on from. Returns its commands."""
    text, commands = RECIPES[name], []
    if earlier := GOES_ON.search(text):
        type_recipe(root, earlier[1])
    for where, language, snippet in FENCE.findall(text):
        if language == "sh":
            commands += snippet.splitlines()
        else:
            type_in(root, where, snippet)
    return commands


@pytest.fixture
def copy(tmp_path_factory, usd_python):
    """A copy of the repository. Its `.venv` is the environment of this test.

    In one place for all recipes: what Python has compiled for one it need not compile for the next.
    """
    root = tmp_path_factory.getbasetemp() / "copy"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(ROOT, root, ignore=NOT_COPIED)
    (root / ".venv").symlink_to(sys.prefix)
    (root / ".venv-usd").symlink_to(usd_python.parent.parent)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_works_as_it_is_written(name, copy):
    if os.name != "posix":
        pytest.skip("the commands of recipes are for a POSIX shell")
    commands = type_recipe(copy, name)
    assert any(" -m pytest " in command for command in commands), "the recipe names no test"
    environment = {**os.environ, "SHARED_DIR": os.environ.get("SHARED_DIR", str(ROOT.parent / "shared"))}
    # A part of the tests of this run may have none of those of the recipe.
    environment.pop("TURN", None)
    for command in commands:
        done = subprocess.run(
            ["sh", "-c", command], cwd=copy, env=environment, capture_output=True, text=True, timeout=1800, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        if " -m pytest " in command:
            assert re.search(r"^\d+ passed", done.stdout, re.MULTILINE), f"{command}\n{done.stdout[-3000:]}"
    # `make check` makes this environment; a recipe that it would not pass is no good one.
    ruff = ROOT / ".venv-check" / "bin" / "ruff"
    for arguments in (("check",), ("format", "--check")) if ruff.exists() else ():
        done = subprocess.run([ruff, *arguments, "."], cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:]


def test_commands_of_recipes_are_for_the_environments_of_a_copy():
    """They run in the copy: a path that leads elsewhere would try the repository itself."""
    for name, text in RECIPES.items():
        for _, language, snippet in FENCE.findall(text):
            for command in snippet.splitlines() if language == "sh" else ():
                assert shlex.split(command)[0] in (".venv/bin/python", ".venv-usd/bin/python"), (name, command)


def test_a_snippet_without_a_place_is_found(tmp_path):
    (tmp_path / "a.py").write_text("one = 1\ntwo = 2\n")
    type_in(tmp_path, "In `a.py`, after `one`:", "half = 1.5\n")
    type_in(tmp_path, "In `a.py`, before `one`:", "zero = 0\n")
    type_in(tmp_path, "In `a.py`, in place of `two = 2`:", "two = 2.0\n")
    type_in(tmp_path, "At the end of `a.py`:", "three = 3\n")
    assert (tmp_path / "a.py").read_text() == "zero = 0\none = 1\nhalf = 1.5\ntwo = 2.0\nthree = 3\n"
    for where in ("Write this:", "In `a.py`, after `four`:", "In `a.py`, after ` = `:", "New file `a.py`:"):
        with pytest.raises(AssertionError):
            type_in(tmp_path, where, "x = 1\n")
