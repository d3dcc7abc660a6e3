# SPDX-License-Identifier: GPL-3.0-or-later
"""The first minutes: a hint in the empty sidebar, sample scenes that do what they say, and the manual."""

import fnmatch
import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlparse
from urllib.request import url2pathname

import bpy
import pytest
from mathutils import Vector
from usdphys_ext.operators import manual as manual_operators
from usdphys_ext.panels import action_bar_panel as panels
from usdphys_ext.usdphys_addon.authoring.generator_kinds import SAMPLES
from usdphys_ext.usdphys_addon.generators import samples
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.system import manual

from . import scenes
from .layout_recorder import draw

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _no_session():
    window, before = bpy.context.window, bpy.context.scene
    yield
    preview_guard.stop()
    window.scene = before


def played(kind, seconds):
    """Make a sample and play it. Returns its objects by name, and where they were before."""
    assert bpy.ops.usdphys.sample_scene(kind=kind) == {"FINISHED"}
    objects = {obj.name: obj for obj in bpy.context.scene.objects}
    bpy.context.view_layer.update()
    before = {name: obj.matrix_world.copy() for name, obj in objects.items()}
    session = preview_guard.start(bpy.context)
    assert [issue for issue in session.notices if issue.severity != "info"] == []
    while session.world.time < seconds:
        session.step_once(bpy.context)
    return objects, before


@pytest.mark.parametrize("kind", [kind for kind, *_ in SAMPLES])
def test_a_view_shows_the_whole_sample_but_not_the_whole_ground(kind):
    """The arm was a few pixels high where a wide scene had been looked at."""
    bpy.ops.usdphys.sample_scene(kind=kind)
    bpy.context.view_layer.update()
    view = SimpleNamespace(view_location=None, view_distance=0.0)
    samples.frame(bpy.context.scene, view)
    bodies = [obj for obj in bpy.context.scene.objects if obj.usdphys.rigid_body.is_applied]
    apart = [(obj.matrix_world.translation - Vector(view.view_location)).length for obj in bodies]
    # Blender's view shows 0.72 of its distance from side to side.
    assert bodies and max(apart) < 0.5 * view.view_distance < 10.0 * max(max(apart), 0.5)


def test_the_ball_fells_every_domino():
    objects, _ = played("DOMINOES", 5.0)
    dominoes = [obj for name, obj in objects.items() if name.startswith("Domino")]
    assert len(dominoes) == 10
    assert all(obj.matrix_world.to_3x3().col[2].z < 0.7 for obj in dominoes)


def test_the_car_drives_straight_at_the_speed_of_its_wheels():
    objects, before = played("CAR", 3.5)
    chassis, session = objects["Chassis"], preview_guard.current()
    at = chassis.matrix_world.translation.copy()
    for _ in range(60):
        session.step_once(bpy.context)
    way = chassis.matrix_world.translation - at
    assert abs(way.x) == pytest.approx(0.35 * 6.0, rel=0.05)
    whole = chassis.matrix_world.translation - before["Chassis"].translation
    assert abs(whole.y) < 0.05 * abs(whole.x) and abs(whole.z) < 0.05


def test_the_arm_holds_itself():
    objects, before = played("ARM", 3.0)
    sag = before["Link 2"].translation.z - objects["Link 2"].matrix_world.translation.z
    assert abs(sag) < 0.01 * 3.3


def test_the_chimney_falls_when_the_ball_hits_it():
    objects, before = played("CHIMNEY", 3.0)
    bricks = [name for name in objects if name.startswith("Brick") and "Joint" not in name]
    tops = [name for name in bricks if before[name].translation.z > 2.0]
    assert len(bricks) == 80 and len(tops) > 8
    assert sum(objects[name].matrix_world.translation.z < 1.5 for name in tops) > len(tops) / 2


@pytest.mark.parametrize("kind", [kind for kind, *_ in SAMPLES])
def test_a_sample_has_a_scene_of_its_own_and_leaves_the_other_alone(kind):
    mine, before = bpy.context.scene, set(bpy.data.objects)
    scenes.add_box("Mine")
    bpy.ops.usdphys.sample_scene(kind=kind)
    assert bpy.context.scene != mine and [obj.name for obj in mine.objects] == ["Mine"]
    assert not before & set(bpy.context.scene.objects)


def test_the_hint_is_there_until_something_has_physics():
    obj = scenes.add_box("Mine")
    drawn = draw(panels.USDPHYS_PT_actions)
    assert len(drawn.buttons("usdphys.sample_scene")) == len(SAMPLES) and drawn.buttons("usdphys.manual")
    assert not obj.usdphys.mass.is_applied  # as a panel that is drawn reads it
    assert draw(panels.USDPHYS_PT_actions).buttons("usdphys.manual")
    scenes.make_body(obj)
    assert draw(panels.USDPHYS_PT_actions).buttons("usdphys.sample_scene") == []


def test_physics_of_an_instanced_collection_ends_the_hint():
    held = bpy.data.collections.new("Held")
    inside = scenes.add_box("Inside")
    bpy.context.scene.collection.objects.unlink(inside)
    held.objects.link(inside)
    instance = bpy.data.objects.new("Instance", None)
    bpy.context.scene.collection.objects.link(instance)
    instance.instance_type, instance.instance_collection = "COLLECTION", held
    assert draw(panels.USDPHYS_PT_actions).buttons("usdphys.sample_scene")
    scenes.make_body(inside)
    # The steps of a scene that was empty stay until they are done; this one begins with physics.
    panels.FIRST_STEPS.scenes.clear()
    assert draw(panels.USDPHYS_PT_actions).buttons("usdphys.sample_scene") == []


# --------------------------------------------------------------------------- the manual


def pages():
    prefix, mapping = manual_operators.manual_map()
    return Path(url2pathname(urlparse(prefix).path)), mapping


def test_f1_finds_a_property_by_the_name_of_its_group():
    physics, preview = scenes.add_box("Mine").usdphys, bpy.context.scene.usdphys.preview
    found = {}
    for group, name in ((preview, "speed"), (physics.rigid_body, "velocity"), (physics.joint.revolute, "lower_limit")):
        doc_id = f"bpy.types.{group.bl_rna.identifier}.{name}".lower()
        found[name] = next((page for pattern, page in pages()[1] if fnmatch.fnmatchcase(doc_id, pattern)), None)
    mapping = "concept_mapping.html"
    assert found == {"speed": "preview.html", "velocity": mapping, "lower_limit": mapping}


def test_f1_opens_a_page_for_every_operator_and_property():
    folder, mapping = pages()
    names = [f"bpy.ops.usdphys.{name}" for name in dir(bpy.ops.usdphys)]
    names += ["bpy.types.usdphys_pg_previewproperties.frequency", "bpy.types.usdphys_pg_massproperties.mass"]
    for name in names:
        page = next((page for pattern, page in mapping if fnmatch.fnmatchcase(name, pattern)), None)
        assert page is not None and (folder / page).is_file(), name


def test_the_map_is_registered_and_goes(extension):
    maps = bpy.utils.manual_map()
    assert any("usdphys" in prefix for prefix, _ in maps)


def test_every_link_of_the_manual_leads_to_a_page():
    folder, _ = pages()
    assert len(list(folder.rglob("*.html"))) == len(list(manual.SOURCE.rglob("*.md"))) > 10
    for path in folder.rglob("*.html"):
        text = path.read_text()
        for link in re.findall(r'href="([^"]+)"', text):
            if re.match(r"https?:", link):
                continue
            target, _, name = link.partition("#")
            there = (path.parent / target).resolve() if target else path
            assert there.is_file(), (path.name, link)
            assert not name or f'id="{name}"' in there.read_text(), (path.name, link)


def test_pages_show_their_pictures_and_films_stand_still():
    folder, _ = pages()
    shown = {}
    for path in folder.rglob("*.html"):
        for target in re.findall(r'<img src="([^"]+)"', path.read_text()):
            assert (path.parent / target).is_file(), (path.name, target)
            shown.setdefault(Path(target).parent.name, set()).add(Path(target).name)
    assert len(shown["pictures"]) > 10 and len(shown["stills"]) >= 5 and set(shown) == {"pictures", "stills"}
    assert 'src="../stills/door.webp" alt="A ball opens' in (folder / "tasks" / "door.html").read_text()


def test_steps_go_on_counting_after_a_picture():
    shown = manual.page("# A\n\n1. one\n2. two\n\n    ![P](pictures/p.webp)\n\n3. three\n", "i.html")
    assert '<img src="pictures/p.webp" alt="P">' in shown and '<ol start="3"><li>three</li></ol>' in shown


def test_markdown_becomes_what_it_means():
    shown = manual.page("# A *b*\n\n- one `x|<y>`\n- **two**\n\n| a | b |\n|---|---|\n| c | [d](e.md#f) |\n", "i.html")
    assert '<h1 id="a-b">A <i>b</i></h1>' in shown
    assert "<ul><li>one <code>x|&lt;y&gt;</code></li><li><b>two</b></li></ul>" in shown
    assert '<tr><th>a</th><th>b</th></tr><tr><td>c</td><td><a href="e.html#f">d</a></td></tr>' in shown
