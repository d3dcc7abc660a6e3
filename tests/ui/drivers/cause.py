"""The cause why engines part, by a click on *Why* while it plays; *Prove* and *Share Report* by their buttons."""

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import kit


def lift():
    """A platform whose motor pushes harder than its largest speed allows: MuJoCo has no such speed that is firm."""
    edits = import_module(f"{kit.MODULE}.usdphys_addon.authoring.vendor_edits")
    kit.crate("Odd", (0.0, 1.2, 0.6), (0.3,) * 3)
    rail = bpy.data.objects.new("Rail", None)
    bpy.context.scene.collection.objects.link(rail)
    rail.location = (0.0, 1.2, 0.6)
    joint = rail.usdphys.joint
    joint.is_applied, joint.type, joint.axis, joint.body1 = True, "PRISMATIC", "Z", bpy.data.objects["Odd"]
    drive = joint.drives.linear
    drive.is_applied, drive.damping, drive.target_velocity = True, 40000.0, 2.0
    edits.add_attribute(rail.usdphys, "NewtonJointAPI", "newton:velocityLimit", bpy.context.scene)
    next(row for row in rail.usdphys.vendor if row.name == "newton:velocityLimit").number = 0.5
    bpy.context.view_layer.update()


def cause(operators):
    """Two engines part, and *Why* finds the velocity limit."""
    settings = bpy.context.window_manager.usdphys_overlay
    settings.compare = True
    yield 0.3
    yield from kit.play()
    session = kit.session()
    row = session.world.index(session.shown.body_at("Odd"))
    yield from kit.until(lambda: session.twins is not None and session.twins.splits_of(row), "it parts")
    with kit.in_view():
        bpy.ops.usdphys.preview_play("INVOKE_DEFAULT")
    assert not session.is_playing
    bpy.data.objects["Odd"].select_set(True)
    bpy.context.view_layer.objects.active = bpy.data.objects["Odd"]
    with kit.in_view():
        # As the button does.
        assert bpy.ops.usdphys.why("INVOKE_DEFAULT") == {"FINISHED"}
    assert operators.asked(session) == row
    state = bpy.context.window_manager.usdphys_cause
    assert state.is_running
    yield 0.4
    kit.shot("1-searching")
    yield from kit.until(lambda: not state.is_running, "the cause is found")
    told = operators.found(session)
    assert told[0].startswith("Odd parts") and "newton:velocityLimit of Rail" in told[0], told
    print("CAUSE:", " ".join(told))
    kit.scroll_sidebar_down()
    yield 0.4
    kit.shot("2-found")
    settings.compare = False
    yield from kit.until(lambda: session.twins is None, "nothing runs beside it any more")
    kit.reset()
    yield 0.3


def steps():
    yield from kit.install()
    operators = import_module(f"{kit.MODULE}.operators.beside")
    bpy.data.objects["Cube"].hide_set(True)
    kit.crate("Floor", (0, 0, -0.1), (9, 9, 0.1), moves=False)
    kit.crate("Plain", (-2.0, -1.0, 0.3), (0.3,) * 3)
    lift()
    yield from kit.show_sidebar(bpy.types.USDPHYS_PT_beside, bpy.types.USDPHYS_PT_prove)
    yield from cause(operators)
    proof = bpy.context.window_manager.usdphys_proof
    with kit.in_view():
        assert bpy.ops.usdphys.prove("INVOKE_DEFAULT", budget=40.0) == {"RUNNING_MODAL"}
    yield 1.0
    assert proof.is_running
    kit.shot("3-proving")
    yield from kit.until(lambda: not proof.is_running, "the proof ends")
    assert proof.verdict and proof.passed > 5
    print("PROVEN:", proof.verdict, proof.wrong, proof.notable)
    yield 0.4
    kit.shot("4-proven")
    page = Path(kit.SHARE, "shots", "page.html")
    with kit.in_view():
        begun = bpy.ops.usdphys.share_report("INVOKE_DEFAULT", filepath=str(page), budget=20.0, use_open=False)
    assert begun == {"RUNNING_MODAL"}
    yield from kit.until(page.is_file, "the page is written")
    yield from kit.until(lambda: not proof.is_running, "the report ends")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    print("SHARED", page.stat().st_size)
    with kit.in_view():
        assert bpy.ops.usdphys.prove("INVOKE_DEFAULT", budget=40.0) == {"RUNNING_MODAL"}
    yield 0.5
    middle = kit.region()
    if not kit.IN_TREE:
        yield from kit.key("ESC", middle.x + middle.width // 2, middle.y + middle.height // 2)
        yield from kit.until(lambda: not proof.is_running, "Esc stops it")
        print("STOPPED BY ESC")


kit.run(steps)
