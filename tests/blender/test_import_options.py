# SPDX-License-Identifier: GPL-3.0-or-later
"""Import: variants, missing files, instances, point instancers, collections, progress and cancelling."""

import shutil
import types
from pathlib import Path

import bpy
import pytest
from usdphys_ext.operators.files.usd_file import SteppedImport
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.bridge import physics_collections
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.steps import Next
from usdphys_ext.usdphys_addon.exchange import blend_file, source_export, usd_export, usd_import
from usdphys_ext.usdphys_addon.usd import read as usd_read

pytestmark = pytest.mark.slow

HEAD = '#usda 1.0\n(\n    defaultPrim = "World"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
BODY = 'prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]'
CAR = f"""{HEAD}
def Xform "World" (
    variants = {{
        string wheels = "few"
    }}
    prepend variantSets = "wheels"
)
{{
    def Cube "Chassis" ( {BODY} )
    {{
    }}
    variantSet "wheels" = {{
        "few" {{
            def Sphere "A" ( {BODY} )
            {{
            }}
        }}
        "many" (
            variants = {{
                string tyre = "thin"
            }}
            prepend variantSets = "tyre"
        ) {{
            def Sphere "A" ( {BODY} )
            {{
            }}
            def Sphere "B" ( {BODY} )
            {{
            }}
            variantSet "tyre" = {{
                "thin" {{
                }}
                "thick" {{
                    over "B"
                    {{
                        double radius = 3
                    }}
                }}
            }}
        }}
    }}
}}
"""
ROCKS = f"""{HEAD}
def Xform "World"
{{
    def PhysicsScene "Scene"
    {{
    }}
    def PointInstancer "Rocks"
    {{
        int[] protoIndices = [0, 1, 0]
        point3f[] positions = [(0, 0, 5), (3, 0, 5), (6, 0, 5)]
        rel prototypes = [</World/Rocks/Prototypes/Cube>, </World/Rocks/Prototypes/Ball>]
        double3 xformOp:translate = (0, 0, 1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Scope "Prototypes"
        {{
            def Cube "Cube" ( {BODY} )
            {{
                custom asset vendor:sound = @./clonk.wav@
                float physics:mass = 3
            }}
            def Sphere "Ball" ( {BODY} )
            {{
            }}
        }}
    }}
}}
"""
TWINS = f"""{HEAD}
class Xform "Crate"
{{
    def Cube "Body" ( {BODY} )
    {{
    }}
}}
def Xform "World"
{{
    def "One" (
        instanceable = true
        prepend inherits = </Crate>
    )
    {{
    }}
    def "Two" (
        instanceable = true
        prepend inherits = </Crate>
    )
    {{
        double3 xformOp:translate = (5, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
}}
"""
DOOR = f"""{HEAD}
def Xform "World"
{{
    def Cube "Door" ( {BODY} )
    {{
        double size = 10
    }}
    def Cube "Shell" (
        prepend apiSchemas = ["PhysicsCollisionAPI"]
    )
    {{
        uniform token purpose = "guide"
        double3 xformOp:translate = (30, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
    def PhysicsRevoluteJoint "Hinge"
    {{
        rel physics:body0 = </World/Door>
        point3f physics:localPos0 = (1, 0, 0)
    }}
}}
"""


def import_usd(path, **options):
    return usd_import.import_usd(bpy.context, path, usd_import.ImportOptions(**options))


def export_usd(path):
    bpy.context.view_layer.update()
    return usd_export.export_usd(bpy.context, path, usd_export.ExportOptions())


def written(path, text):
    path.write_text(text)
    return path


def open_stage(path):
    from pxr import Usd

    return Usd.Stage.Open(str(path))


# --------------------------------------------------------------------------- variants


@pytest.mark.parametrize("saves", ["the command line", "Blender"])
def test_the_animation_of_a_chosen_variant_is_there_when_the_saved_file_is_opened(tmp_path, saves):
    """Blender reads it from a layer that ends with Blender's temporary folder."""
    choices = "\n".join(
        f'"{name}" {{\ndef Cube "Box"\n{{\n'
        f"double3 xformOp:translate.timeSamples = {{ 1: (0, 0, 0), 20: ({end}, 0, 0) }}\n"
        'uniform token[] xformOpOrder = ["xformOp:translate"]\n}\n}'
        for name, end in (("slow", 1), ("fast", 9))
    )  # fmt: skip
    source, folder = tmp_path / "source" / "lift.usda", tmp_path / "saved"
    source.parent.mkdir()
    folder.mkdir()
    source.write_text(
        '#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "Z"\n)\ndef Xform "A" (\n    prepend variantSets = "speed"\n'
        f'    variants = {{\n        string speed = "slow"\n    }}\n)\n{{\nvariantSet "speed" = {{\n{choices}\n}}\n}}\n'
    )
    import_usd(source, variants=("/A{speed=fast}",))
    blend = folder / "lift.blend"
    if saves == "Blender":
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    else:
        blend_file.save_blend(str(blend))
        assert Path(bpy.path.abspath(bpy.data.cache_files[0].filepath)).is_relative_to(bpy.app.tempdir), (
            "a copy is saved"
        )
    for temporary in Path(bpy.app.tempdir).glob("usdphys_*"):
        shutil.rmtree(temporary)
    folder.rename(tmp_path / "moved")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "moved" / "lift.blend"))
    for frame, x in ((1, 0.0), (20, 9.0)):
        bpy.context.scene.frame_set(frame)
        assert bpy.data.objects["Box"].matrix_world.translation.x == pytest.approx(x)
    assert len(list((tmp_path / "moved").glob("*.usda"))) == 1


def test_the_selected_variant_is_imported(tmp_path):
    import_usd(written(tmp_path / "car.usda", CAR))
    assert "A" in bpy.data.objects and "B" not in bpy.data.objects


def test_a_variant_can_be_chosen_and_one_inside_it(tmp_path):
    file = written(tmp_path / "car.usda", CAR)
    import_usd(file, variants=("/World{wheels=many}", "/World{tyre=thick}"))
    collider = bpy.data.objects["B"].usdphys.colliders[0]
    assert collider.radius == 3.0
    export_usd(tmp_path / "out.usda")
    assert open_stage(tmp_path / "out.usda").GetPrimAtPath("/World/B").GetAttribute("radius").Get() == 3.0
    assert file.read_text() == CAR


@pytest.mark.parametrize(("variants", "is_shared"), [((), True), (("/World{wheels=many}",), False)])
def test_the_stage_is_composed_once_unless_blender_reads_another_layer(tmp_path, monkeypatch, variants, is_shared):
    opened, given = [], []
    original = usd_read.open_stage
    monkeypatch.setattr(usd_read, "open_stage", lambda path: opened.append(original(path)) or opened[-1])

    class TestHook(bpy.types.USDHook):
        bl_idname = "USDPHYS_TestHook"
        bl_label = "Test"

        @staticmethod
        def on_import(import_context):
            given.append(import_context.get_stage())
            return True

    bpy.utils.register_class(TestHook)
    try:
        import_usd(written(tmp_path / "car.usda", CAR), variants=variants)
    finally:
        bpy.utils.unregister_class(TestHook)
    assert len(opened) == len(given) == 1
    assert (given == opened) == is_shared
    assert ("B" in bpy.data.objects) != is_shared


def test_a_layer_over_a_chosen_variant_chooses_it(tmp_path):
    import_usd(written(tmp_path / "car.usda", CAR), variants=("/World{wheels=many}",))
    bpy.data.objects["B"].usdphys.mass.is_applied = True
    bpy.data.objects["B"].usdphys.mass.mass = 7.0
    source_export.export_edits(bpy.context, tmp_path / "layer.usda", "layer")
    stage = open_stage(tmp_path / "layer.usda")
    assert stage.GetPrimAtPath("/World/B").GetAttribute("physics:mass").Get() == 7.0
    source_export.export_edits(bpy.context, tmp_path / "copy.usda", "copy")
    stage = open_stage(tmp_path / "copy.usda")
    assert stage.GetPrimAtPath("/World/B").GetAttribute("physics:mass").Get() == 7.0


@pytest.mark.parametrize(
    ("choice", "named"),
    [("/World{wheels=none}", "few, many"), ("/World{colour=red}", "wheels"), ("/Nowhere{a=b}", "/Nowhere"),
     ("World", "/Prim{set=choice}")],
)  # fmt: skip
def test_a_choice_that_is_not_there_is_said(tmp_path, choice, named):
    file = written(tmp_path / "car.usda", CAR)
    with pytest.raises(InputError, match=named.replace("{", r"\{")):
        import_usd(file, variants=(choice,))
    assert not bpy.data.objects


def test_operator_takes_variants(tmp_path):
    file = written(tmp_path / "car.usda", CAR)
    assert bpy.ops.usdphys.import_usd(filepath=str(file), variants="/World{wheels=many}") == {"FINISHED"}
    assert "B" in bpy.data.objects
    assert bpy.context.scene.usdphys.source.variants == "/World{wheels=many}"


def test_command_line_takes_variants(tmp_path, capfd):
    file = written(tmp_path / "car.usda", CAR)
    out = tmp_path / "out.usda"
    assert cli.main(["convert", str(file), str(out), "--variant", "/World{wheels=many}"]) == 0
    assert open_stage(out).GetPrimAtPath("/World/B")
    assert cli.main(["convert", str(file), str(out), "--variant", "/World{wheels=nine}"]) == 1
    assert "few, many" in capfd.readouterr().err


# --------------------------------------------------------------------------- composition


def test_what_is_missing_is_named_and_the_rest_is_there(tmp_path):
    file = written(
        tmp_path / "broken.usda",
        HEAD.replace(")", "    subLayers = [@./sub.usda@]\n)")
        + f"""
def Xform "World"
{{
    def Xform "Engine" (
        prepend references = @./engine.usda@
    )
    {{
    }}
    def Xform "Load" (
        payload = @./load.usda@
    )
    {{
    }}
    def Cube "Box" ( {BODY} )
    {{
    }}
    def Material "Paint"
    {{
        def Shader "Texture"
        {{
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @./paint.png@
        }}
    }}
}}
""",
    )
    result = import_usd(file)
    messages = [issue.message for issue in result.issues if issue.code == "AssetMissing"]
    for name in ("sub.usda", "engine.usda", "load.usda", "paint.png"):
        assert sum(name in message for message in messages) == 1, messages
    assert bpy.data.objects["Box"].usdphys.rigid_body.is_applied


def test_point_instancer_goes_out_as_it_came_in(tmp_path):
    (tmp_path / "clonk.wav").write_bytes(b"RIFF")
    result = import_usd(written(tmp_path / "rocks.usda", ROCKS))
    assert [issue.path for issue in result.issues if issue.code == "PointInstancerKept"] == ["/World/Rocks"]
    bpy.data.objects["Rocks"].location.z = 9.0
    (tmp_path / "sub").mkdir()
    export_usd(tmp_path / "sub" / "out.usda")
    stage = open_stage(tmp_path / "sub" / "out.usda")
    rocks = stage.GetPrimAtPath("/World/Rocks")
    assert rocks.GetTypeName() == "PointInstancer"
    assert list(rocks.GetAttribute("protoIndices").Get()) == [0, 1, 0]
    assert [child.GetName() for child in rocks.GetChildren()] == ["Prototypes"]
    cube = stage.GetPrimAtPath("/World/Rocks/Prototypes/Cube")
    assert cube.GetAttribute("physics:mass").Get() == 3.0
    assert cube.GetAttribute("vendor:sound").Get().path == "../clonk.wav"
    from pxr import UsdGeom

    assert UsdGeom.Xformable(rocks).GetLocalTransformation().ExtractTranslation()[2] == 9.0


def test_instances_become_objects_of_their_own_and_that_is_said(tmp_path):
    file = written(tmp_path / "twins.usda", TWINS)
    result = import_usd(file)
    said = [issue for issue in result.issues if issue.code == "InstancesSeparate"]
    assert len(said) == 1 and "2 instances" in said[0].message
    bodies = [obj for obj in bpy.data.objects if obj.usdphys.rigid_body.is_applied]
    assert len(bodies) == 2


def test_layer_opens_only_the_instance_that_was_edited(tmp_path):
    import_usd(written(tmp_path / "twins.usda", TWINS))
    body = next(obj for obj in bpy.data.objects if obj.usdphys.prim.path == "/World/Two/Body")
    body.usdphys.mass.is_applied = True
    body.usdphys.mass.mass = 4.0
    result = source_export.export_edits(bpy.context, tmp_path / "layer.usda", "layer")
    assert [issue.path for issue in result.issues if issue.code == "InstanceMadeUnique"] == ["/World/Two"]
    stage = open_stage(tmp_path / "layer.usda")
    assert stage.GetPrimAtPath("/World/One").IsInstance()
    assert stage.GetPrimAtPath("/World/Two/Body").GetAttribute("physics:mass").Get() == 4.0


# --------------------------------------------------------------------------- order in the scene


def test_joints_and_guides_have_collections_and_joints_a_fitting_size(tmp_path):
    import_usd(written(tmp_path / "door.usda", DOOR))
    joint, shell, door = (bpy.data.objects[name] for name in ("Hinge", "Shell", "Door"))
    assert [item.name for item in joint.users_collection] == [physics_collections.JOINTS]
    assert [item.name for item in shell.users_collection] == [physics_collections.COLLIDERS]
    assert [item.name for item in door.users_collection] == ["Scene Collection"]
    # The span of what moves: ground and walls may be far larger.
    assert joint.empty_display_size == pytest.approx(0.03 * 300.0**0.5, rel=1e-3)


@pytest.mark.parametrize(("seen", "drawn"), [("", "WIRE"), ('def Cube "Seen" {}', "BOUNDS")])
def test_wires_of_a_collider_do_not_hide_what_is_seen_of_its_body(tmp_path, seen, drawn):
    count = 501
    points = ", ".join(f"(0, 0, {number})" for number in range(count + 2))
    counts, corners = ", ".join(["3"] * count), ", ".join(f"0, {one + 1}, {one + 2}" for one in range(count))
    import_usd(written(tmp_path / "body.usda", f"""{HEAD}
def Xform "Body" ( {BODY} )
{{
    {seen}
    def Mesh "Many" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {{
        uniform token purpose = "guide"
        point3f[] points = [{points}]
        int[] faceVertexCounts = [{counts}]
        int[] faceVertexIndices = [{corners}]
    }}
}}
"""))  # fmt: skip
    assert bpy.data.objects["Many"].display_type == drawn


def test_empties_of_a_small_robot_are_drawn_small_on_a_large_floor(tmp_path):
    robot = "".join(
        f'def Xform "Link{number}" ( {BODY} )\n{{\n    double3 xformOp:translate = ({number}, 0, 0)\n'
        '    uniform token[] xformOpOrder = ["xformOp:translate"]\n    def Xform "Mark" {}\n}\n'
        for number in range(4)
    )
    floor = 'def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"])\n{\n    double size = 1000\n}\n'
    import_usd(
        written(tmp_path / "robot.usda", f"{HEAD}{robot}{floor}".replace("metersPerUnit = 1", "metersPerUnit = 0.1"))
    )
    for name in ("Link0", "Link3", "Mark"):
        empty = bpy.data.objects[name]
        size = empty.empty_display_size * abs(empty.matrix_world.to_scale()[0])
        assert empty.type == "EMPTY" and size == pytest.approx(0.03 * 0.3, rel=1e-3)


def test_a_scene_without_joints_is_evaluated_once(tmp_path):
    """By Blender, at the end of its own import: thousands of objects take long."""
    robot = "".join(f'def Xform "Link{number}" ( {BODY} )\n{{\n    def Cube "Shown" {{}}\n}}\n' for number in range(20))
    seen = []

    def count(_scene, graph):
        seen.append(sum(isinstance(update.id, bpy.types.Object) for update in graph.updates))

    bpy.app.handlers.depsgraph_update_post.append(count)
    try:
        import_usd(written(tmp_path / "links.usda", f"{HEAD}{robot}"))
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(count)
    assert sum(number >= 40 for number in seen) == 1, seen


def test_an_import_into_a_crowd_of_collections_visits_them_once_and_not_for_each_joint(tmp_path, monkeypatch):
    """Hours for thousands of joints in a scene of thousands of collections."""
    visits = []
    slow, below = bpy.types.Object.users_collection.fget, physics_collections.below
    monkeypatch.setattr(
        bpy.types.Object, "users_collection", property(lambda obj: visits.append(obj.name) or slow(obj))
    )
    monkeypatch.setattr(physics_collections, "below", lambda *asked: visits.append(asked[1]) or below(*asked))
    joints = "".join(
        f'def PhysicsFixedJoint "Joint{number}"\n{{\n    rel physics:body0 = </World/Door>\n}}\n'
        for number in range(20)
    )
    import_usd(written(tmp_path / "doors.usda", DOOR + joints))
    moved = [obj for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    homes = bpy.data.collections[physics_collections.JOINTS].objects
    assert len(moved) == 21 and set(moved) == set(homes)
    assert len(visits) <= 2


def test_joint_size_is_that_of_the_world_below_a_scale(tmp_path):
    text = DOOR.replace("metersPerUnit = 1", "metersPerUnit = 0.01")
    import_usd(written(tmp_path / "door.usda", text))
    joint = bpy.data.objects["Hinge"]
    size = joint.empty_display_size * abs(joint.matrix_world.to_scale()[0])
    assert size == pytest.approx(0.03 * 0.03**0.5, rel=1e-3)


# --------------------------------------------------------------------------- progress


def fingerprint():
    kinds = ("objects", "meshes", "materials", "collections", "images", "actions", "node_groups")
    names = {kind: sorted(getattr(bpy.data, kind).keys()) for kind in kinds}
    physics = bpy.context.scene.usdphys
    return names, len(physics.physics_scenes), len(physics.collision_groups), physics.source.filepath


@pytest.mark.parametrize("text", [DOOR, ROCKS], ids=["door", "rocks"])
def test_cancelled_at_any_step_the_scene_is_as_it_was(tmp_path, text):
    file = written(tmp_path / "file.usda", text)
    bpy.data.objects.new("Mine", None)
    before = fingerprint()
    total = len(list(usd_import.import_steps(bpy.context, file, usd_import.ImportOptions())))
    assert total == 4
    for number in range(1, total + 1):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.data.objects.new("Mine", None)
        steps = usd_import.import_steps(bpy.context, file, usd_import.ImportOptions())
        done = [next(steps) for _ in range(number)]
        assert done == sorted(done)
        steps.close()
        assert fingerprint() == before


class Window(SteppedImport):
    """Stands for an operator, its context and its events in a window."""

    def __init__(self, file):
        self.reports = []
        self.options = types.SimpleNamespace(is_invoke=True, is_repeat=False)
        self.text, self.cursor, self.timers = "before", None, 0
        self.window_manager = self.workspace = self.window = self
        steps = usd_import.import_steps(bpy.context, file, usd_import.ImportOptions())
        assert self.run(self, steps) == {"RUNNING_MODAL"} and self.timers == 1

    def is_in_window(self, context):
        return True

    def status_text_set(self, text):
        self.text = text

    def cursor_modal_set(self, name):
        self.cursor = name

    def cursor_modal_restore(self):
        self.cursor = None

    def event_timer_add(self, seconds, window):
        self.timers += 1

    def event_timer_remove(self, timer):
        self.timers -= 1

    def modal_handler_add(self, operator):
        pass

    def report(self, kind, text):
        self.reports.append((kind, text))

    def event(self, kind):
        return self.modal(self, types.SimpleNamespace(type=kind))

    def has_ended(self):
        return (self.text, self.cursor, self.timers) == (None, None, 0)


def test_modal_import_runs_step_by_step_and_tells(tmp_path):
    window = Window(written(tmp_path / "door.usda", DOOR))
    assert window.event("MOUSEMOVE") == {"RUNNING_MODAL"} and window.text == "before"
    texts = []
    while window.event("TIMER") == {"RUNNING_MODAL"}:
        texts.append(window.text)
        assert window.cursor == "WAIT"
    assert window.has_ended() and len(texts) > 3 and all("Esc" in text for text in texts)
    assert "(5%)" in texts[1]
    assert bpy.data.objects["Door"].usdphys.rigid_body.is_applied
    assert "1 body" in window.reports[-1][1]


def test_escape_cancels_a_modal_import(tmp_path):
    before = fingerprint()
    window = Window(written(tmp_path / "door.usda", DOOR))
    for _ in range(4):
        window.event("TIMER")
    assert bpy.data.objects
    assert window.event("ESC") == {"CANCELLED"}
    assert fingerprint() == before and window.has_ended()


def test_modal_import_reports_a_broken_file(tmp_path):
    window = Window(written(tmp_path / "bad.usda", "#usda 1.0\ndef {"))
    assert window.event("TIMER") == {"RUNNING_MODAL"}
    assert window.event("TIMER") == {"CANCELLED"}
    assert window.reports[0][0] == {"ERROR"} and window.has_ended()


def test_progress_is_told_after_a_second(clock, capfd):
    tell = usd_import.LateProgress()
    clock.advance(0.9)
    tell(Next(0.1, "Quick"))
    clock.advance(0.2)
    tell(Next(0.6, "Slow"))
    assert capfd.readouterr().err == "usdphys: 60% Slow\n"


# --------------------------------------------------------------------------- a look before


def test_overview_counts_units_variants_and_problems(tmp_path):
    from usdphys_ext.usdphys_addon.usd import overview

    file = written(tmp_path / "car.usda", CAR)
    found = overview.overview(file)
    assert not found.error
    assert found.counts["bodies"] == 2 and found.units.meters_per_unit == 1.0
    assert [(one.name, one.choices, one.selection) for one in found.variant_sets] == [
        ("wheels", ("few", "many"), "few")
    ]
    many = overview.overview(file, ("/World{wheels=many}",))
    assert many.counts["bodies"] == 3 and len(many.variant_sets) == 2
    written(file, CAR.replace("PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI"))
    assert overview.overview(file).counts["bodies"] == 0


def test_overview_of_what_cannot_be_read(tmp_path):
    from usdphys_ext.usdphys_addon.usd import overview

    assert "no file" in overview.overview(tmp_path / "none.usda").error
    assert "bad.usda" in overview.overview(written(tmp_path / "bad.usda", "#usda 1.0\ndef {")).error
    deep = "".join(f'def Xform "P{level}" {{\n' for level in range(300)) + "}\n" * 300
    assert "200 levels" in overview.overview(written(tmp_path / "deep.usda", f"#usda 1.0\n{deep}")).refusal


# --------------------------------------------------------------------------- physics only


def test_physics_only_goes_to_the_objects_that_are_there(tmp_path, capfd):
    file = written(tmp_path / "door.usda", DOOR)
    door = bpy.data.objects.new("Door", bpy.data.meshes.new("Door"))
    bpy.context.scene.collection.objects.link(door)
    assert bpy.ops.usdphys.import_usd(filepath=str(file), attach=True) == {"FINISHED"}
    assert door.usdphys.rigid_body.is_applied and len(door.usdphys.colliders) == 1
    assert door.usdphys.colliders[0].shape == "CUBE"
    assert bpy.data.objects["Hinge"].usdphys.joint.body0 == door
    assert "Shell" not in bpy.data.objects
    assert not bpy.context.scene.usdphys.source.filepath


def test_command_line_puts_physics_onto_a_scene(tmp_path, capfd):
    file = written(tmp_path / "door.usda", DOOR)
    bpy.ops.mesh.primitive_cube_add(size=10.0)
    bpy.context.object.name = "Door"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    out = tmp_path / "out.usda"
    assert cli.main(["convert", str(file), str(out), "--onto", str(tmp_path / "scene.blend")]) == 0
    assert "AttachMissing" in capfd.readouterr().err
    stage = open_stage(out)
    assert "PhysicsRigidBodyAPI" in stage.GetPrimAtPath("/root/Door").GetAppliedSchemas()
    assert cli.main(["convert", str(tmp_path / "scene.blend"), str(out), "--onto", str(tmp_path / "scene.blend")]) == 2
