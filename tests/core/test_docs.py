"""The manual: pictures that window tests take, all commands and options, all pages in the navigation, the rooms."""

import importlib.util
import re
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon import cli

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
DRIVERS = ROOT / "tests" / "ui" / "drivers"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pictures_are_taken_by_window_tests(page):
    for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        picture = (page.parent / target).resolve()
        assert picture.is_file(), target
        if picture.parent.name != "pictures":
            continue
        driver, _, shot = picture.stem.partition("-")
        assert f'"{shot}"' in (DRIVERS / f"{driver}.py").read_text(encoding="utf-8"), target


def test_no_picture_is_left_over():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for picture in (DOCS / "pictures").glob("*.png"):
        assert picture.name in text


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r"([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M))
    assert listed == {page.relative_to(DOCS).as_posix() for page in PAGES}


def test_every_command_and_option_is_described(capsys):
    text = (DOCS / "cli.md").read_text(encoding="utf-8")

    def help_of(*command: str) -> str:
        assert cli.main([*command, "--help"]) == 0
        return capsys.readouterr().out

    commands = re.findall(r"^    ([a-z]+) +\S", help_of(), re.M)
    assert {"convert", "validate", "inspect", "simulate"} <= set(commands)
    for name in commands:
        assert f"## {name} " in text
        options = set(re.findall(r"(?<![\w-])--[\w-]+", help_of(name))) - {"--help"}
        assert options, name
        for option in options:
            assert f"`{option}" in text, (name, option)


def test_the_page_on_architecture_shows_the_arrows_that_there_are():
    """The list of rooms, from the top down, with exactly the rooms that each imports."""
    spec = importlib.util.spec_from_file_location("rooms", Path(__file__).with_name("test_rooms.py"))
    rooms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rooms)
    arrows = {room: set() for room in reversed(rooms.ROOMS)}
    for file, (own, _) in rooms.IMPORTS.items():
        room = rooms.room_of(file)
        if room:
            arrows[room] |= {rooms.room_of(target) for target in own} - {room, ""}
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^([\w./]+) +->(.*)$", text, re.M))
    assert list(shown) == list(arrows)
    assert {room: set(targets.split()) for room, targets in shown.items()} == {
        room: {target.removeprefix("usdphys_addon/") for target in targets} for room, targets in arrows.items()
    }
