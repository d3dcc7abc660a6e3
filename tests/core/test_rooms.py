"""The rooms of the house: which imports which, no circles, no arrow upwards; see docs/architecture.md."""

import ast
import tomllib
from pathlib import Path

import pytest
from parsed import parsed

ROOT = Path(__file__).resolve().parent.parent.parent
#: The paths of each room, from the ground up. A room imports those before it, and itself.
ROOMS = {
    "core": ("usdphys_addon/core",),
    "system": ("usdphys_addon/system",),
    "batch": ("usdphys_addon/batch",),
    "urdf": ("usdphys_addon/urdf",),
    "mjcf": ("usdphys_addon/mjcf",),
    "sdf": ("usdphys_addon/sdf",),
    "usd": ("usdphys_addon/usd",),
    "gltf": ("usdphys_addon/gltf",),
    "simulation": ("usdphys_addon/simulation",),
    "live": ("usdphys_addon/live",),
    "aiming": ("usdphys_addon/aiming",),
    "worker": ("usdphys_addon/worker",),
    "bridge": ("usdphys_addon/bridge",),
    "exchange": ("usdphys_addon/exchange",),
    "proving": ("usdphys_addon/proving",),
    "formats": ("usdphys_addon/formats.py", "usdphys_addon/stage_motion.py"),
    "authoring": ("usdphys_addon/authoring",),
    "playback": ("usdphys_addon/playback",),
    "generators": ("usdphys_addon/generators",),
    "checks": ("usdphys_addon/checks",),
    "viewport": ("usdphys_addon/viewport",),
    "cli": ("usdphys_addon/cli", "usdphys_addon/__main__.py"),
    "api": ("usdphys_addon/api",),
    "operators": ("operators", "preferences.py", "keymap.py"),
    "panels": ("panels", "__init__.py"),
}
#: What does not import a room side by side, though it is below.
APART = {
    "usdphys_addon/usd": {"simulation"},
    "usdphys_addon/sdf": {"mjcf"},
    "usdphys_addon/gltf": {"urdf", "mjcf", "sdf", "usd"},
    "usdphys_addon/simulation": {"usd", "gltf"},
    "usdphys_addon/bridge": {"usd", "gltf", "simulation"},
    "usdphys_addon/exchange/attaching": {"usd", "gltf", "simulation"},
    "usdphys_addon/authoring": {"exchange"},
    "usdphys_addon/proving": {"exchange", "bridge"},
    "usdphys_addon/generators": {"exchange"},
}
#: Who may import what from outside.
BLENDER = {"bpy", "bmesh", "bpy_extras", "bl_ui", "bl_operators", "gpu", "gpu_extras", "mathutils", "blf", "idprop"}
WITHOUT_BLENDER = (
    "usdphys_addon/core",
    "usdphys_addon/system",
    "usdphys_addon/batch",
    "usdphys_addon/urdf",
    "usdphys_addon/mjcf",
    "usdphys_addon/sdf",
    "usdphys_addon/usd",
    "usdphys_addon/gltf",
    "usdphys_addon/simulation",
    "usdphys_addon/simulation/gains",
    "usdphys_addon/live",
    "usdphys_addon/aiming",
    "usdphys_addon/proving",
    "usdphys_addon/bridge/identity/names.py",
    "usdphys_addon/bridge/identity/match.py",
)
ONLY_IN = {
    "pxr": (
        "usdphys_addon/usd",
        "usdphys_addon/exchange",
        "usdphys_addon/bridge/environment.py",
        # It runs in Newton's Python, which has its own.
        "usdphys_addon/simulation/engines/run_newton.py",
    ),
    "rapier3d": ("usdphys_addon/simulation/rapier",),
    "mujoco": ("usdphys_addon/simulation/mujoco", "usdphys_addon/simulation/engines/run_newton.py"),
}


def product_files() -> list[str]:
    files = [*ROOT.glob("*.py")]
    for folder in ("usdphys_addon", "operators", "panels"):
        files += (ROOT / folder).rglob("*.py")
    return sorted(file.relative_to(ROOT).as_posix() for file in files)


FILES = product_files()


def is_in(file: str, paths: tuple[str, ...]) -> bool:
    return any(file == path or file.startswith(f"{path}/") for path in paths)


def room_of(file: str) -> str:
    return next((room for room, paths in ROOMS.items() if is_in(file, paths)), "")


def resolve(file: str, node: ast.ImportFrom) -> list[str]:
    """Files of the product that a relative import names."""
    base = ROOT / file
    for _ in range(node.level):
        base = base.parent
    module = base.joinpath(*(node.module or "").split(".")) if node.module else base
    found = []
    for alias in node.names:
        for candidate in (module / f"{alias.name}.py", module / alias.name / "__init__.py",
                          module.with_suffix(".py"), module / "__init__.py"):  # fmt: skip
            if candidate.is_file():
                found.append(candidate.relative_to(ROOT).as_posix())
                break
    return found


def read_imports(file: str) -> tuple[set[str], set[str]]:
    """(files of the product, top-level packages from outside) that a file imports, inside functions as well."""
    own: set[str] = set()
    for node in parsed(ROOT / file).imports:
        if isinstance(node, ast.ImportFrom) and node.level:
            own.update(resolve(file, node))
    others = {name.split(".")[0] for name in parsed(ROOT / file).modules()}
    return own - {file}, others


IMPORTS = {file: read_imports(file) for file in FILES}


def test_blender_starts_without_what_only_work_needs() -> None:
    """Each module that the registration imports costs every start of Blender, with or without physics."""
    waiting, loaded = ["operators/__init__.py", "panels/__init__.py", "preferences.py"], set()
    while waiting:
        loaded.add(file := waiting.pop())
        own = [node for node in parsed(ROOT / file).top if isinstance(node, ast.ImportFrom) and node.level]
        waiting += {name for node in own for name in resolve(file, node)} - loaded
    assert len(loaded) > 60
    late = {"usdphys_addon/core/model.py", "usdphys_addon/core/joint_settings.py", "usdphys_addon/core/validate.py"}
    assert loaded & late == set()


def test_every_file_is_in_a_room() -> None:
    strangers = [file for file in FILES if not room_of(file) and file != "usdphys_addon/__init__.py"]
    assert not strangers


def test_imports_are_found() -> None:
    """The reader of imports sees what is there: a few that are known, and many."""
    assert "usdphys_addon/core/units.py" in IMPORTS["usdphys_addon/core/schema.py"][0]
    assert "rapier3d" in IMPORTS["usdphys_addon/simulation/rapier/space.py"][1]
    assert sum(len(own) for own, _ in IMPORTS.values()) > 500


def test_no_arrow_upwards() -> None:
    order = list(ROOMS)
    upward = [
        f"{file} -> {target}"
        for file, (own, _) in IMPORTS.items()
        for target in own
        if room_of(target) and order.index(room_of(target)) > order.index(room_of(file))
    ]
    assert not upward


def test_rooms_that_stand_apart() -> None:
    crossing = [
        f"{file} -> {target}"
        for path, others in APART.items()
        for file, (own, _) in IMPORTS.items()
        for target in own
        if is_in(file, (path,)) and room_of(target) in others
    ]
    assert not crossing


def test_no_circle() -> None:
    found: list[str] = []
    done: set[str] = set()

    def visit(file: str, way: list[str]) -> None:
        if file in way:
            found.append(" -> ".join([*way[way.index(file) :], file]))
            return
        if file in done:
            return
        for target in sorted(IMPORTS[file][0]):
            visit(target, [*way, file])
        done.add(file)

    for file in FILES:
        # A package's own __init__ names its modules in order to register them; its modules do not import it.
        visit(file, [])
    assert not found


@pytest.mark.parametrize("package", sorted(ONLY_IN))
def test_packages_that_few_may_import(package) -> None:
    strangers = [
        file for file, (_, others) in IMPORTS.items() if package in others and not file.startswith(ONLY_IN[package])
    ]
    assert not strangers


def test_the_engine_of_the_preview_is_behind_its_door() -> None:
    """Its row names it, and who says which version there is; nobody imports it."""
    room = "usdphys_addon/simulation/rapier/"
    arrows = {file for file, (own, _) in IMPORTS.items() if any(target.startswith(room) for target in own)}
    assert {file for file in arrows if not file.startswith(room)} == set()
    named = [file for file in FILES if not file.startswith(room) and "rapier" in (ROOT / file).read_text().lower()]
    assert named == [
        "operators/report_bug.py", "usdphys_addon/cli/versions.py", "usdphys_addon/simulation/engine.py",
    ]  # fmt: skip


def test_rooms_without_blender() -> None:
    strangers = [
        f"{file}: {sorted(others & BLENDER)}"
        for file, (_, others) in IMPORTS.items()
        if file.startswith(WITHOUT_BLENDER) and others & BLENDER
    ]
    assert not strangers


def test_the_wheel_imports_nothing_that_it_lacks() -> None:
    """What it has imports rooms of Blender inside of functions at most, where Blender is known to be there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lacking = tuple(name.lstrip("/") for name in project["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"])
    there = [file for file in FILES if file.startswith("usdphys_addon/") and not file.startswith(lacking)]
    assert len(there) > 150
    crossing = []
    for file in there:
        top = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
        names = [
            name for node in top if isinstance(node, ast.ImportFrom) and node.level for name in resolve(file, node)
        ]
        crossing += [f"{file} -> {name}" for name in names if name not in there]
        modules = [alias.name for node in top if isinstance(node, ast.Import) for alias in node.names]
        modules += [node.module or "" for node in top if isinstance(node, ast.ImportFrom) and not node.level]
        crossing += [f"{file}: {name}" for name in modules if name.split(".")[0] in BLENDER]
    assert not crossing


def test_no_private_class_has_subclasses_in_other_modules() -> None:
    crossing = []
    for file in FILES:
        module = parsed(ROOT / file)
        own = {node.name for node in module.top if isinstance(node, ast.ClassDef)}
        for node in module.classes:
            for base in node.bases:
                name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
                if name.startswith("_") and name not in own:
                    crossing.append(f"{file}: {node.name}({name})")
    assert not crossing


def test_no_private_name_crosses_a_module() -> None:
    crossing = [
        f"{file}: {alias.name}"
        for file in FILES
        for node in parsed(ROOT / file).imports
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
        if alias.name.startswith("_")
    ]
    assert not crossing
