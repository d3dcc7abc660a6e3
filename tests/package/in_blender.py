"""Runs inside a fresh bpy process: `in_blender.py RESULT.json FUNCTION ARGUMENTS...`. Not collected by pytest."""

import importlib
import importlib.machinery
import json
import os
import runpy
import shutil
import sys
import tomllib
from pathlib import Path

import bpy

MODULE = "bl_ext.user_default.usdphys_addon"
RESOURCES = os.environ["BLENDER_USER_RESOURCES"]


class _OnlyBundledWheel:
    """Hides the rapier3d that the test environment has: only a copy that the zip installed may be found."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "rapier3d":
            return None
        bundled = [folder for folder in sys.path if folder.startswith(RESOURCES)]
        spec = importlib.machinery.PathFinder.find_spec(name, bundled)
        if spec is None:
            raise ModuleNotFoundError(name, name=name)
        return spec


sys.meta_path.insert(0, _OnlyBundledWheel)


def is_enabled() -> bool:
    return MODULE in bpy.context.preferences.addons and hasattr(bpy.types, "USDPHYS_OT_export_usd")


def install(zip_path: str) -> None:
    bpy.ops.extensions.package_install_files(repo="user_default", filepath=zip_path, enable_on_install=True)


def traces() -> list[str]:
    """All that the extension has left in Blender, as readable lines."""
    found = [f"type {name}" for name in dir(bpy.types) if "usdphys" in name.lower()]
    found += [f"class {cls.__qualname__}" for cls in _registered_classes(bpy.types.bpy_struct)]
    for list_name in dir(bpy.app.handlers):
        functions = getattr(bpy.app.handlers, list_name)
        if isinstance(functions, list):
            found += [f"handler {list_name} {f.__name__}" for f in functions if _is_ours(f)]
    for name in dir(bpy.types):
        draw = getattr(getattr(bpy.types, name), "draw", None)
        found += [f"menu entry in {name}" for function in getattr(draw, "_draw_funcs", ()) if _is_ours(function)]
    for owner in ("Object", "Scene", "Collection", "Material", "WindowManager", "Mesh", "PoseBone", "Bone"):
        properties = getattr(bpy.types, owner).bl_rna.properties
        found += [f"property {owner}.{key}" for key in properties.keys() if "usdphys" in key]
    keyconfig = bpy.context.window_manager.keyconfigs.addon
    for keymap in keyconfig.keymaps if keyconfig else ():
        found += [f"key for {item.idname}" for item in keymap.keymap_items if item.idname.startswith("usdphys.")]
    return found


def _registered_classes(base: type) -> list[type]:
    """Blender writes bl_rna into a class that it registers and takes it out again."""
    classes = []
    for cls in base.__subclasses__():
        if _is_ours(cls) and "bl_rna" in cls.__dict__:
            classes.append(cls)
        classes += _registered_classes(cls)
    return classes


def _is_ours(thing: object) -> bool:
    return str(getattr(thing, "__module__", "")).startswith(MODULE)


def enable_export_disable(zip_path: str, usd_path: str) -> dict[str, object]:
    before = traces()
    install(zip_path)
    facts: dict[str, object] = {"before": before, "enabled": is_enabled(), "while_enabled": traces()}
    try:
        import rapier3d

        facts["rapier3d"] = rapier3d.__file__
    except ModuleNotFoundError:
        facts["rapier3d"] = None
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.usdphys.rigid_body.is_applied = True
    facts["export"] = sorted(bpy.ops.usdphys.export_usd(filepath=usd_path))
    bpy.ops.preferences.addon_disable(module=MODULE)
    return facts | {"still_enabled": is_enabled(), "after": traces()}


def enable_and_disable(zip_path: str, times: str) -> list[str]:
    install(zip_path)
    for _ in range(int(times)):
        bpy.ops.preferences.addon_disable(module=MODULE)
        bpy.ops.preferences.addon_enable(module=MODULE)
        assert is_enabled()
    bpy.ops.preferences.addon_disable(module=MODULE)
    return traces()


def remove(zip_path: str) -> dict[str, object]:
    install(zip_path)
    repos = bpy.context.preferences.extensions.repos
    index = next(i for i, repo in enumerate(repos) if repo.module == "user_default")
    bpy.ops.extensions.package_uninstall(repo_index=index, pkg_id="usdphys_addon")
    left = [str(path) for path in Path(RESOURCES).rglob("usdphys_addon*")]
    left += [str(path) for path in Path(RESOURCES).rglob("rapier3d")]
    return {"traces": traces(), "files": left}


def run_script(zip_path: str, script: str, *arguments: str) -> dict[str, str]:
    """Install the extension, and run a script as Blender's --python does. Returns all names of the API's module."""
    install(zip_path)
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")
    names = [name for name, module in sys.modules.items() if "open_scene" in getattr(module, "__all__", ())]
    return {"modules": " ".join(sorted(names))}


def _strangers_repository(index: str) -> int:
    """The number of a remote repository that a user has added and refreshed."""
    bpy.context.preferences.system.use_online_access = True
    repos = bpy.context.preferences.extensions.repos
    if "stranger" not in [repo.module for repo in repos]:
        repo = repos.new(name="Stranger", module="stranger", custom_directory="", remote_url=index)
        repo.use_remote_url = True
    number = next(number for number, repo in enumerate(repos) if repo.module == "stranger")
    bpy.ops.extensions.repo_sync(repo_index=number)
    return number


def _installed(number: int) -> str:
    """The version of the extension that is installed from a repository."""
    folder = Path(bpy.context.preferences.extensions.repos[number].directory, "usdphys_addon")
    return tomllib.loads((folder / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]


def step_from_repository(index: str) -> dict[str, object]:
    """Install from a repository, and drop a crate: where it is after a second, and which solver moved it."""
    number = _strangers_repository(index)
    bpy.ops.extensions.package_install(repo_index=number, pkg_id="usdphys_addon", enable_on_install=True)
    bpy.ops.mesh.primitive_cube_add(location=(0, 0, 10))
    crate = bpy.context.object
    crate.usdphys.rigid_body.is_applied = True
    crate.usdphys.colliders.add()
    guard = importlib.import_module("bl_ext.stranger.usdphys_addon.usdphys_addon.playback.guard")
    session = guard.start(bpy.context)
    while session.world.time < 1.0:
        session.step_once(bpy.context)
    bpy.context.view_layer.update()
    height, seconds = crate.matrix_world.translation.z, session.world.time
    guard.stop()
    import rapier3d

    return {"height": height, "seconds": seconds, "rapier3d": rapier3d.__file__, "version": _installed(number)}


def _from(extension: str, module: str):
    return importlib.import_module(f"bl_ext.user_default.{extension}.{module}")


def engines(zip_path: str, engines_path: str) -> dict[str, object]:
    """What further engines do before and while their extension is installed, and what is left of it."""
    install(zip_path)
    engine = _from("usdphys_addon", "usdphys_addon.simulation.engine")
    facts: dict[str, object] = {"before": {key: engine.ENGINES[key].is_here() for key in ("mujoco", "automatic")}}
    install(engines_path)
    bpy.ops.mesh.primitive_torus_add(location=(0, 0, 10))
    ring = bpy.context.object
    ring.usdphys.rigid_body.is_applied = True
    ring.usdphys.colliders.add()
    bpy.context.scene.usdphys.preview.engine = "mujoco"
    session = _from("usdphys_addon", "usdphys_addon.playback.guard").start(bpy.context)
    while session.world.time < 1.0:
        session.step_once(bpy.context)
    facts |= {"engine": session.world.engine_name, "seconds": session.world.time}
    bpy.context.view_layer.update()
    facts["height"] = ring.matrix_world.translation.z
    _from("usdphys_addon", "usdphys_addon.playback.guard").stop()

    import mujoco

    facts["mujoco"] = mujoco.__file__
    parts = _from("usdphys_addon", "usdphys_addon.simulation.convex_parts")
    fitting = _from("usdphys_addon", "usdphys_addon.core.fitting")
    finished = _from("usdphys_addon", "usdphys_addon.core.steps").finished
    mesh = _from("usdphys_addon", "usdphys_addon.bridge.mesh").triangles_of(ring.data, 1.0)
    surface = fitting.Surface(mesh.points, mesh.triangles)
    split = finished(parts.split(surface, parts.Wanted("precise", most=8)))
    facts["pieces"] = len(split.parts)
    repos = bpy.context.preferences.extensions.repos
    number = next(number for number, repo in enumerate(repos) if repo.module == "user_default")
    bpy.ops.extensions.package_uninstall(repo_index=number, pkg_id="usdphys_engines")
    wheels = [*Path(RESOURCES).rglob("site-packages/mujoco*"), *Path(RESOURCES).rglob("site-packages/coacd*")]
    facts["left"] = [str(path) for path in (*wheels, *Path(RESOURCES).rglob("usdphys_engines*"))]
    return facts


def versions_after_updates(first: str, *others: str) -> list[str]:
    """The versions that are installed: from a repository, then after each update from another state of it."""
    folder = Path(first)
    number = _strangers_repository((folder / "index.json").as_uri())
    bpy.ops.extensions.package_install(repo_index=number, pkg_id="usdphys_addon", enable_on_install=False)
    found = [_installed(number)]
    for other in others:
        shutil.rmtree(folder)
        shutil.copytree(other, folder)
        _strangers_repository((folder / "index.json").as_uri())
        bpy.ops.extensions.package_upgrade_all()
        found.append(_installed(number))
    return found


def enable_and_stay(zip_path: str) -> bool:
    install(zip_path)
    return is_enabled()


if __name__ == "__main__":
    result, function, *arguments = sys.argv[1:]
    value = globals()[function](*arguments)
    Path(result).write_text(json.dumps(value), encoding="utf-8")
    sys.stdout.flush()
    if function != "enable_and_stay":
        os._exit(0)  # the shutdown of bpy is the subject of one test and must not disturb the others
