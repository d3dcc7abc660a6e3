"""The manual: pictures that window tests take, films, commands and options, pages in the navigation, the rooms."""

import ast
import importlib.util
import re
import struct
from pathlib import Path
from types import ModuleType

import pytest
from usdphys_ext.usdphys_addon import cli

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
DRIVERS = ROOT / "tests" / "ui" / "drivers"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_pictures_are_taken_by_window_tests_and_films_have_a_still_picture(page):
    for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        picture = (page.parent / target).resolve()
        assert picture.is_file(), target
        if picture.parent.name == "pictures":
            driver, _, shot = picture.stem.partition("-")
            assert f'"{shot}"' in (DRIVERS / f"{driver}.py").read_text(encoding="utf-8"), target
        if picture.parent.name == "films":
            assert (DOCS / "stills" / picture.name).is_file(), target


def test_no_picture_and_no_film_is_left_over():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for picture in [*(DOCS / "pictures").iterdir(), *(DOCS / "films").iterdir(), *(DOCS / "stills").iterdir()]:
        assert picture.name in text, picture


def test_each_picture_is_cut_out_of_a_shot_as_its_table_says():
    """Width and height of a WebP file stand behind the tag of its first chunk."""
    cuts = ast.literal_eval(
        re.search(r"CUTS.*?= (\{.*?\n\})", (ROOT / "scripts" / "pictures.py").read_text(encoding="utf-8"), re.S)[1]
    )
    sizes = {}
    for picture in (DOCS / "pictures").iterdir():
        data = picture.read_bytes()
        assert data[12:16] == b"VP8 " and data[23:26] == b"\x9d\x01\x2a", picture
        sizes[picture.stem] = tuple(number & 0x3FFF for number in struct.unpack_from("<HH", data, 26))
    assert sizes == {name: cut[2:] for name, cut in cuts.items()}


def test_films_are_made_by_their_script_and_small():
    made = set(re.findall(r'^    "(\w+)": Film\(', (ROOT / "scripts" / "films.py").read_text(encoding="utf-8"), re.M))
    films = list((DOCS / "films").iterdir())
    assert {film.stem for film in films} == made and len(made) >= 5
    for film in films:
        data = film.read_bytes()
        assert data[:4] == b"RIFF" and data.count(b"ANMF") >= 20, f"{film.name} does not move"
        assert len(data) < 400_000, film.name


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r"([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M))
    beside = set(script("site_hooks").BESIDE.values())
    assert listed == {page.relative_to(DOCS).as_posix() for page in PAGES} | beside


def test_names_in_tables_break_at_their_seams_and_cells_know_their_columns():
    """By hand: a table of Markdown as MkDocs renders it."""
    head = "<thead><tr><th>code</th><th>what &amp; why</th></tr></thead>"
    body = "<tbody><tr><td>JointFramesApart a&lt;b short</td><td>ok</td></tr></tbody>"
    shown = script("site_hooks").on_page_content(f"<table>{head}{body}</table>")
    assert "Joint<wbr>Frames<wbr>Apart a&lt;b short" in shown
    assert '<table class="columns-2">' in shown and '<td data-column="what &amp; why">ok</td>' in shown


def test_a_film_stands_still_for_readers_who_want_no_motion():
    shown = script("site_hooks").on_page_content('<p><img alt="A door" src="../films/door.webp" /></p>')
    assert '(prefers-reduced-motion: reduce)" srcset="../stills/door.webp">' in shown
    assert '<img alt="A door" src="../films/door.webp" />' in shown


def test_links_of_pages_from_beside_the_manual_lead_into_it_or_nowhere():
    moved = script("site_hooks").moved("[a](docs/recipes.md#x) [b](tests/README.md) [c](CHANGELOG.md) [d](https://x.y)")
    assert moved == "[a](recipes.md#x) b [c](changelog.md) [d](https://x.y)"


def test_the_page_on_architecture_lists_the_modules_of_the_preview():
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    section = text.partition("## The modules of the preview")[2].partition("\n## ")[0]
    folder = ROOT / "usdphys_addon" / "simulation"
    there = {
        path.relative_to(folder).as_posix()
        for path in [*folder.glob("*.py"), *folder.glob("rapier/*.py"), *folder.glob("mujoco/*.py")]
    }
    assert set(re.findall(r"^\| `([\w/]+\.py)`", section, re.M)) == {path for path in there if "__init__" not in path}


@pytest.fixture
def help_of(capsys):
    def shown(*command: str) -> str:
        assert cli.main([*command, "--help"]) == 0
        return capsys.readouterr().out

    return shown


def test_every_command_and_option_is_described(help_of):
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    ([a-z]+) +\S", help_of(), re.M)
    assert {"convert", "validate", "inspect", "simulate"} <= set(commands)
    for name in commands:
        assert f"## {name} " in text
        options = set(re.findall(r"(?<![\w-])--[\w-]+", help_of(name))) - {"--help"}
        assert options, name
        for option in options:
            assert f"`{option}" in text, (name, option)


def test_the_help_of_commands_and_their_page_name_all_formats_that_they_read(help_of):
    """MJCF and SDF are read by all of these, and no help named them."""
    names = [".blend", "USD", "glTF", "URDF", "MJCF", "SDF"]
    for command in ("convert", "validate", "inspect", "diff", "simulate", "prove", "report"):
        shown = " ".join(help_of(command).split())
        assert [name for name in names if name not in shown] == [], command
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    for text in (help_of(), page):
        assert [name for name in names if name not in text] == []


def test_the_help_of_an_output_names_all_formats_that_are_written(help_of):
    output = " ".join(help_of("convert").split()).partition(" OUT ")[2].partition(" options:")[0]
    written = [".blend", "USD", "glTF", "URDF", "MJCF"]
    assert [name for name in written if name not in output] == []


def test_percent_signs_of_help_are_doubled():
    """Python 3.14 refuses others when the parser is made, earlier ones when the help is asked for."""
    text = (ROOT / "usdphys_addon" / "cli" / "arguments.toml").read_text(encoding="utf-8")
    texts = re.findall(r'help = "([^"]*)"', text)
    assert len(texts) > 100
    assert [one for one in texts if "%" in re.sub(r"%%|%\(\w+\)s", "", one)] == []


def test_the_page_on_architecture_shows_the_arrows_that_there_are():
    """The list of rooms, from the top down, with exactly the rooms that each imports."""
    spec = importlib.util.spec_from_file_location("rooms", Path(__file__).with_name("test_rooms.py"))
    rooms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rooms)
    arrows = {room: set() for room in reversed(list(rooms.ROOMS))}
    for file, (own, _) in rooms.IMPORTS.items():
        room = rooms.room_of(file)
        if room:
            arrows[room] |= {rooms.room_of(target) for target in own} - {room, ""}
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^(\w+) +->(.*)$", text, re.M))
    assert list(shown) == list(arrows)
    assert {room: set(targets.split()) for room, targets in shown.items()} == arrows
