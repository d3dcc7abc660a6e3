# SPDX-License-Identifier: GPL-3.0-or-later
"""Ropes, cables, chains, bridges and nets: lengths, masses and shapes as statics says."""

import math

import bpy
import mathutils
import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.core.building import rope_shapes
from usdphys_ext.usdphys_addon.generators import ropes, shapes

from . import scenes

pytestmark = pytest.mark.slow


def select(*objects):
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0] if objects else None
    bpy.context.view_layer.update()


def posts(distance=4.0, height=3.0, rise=0.0):
    found = [scenes.add("Post", location=(x, 0, z)) for x, z in ((0, height), (distance, height + rise))]
    select(*found)
    return found


def level_line():
    """A curve of 1.5 m along X, at a height of 3 m."""
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(1)
    for point, x in zip(spline.points, (0.0, 1.5), strict=True):
        point.co = (x, 0.0, 3.0, 1.0)
    line = scenes.add("Path", data)
    bpy.context.view_layer.update()
    return line


def bodies():
    return sorted((obj for obj in bpy.data.objects if obj.usdphys.rigid_body.is_applied), key=lambda obj: obj.name)


def ends(obj, length):
    world = np.array(obj.matrix_world)
    return world[:3, 3] - world[:3, 0] * length / 2, world[:3, 3] + world[:3, 0] * length / 2


def widest_gap(row, lengths):
    pairs = zip(row, row[1:], lengths, lengths[1:], strict=False)
    return max(np.linalg.norm(ends(a, one)[1] - ends(b, other)[0]) for a, b, one, other in pairs)


@pytest.mark.parametrize(("rise", "length"), [(0.0, 4.4), (0.0, 12.0), (1.5, 5.0), (-2.0, 4.6)])
def test_a_catenary_has_its_length_and_the_slope_that_its_weight_asks_for(rise, length):
    """Horizontal pull is the same everywhere, and the vertical one grows by the weight: the slope is linear in s."""
    points = rope_shapes.catenary((0, 0, 3), (4, 0, 3 + rise), length, 400)
    assert points[0] == pytest.approx((0, 0, 3)) and points[-1] == pytest.approx((4, 0, 3 + rise), abs=1e-6)
    steps = np.diff(points, axis=0)
    assert np.linalg.norm(steps, axis=1) == pytest.approx(length / 400, rel=1e-3)
    slope = steps[:, 2] / steps[:, 0]
    assert np.diff(slope) == pytest.approx((slope[-1] - slope[0]) / 399, rel=1e-3)


def test_a_rope_of_two_ends_above_each_other_hangs_down_and_up():
    points = rope_shapes.catenary((1, 2, 3), (1, 2, 4), 5.0, 10)
    assert points[-1] == pytest.approx((1, 2, 4)) and points[:, 2].min() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["ROPE", "CHAIN"])
@pytest.mark.parametrize("articulation", [False, True])
def test_a_rope_between_two_objects_sags_like_a_catenary(kind, articulation):
    posts()
    bpy.ops.usdphys.rope(kind=kind, slack=0.2, radius=0.03, articulation=articulation, mass=2.0)
    row = [bpy.data.objects[f"{kind.title()} {n}"] for n in range(1, 21)]
    assert sum(obj.usdphys.mass.mass for obj in row) == pytest.approx(2.0 * 4.8, rel=1e-2)
    scenes.play(3.0)
    # sqrt(L² - h²) = 2 a sinh(d / 2 a), sag = a (cosh(d / 2 a) - 1).
    low, high = 0.1, 100.0
    for _ in range(100):
        a = (low + high) / 2
        low, high = (a, high) if 2 * a * math.sinh(2 / a) > 4.8 else (low, a)
    sag = a * (math.cosh(2 / a) - 1)
    assert 3.0 - min(obj.matrix_world.translation.z for obj in row) == pytest.approx(sag, rel=0.02)
    assert widest_gap(row, [4.8 / 20] * 20) < 0.005


@pytest.mark.parametrize(("ends", "idle"), [(None, {"ends"}), (0, {"slack"}), (1, {"slack"}), (2, {"slack", "ends"})])
def test_an_option_that_does_not_matter_for_the_selection_is_not_offered(ends, idle):
    """ends: objects at the ends of a curve; None for two objects without one. What matters changes the bodies."""
    places = [(0, 0, 3), (4, 0, 3)]
    shapes = {}
    for name, value in ((None, None), ("slack", 0.6), ("ends", "NONE"), ("ends", "BOTH")):
        bpy.data.batch_remove(bpy.data.objects)
        held = [
            scenes.add(f"Post {n}", location=place) for n, place in enumerate(places[: 2 if ends is None else ends])
        ]
        if ends is not None:
            data = bpy.data.curves.new("Path", "CURVE")
            data.dimensions = "3D"
            data.splines.new("POLY").points.add(1)
            for point, place in zip(data.splines[0].points, places, strict=True):
                point.co = (*place, 1)
            held.append(scenes.add("Path", data))
        select(*held)
        options = ropes.RopeOptions(segments=6, **({} if name is None else {name: value}))
        assert ropes.make_row(bpy.context, options).idle == idle
        shapes[name, value] = sorted(
            (obj.name, *(round(part, 3) for part in obj.matrix_world.translation))
            for obj in bpy.data.objects if obj not in held
        )  # fmt: skip
    assert {name for (name, _), made in shapes.items() if made != shapes[None, None]} == {"slack", "ends"} - idle


def test_a_rope_along_a_curve_in_centimetres_has_its_length_and_hangs_from_its_start():
    bpy.context.scene.unit_settings.scale_length = 0.01
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions, data.bevel_depth = "3D", 5.0
    spline = data.splines.new("POLY")
    spline.points.add(2)
    for point, place in zip(spline.points, ((0, 0, 0), (100, 0, 0), (100, 50, 0)), strict=True):
        point.co = (*place, 1)
    curve = scenes.add("Path", data, location=(0, 0, 300), scale=(2, 2, 2))
    select(curve)
    bpy.ops.usdphys.rope(segments=15, radius=2.0, mass=0.5, damping=0.5)
    row = bodies()
    assert len(row) == 15 and sum(obj.usdphys.mass.mass for obj in row) == pytest.approx(0.5 * 3.0, rel=0.02)
    assert bpy.data.objects["Rope 1"].matrix_world.translation.z == pytest.approx(300)
    scenes.play(6.0)
    # All of the rope is below its start, and its free end farthest.
    heights = [bpy.data.objects[f"Rope {n}"].matrix_world.translation.z for n in range(1, 16)]
    assert heights[-1] < 300 - 200 and max(heights) < 301


@pytest.mark.parametrize("kind", ["ROPE", "BRIDGE"])
def test_a_copy_of_an_articulated_row_that_is_moved_hangs_as_the_row_does(kind):
    """Its far end was joined to the world where the row itself hangs, so that both were torn apart."""
    select(*posts())
    bpy.ops.usdphys.rope(kind=kind, segments=10, radius=0.03, damping=0.5, articulation=True)
    first = bodies()
    select(*bpy.data.objects)
    bpy.ops.object.duplicate()
    for obj in bpy.context.selected_objects:
        if obj.parent is None:
            obj.matrix_world.translation.y += 5.0
    bpy.context.view_layer.update()
    second = [obj for obj in bodies() if obj not in first]
    assert len(second) == len(first)
    before = [obj.matrix_world.translation.copy() for obj in (*first, *second)]
    scenes.play(0.5)
    assert (
        max((obj.matrix_world.translation - place).length for obj, place in zip((*first, *second), before, strict=True))
        < 0.05
    )


@pytest.mark.parametrize("ends", ["START", "BOTH"])
def test_an_articulated_row_is_fixed_as_newton_and_physx_want_it(ends):
    """The root is fixed to the world by a fixed joint; what holds the other end closes a loop by a ball joint.

    Newton and PhysX then hold a rope of 10 segments by its start: it hangs. A generic joint outside of the
    articulation, as it was, Newton leaves out, and the rope falls.
    """
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(1)
    spline.points[0].co, spline.points[1].co = (0, 0, 3, 1), (2, 0, 3, 1)
    select(scenes.add("Path", data))
    bpy.ops.usdphys.rope(segments=10, radius=0.03, damping=0.5, articulation=True, ends=ends)
    (root,) = [obj for obj in bpy.data.objects if obj.usdphys.articulation_root.is_applied]
    assert root.usdphys.joint.type == "FIXED" and root.usdphys.joint.body1.matrix_world.is_identity
    excluded = {}
    for obj in bpy.data.objects:
        joint = obj.usdphys.joint
        if joint.is_applied and (joint.type == "FIXED" or joint.exclude_from_articulation):
            excluded[joint.type] = (joint.body0, joint.body1.name)
    assert excluded.pop("FIXED") == (None, root.usdphys.joint.body1.name)
    assert excluded == ({"SPHERICAL": (root.usdphys.joint.body1, "Rope 10")} if ends == "BOTH" else {})
    scenes.play(6.0)
    lowest = min(bpy.data.objects[f"Rope {n}"].matrix_world.translation.z for n in range(1, 11))
    assert lowest == pytest.approx(1.1, abs=0.05) if ends == "START" else lowest > 2.5


@pytest.mark.parametrize("active", ["Wall", "Load"])
def test_a_load_is_the_last_link_of_the_articulated_rope_that_holds_it(active, capfd):
    """PhysX and Newton lost a rope whose joint with a moving body closed a loop, although there is none."""
    wall, load = scenes.add_box("Wall", (0.2, 0.2, 0.2), location=(0, 0, 3)), scenes.solid("Load", (0.1, 0.1, 0.1))
    load.location.z = 1.0
    select(wall, load)
    bpy.context.view_layer.objects.active = bpy.data.objects[active]
    bpy.ops.usdphys.rope(segments=8, radius=0.03, articulation=True)
    found = [obj.usdphys.joint for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    assert not any(joint.exclude_from_articulation for joint in found)
    assert [joint.body0.name for joint in found if joint.body1 == load] == ["Rope 8"]
    (root,) = [obj for obj in bpy.data.objects if obj.usdphys.articulation_root.is_applied]
    assert root.usdphys.joint.type == "FIXED" and root.usdphys.joint.body1.name == "Rope Anchor"
    assert "Warning" not in capfd.readouterr().out


def test_a_part_of_a_load_holds_the_articulated_rope_as_the_load_does():
    """The end was tied to the world."""
    wall, load = scenes.add_box("Wall", (0.2, 0.2, 0.2), location=(0, 0, 3)), scenes.solid("Load", (0.1, 0.1, 0.1))
    select(wall, scenes.add_box("Hook", (0.05, 0.05, 0.05), parent=load, location=(0, 0, 0.2)))
    bpy.ops.usdphys.rope(segments=8, radius=0.03, articulation=True)
    found = [obj.usdphys.joint for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    assert [joint.body0.name for joint in found if joint.body1 == load] == ["Rope 8"]


def joint_above(obj):
    (found,) = [
        other for other in bpy.data.objects if other.usdphys.joint.is_applied and other.usdphys.joint.body1 == obj
    ]
    return found


def test_the_joints_of_an_articulated_rope_resist_by_what_hangs_on_them():
    """PhysX takes joints as coordinates; a pull T on a segment of length l is a spring T l that comes one step late.

    With less damping, a load of 20 kg that swings on a rope of 1.9 kg had no numbers for poses after 40 steps.
    """
    wall, load = scenes.add_box("Wall", (0.2, 0.2, 0.2), location=(0, 0, 3)), scenes.solid("Load", (0.1, 0.1, 0.1))
    load.usdphys.mass.is_applied, load.usdphys.mass.mass = True, 20.0
    select(wall, load)
    bpy.ops.usdphys.rope(segments=8, radius=0.03, articulation=True, damping=0.0, slack=0.0)
    part = (bpy.data.objects["Rope 2"].location - bpy.data.objects["Rope 1"].location).length
    for number in range(2, 9):
        joint = joint_above(bpy.data.objects[f"Rope {number}"])
        pull = 9.81 * (20.0 + sum(bpy.data.objects[f"Rope {row}"].usdphys.mass.mass for row in range(number, 9)))
        got = math.degrees(joint.usdphys.joint.drives.rotY.damping)
        assert got == pytest.approx(2.0 / 60.0 * pull * part, rel=1e-3)
        speeds = {row.name: float(row.text) for row in joint.usdphys.vendor if row.name.endswith("maxJointVelocity")}
        assert speeds == {
            f"physxJointAxis:{dof}:maxJointVelocity": pytest.approx(math.radians(400.0))
            for dof in ("rotX", "rotY", "rotZ")
        }


@pytest.mark.parametrize(("mass", "said"), [(1e-3, "far too light"), (0.5, "needs 180 time steps"), (20.0, "")])
def test_planks_that_are_too_light_for_the_load_are_named(mass, said, capfd):
    select(*(scenes.add_box("Bank", (0.5, 1, 1), location=(x, 0, 0)) for x in (-3, 3)))
    bpy.ops.usdphys.rope(kind="BRIDGE", slack=0.05, segments=14, mass=mass, radius=0.03, articulation=True)
    out = capfd.readouterr().out
    assert said in out and ("light for their load" in out) is bool(said)
    hinge = joint_above(bpy.data.objects["Bridge 3"]).usdphys
    # The slope of a bridge that is a twentieth longer than its span, with its load in the middle: cos a = 1 / 1.05.
    pull = 9.81 * (100.0 + mass * 5.25) / (2.0 * math.sqrt(1.0 - 1.05**-2))
    assert math.degrees(hinge.joint.drives.angular.damping) == pytest.approx(pull * 5.25 / 14 / 30.0, rel=0.03)


def test_the_hinges_of_a_bridge_without_articulation_are_free_of_what_only_articulations_need():
    posts()
    bpy.ops.usdphys.rope(kind="BRIDGE", damping=0.0)
    hinge = joint_above(bpy.data.objects["Bridge 3"]).usdphys
    assert not hinge.joint.drives.angular.is_applied and "vendor" not in hinge.keys()


@pytest.mark.parametrize(("segments", "wanted"), [(10, 64), (40, 160)])
def test_long_rows_have_physx_iterate_more(segments, wanted):
    """Measured: 60 segments are 0.1 mm apart there so, and 5 mm without."""
    posts()
    bpy.ops.usdphys.rope(segments=segments)
    assert iterations() == [wanted] * segments


def test_an_articulated_row_has_physx_iterate_at_its_root():
    """Measured: a bridge under twice its own weight is 4 mm apart there so, and torn without."""
    posts()
    bpy.ops.usdphys.rope(segments=10, articulation=True)
    assert iterations() == []
    (root,) = (obj for obj in bpy.data.objects if obj.usdphys.articulation_root.is_applied)
    found = {row.name: row.text for row in root.usdphys.vendor}
    assert found["physxArticulation:solverPositionIterationCount"] == "255"


def test_nets_have_physx_iterate_more():
    """Measured: 5 by 9 knots are 0.8 mm apart there so, and 9 mm without."""
    bpy.ops.usdphys.net(knots=(5, 9))
    assert iterations() == [168] * 45


def iterations():
    rows = (row for obj in bodies() for row in obj.usdphys.vendor)
    return [int(row.text) for row in rows if row.name.endswith("solverPositionIterationCount")]


def test_a_rope_between_two_loads_is_one_tree():
    first, last = (scenes.solid(name, (0.1, 0.1, 0.1), location=(x, 0, 0)) for name, x in (("A", -1), ("B", 1)))
    select(first, last)
    bpy.ops.usdphys.rope(segments=8, radius=0.03, articulation=True)
    found = [obj.usdphys.joint for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    assert len(found) == 9 and not any(joint.exclude_from_articulation for joint in found)
    assert [obj.articulation_root.is_applied for obj in (first.usdphys, last.usdphys)].count(True) == 1


@pytest.mark.parametrize("why", ["kinematic", "joined"])
def test_a_moving_end_that_cannot_be_a_link_is_named(why, capfd):
    wall, load = scenes.add_box("Wall", (0.2, 0.2, 0.2), location=(0, 0, 3)), scenes.solid("Load", (0.1, 0.1, 0.1))
    if why == "kinematic":
        load.usdphys.rigid_body.kinematic_enabled = True
    else:
        scenes.add_joint("Hinge", "REVOLUTE", scenes.solid("Other", location=(2, 0, 0)), load)
    select(wall, load)
    bpy.ops.usdphys.rope(segments=8, radius=0.03, articulation=True)
    assert "'Load' moves, and is kinematic or joined" in capfd.readouterr().out
    assert [obj.usdphys.joint.exclude_from_articulation for obj in bpy.data.objects].count(True) == 1


@pytest.mark.parametrize("makes", [None, scenes.make_collider])
def test_an_object_without_physics_that_holds_an_end_is_said_to_be_static_now(makes, capfd):
    """A ball that was to hang on a crane stayed in the air, and nothing said why."""
    post, ball = scenes.add_box("Post", location=(0, 0, 3)), scenes.add_box("Ball", location=(2, 0, 2), half=(0.2,) * 3)
    scenes.make_collider(post)
    if makes is not None:
        makes(ball)
    select(ball, post)
    assert bpy.ops.usdphys.rope() == {"FINISHED"}
    out = capfd.readouterr().out
    assert ("Static now, unless you make it Dynamic: 'Ball'" in out) == (makes is None)
    assert len(ball.usdphys.colliders) == 1
    if makes is None:
        select(ball)
        assert bpy.ops.usdphys.make_dynamic() == {"FINISHED"}
        scenes.play(1.0)
        assert ball.matrix_world.translation.z < 1.99, "it hangs"


def joint_frames_of(stage):
    """(joint, frame of the first side, of the second side) in the world, of each joint."""
    cache = UsdGeom.XformCache()
    for prim in stage.Traverse():
        if not prim.IsA(UsdPhysics.Joint):
            continue
        joint, sides = UsdPhysics.Joint(prim), []
        for rel, place, turn in (
            (joint.GetBody0Rel(), joint.GetLocalPos0Attr(), joint.GetLocalRot0Attr()),
            (joint.GetBody1Rel(), joint.GetLocalPos1Attr(), joint.GetLocalRot1Attr()),
        ):
            local = Gf.Matrix4d().SetRotate(Gf.Quatd(turn.Get())) * Gf.Matrix4d().SetTranslate(Gf.Vec3d(place.Get()))
            bodies = [stage.GetPrimAtPath(path) for path in rel.GetTargets()]
            sides.append(np.array(local * cache.GetLocalToWorldTransform(bodies[0]) if bodies else local))
        yield joint, *sides


@pytest.mark.parametrize("kind", ["ROPE", "CABLE", "CHAIN", "BRIDGE"])
def test_the_joints_of_an_articulated_row_are_at_zero_in_its_pose_and_free_in_newton(kind, tmp_path):
    """PhysX starts an articulation with all joints at zero, whatever the poses of its bodies are.

    A rope whose zero was straight stretched over 4.8 m at once, 0.8 m past the ball joint at its end: no pose was a
    number after six steps. Newton locks a degree of freedom of a generic joint that has no limit.
    """
    walls = [scenes.add_box("Wall", (0.1, 0.5, 0.5), location=(x, 0, 3)) for x in (-2, 2)]
    select(*walls)
    bpy.ops.usdphys.rope(kind=kind, slack=0.2, radius=0.03, articulation=True, segments=10)
    bpy.context.view_layer.update()
    bpy.ops.usdphys.export_usd(filepath=str(tmp_path / "row.usda"))
    stage = Usd.Stage.Open(str(tmp_path / "row.usda"))
    found = list(joint_frames_of(stage))
    assert len(found) == 12
    for joint, one, other in found:
        if joint.GetExcludeFromArticulationAttr().Get():
            continue
        assert one == pytest.approx(other, abs=1e-4), joint.GetPath()
        if joint.GetPrim().GetTypeName() == "PhysicsJoint":
            for dof in ("rotX", "rotY", "rotZ"):
                limit = UsdPhysics.LimitAPI.Get(joint.GetPrim(), dof)
                assert limit.GetLowAttr().Get() <= 0.0 < limit.GetHighAttr().Get()
    # The walls are static: the joints are with the world, and only a filter lets the ends reach into them.
    for number in (1, 10):
        (pair,) = bpy.data.objects[f"{kind.title()} {number}"].usdphys.filtered_pairs.filtered_pairs
        assert pair.object in walls


def test_the_end_of_a_row_goes_through_the_colliders_below_an_empty_that_holds_it():
    """Imported files have their colliders below Xforms. Newton ignores a pair with one of these."""
    empties = [scenes.add("Wall", location=(x, 0, 3)) for x in (-2, 2)]
    walls = [scenes.add_box("Part", (0.1, 0.5, 0.5), parent=empty) for empty in empties]
    select(*walls)
    bpy.ops.usdphys.make_static()
    select(*empties)
    bpy.ops.usdphys.rope(articulation=True, segments=10)
    found = [bpy.data.objects[f"Rope {number}"].usdphys.filtered_pairs.filtered_pairs for number in (1, 10)]
    assert {pair.object for pairs in found for pair in pairs} == {*walls}


@pytest.mark.parametrize("turned", [False, True])
def test_a_rope_whose_end_is_inside_of_a_hook_hangs_on_it_and_falls_as_without(turned):
    """Joined to the world it was pushed out of the hook; the falling rope then moved in another way in each file."""

    def fallen(with_hook):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        if with_hook:
            hook = scenes.add_box("Hook", (0.05, 0.05, 0.05), location=(0, 0, 3), rotation_euler=(0, 0, 0.5 * turned))
            for obj in (hook, scenes.add_box("Wall", (0.1, 9, 9), location=(9, 0, 0))):
                scenes.make_collider(obj)
        select(level_line())
        bpy.ops.usdphys.rope(segments=10, mass=1.0, ends="START")
        if with_hook:
            (pair,) = bpy.data.objects["Rope 1"].usdphys.filtered_pairs.filtered_pairs
            assert pair.object == hook
        scenes.play(0.4)
        return np.array([obj.matrix_world.translation for obj in bodies()])

    assert np.allclose(fallen(True), fallen(False), atol=1e-4)


@pytest.mark.parametrize("ends", ["NONE", "BOTH"])
def test_an_end_that_is_not_fixed_is_held_by_nothing_and_a_moving_body_is_the_side_of_the_joint(ends):
    load = scenes.make_body(scenes.solid("Load", (0.2, 0.2, 0.2), location=(1.5, 0, 3)))
    select(level_line())
    bpy.ops.usdphys.rope(segments=10, ends=ends)
    sides = [{obj.usdphys.joint.body0, obj.usdphys.joint.body1} for obj in bpy.data.objects if obj.usdphys.joint.body1]
    assert sum(load in both for both in sides) == (ends == "BOTH")


def test_an_articulated_cable_springs_back_to_a_straight_line():
    """Its zero is the curve that it was made along: the targets of its springs are what is missing to a line."""
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    angles = np.linspace(0.0, math.pi / 2.0, 17)
    spline.points.add(16)
    for point, angle in zip(spline.points, angles, strict=True):
        point.co = (math.sin(angle), 1.0 - math.cos(angle), 3.0, 1.0)
    bpy.context.scene.gravity = (0.0, 0.0, 0.0)
    select(scenes.add("Path", data))
    bpy.ops.usdphys.rope(kind="CABLE", segments=8, radius=0.02, stiffness=50.0, damping=0.5, articulation=True)
    scenes.play(8.0)
    first, last = (np.array(bpy.data.objects[f"Cable {number}"].matrix_world)[:3, 0] for number in (1, 8))
    assert first @ last > 0.97


def test_a_stiff_cable_bends_less_than_a_limp_one():
    """A cable that sticks out of a wall, held by its first segment."""
    drops = []
    for stiffness in (0.5, 50.0):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        posts(2.0)
        bpy.ops.usdphys.rope(
            kind="CABLE", slack=0.0, stiffness=stiffness, segments=10, radius=0.03, mass=1.0, damping=0.7
        )
        for obj in list(bpy.data.objects):
            joint = obj.usdphys.joint
            if joint.is_applied and joint.body0 and joint.body0.name.startswith("Post"):
                if joint.body1.name == "Cable 10":
                    bpy.data.objects.remove(obj)
                else:
                    joint.type = "FIXED"
        scenes.play(6.0)
        drops.append(3.0 - bpy.data.objects["Cable 10"].matrix_world.translation.z)
    # A cantilever of 2 m, 1 kg/m, 50 N m²: q L^4 / 8 EI = 0.39 m.
    assert drops[0] > 1.5 and drops[1] == pytest.approx(9.81 * 1.9**4 / (8 * 50.0), rel=0.25)


def test_a_bridge_holds_a_hundred_kilograms():
    ground = [scenes.add_box("Bank", (0.5, 1, 1), location=(x, 0, 0)) for x in (-3, 3)]
    select(*ground)
    bpy.ops.usdphys.rope(kind="BRIDGE", slack=0.03, segments=14, mass=20.0, radius=0.03)
    planks = [bpy.data.objects[f"Bridge {n}"] for n in range(1, 15)]
    before = min(obj.matrix_world.translation.z for obj in planks)
    length = 5.0 * 1.03 / 14
    crate = scenes.solid("Crate", (0.3, 0.3, 0.3), location=(0, 0, before + 0.45))
    crate.usdphys.mass.is_applied, crate.usdphys.mass.mass = True, 100.0
    assert all(len(obj.usdphys.colliders) == 1 and not obj.usdphys.rigid_body.is_applied for obj in ground)
    scenes.play(5.0)
    assert widest_gap(planks, [length] * 14) < 0.01
    lowest = min(obj.matrix_world.translation.z for obj in planks)
    assert crate.matrix_world.translation.z > lowest and lowest > before - 0.5


@pytest.mark.parametrize(("slack", "segments", "load"), [(0.03, 14, 100.0), (0.05, 10, 30.0)])
def test_a_bridge_rests_soon_after_what_falls_on_it(slack, segments, load):
    """By its own damping: with that of a rope of its length, planks move at 0.3 m/s after 8 s."""
    select(*[scenes.add_box("Bank", (0.5, 1, 1), location=(x, 0, 0)) for x in (-3, 3)])
    bpy.ops.usdphys.rope(kind="BRIDGE", slack=slack, segments=segments, mass=20.0, radius=0.03)
    lowest = min(obj.matrix_world.translation.z for obj in bodies())
    crate = scenes.solid("Crate", (0.3, 0.3, 0.3), location=(0, 0, lowest + 0.45))
    crate.usdphys.mass.is_applied, crate.usdphys.mass.mass = True, load
    session = scenes.play(7.0)
    assert float(np.abs(session.world.velocities()[0]).max()) < 0.05


@pytest.mark.parametrize(("held", "fixed"), [("CORNERS", 4), ("EDGES", 16), ("NONE", 0)])
def test_a_net_hangs_from_its_corners_or_edges_and_weighs_what_it_should(held, fixed):
    bpy.context.scene.cursor.location = (0, 0, 2)
    bpy.ops.usdphys.net(knots=(5, 5), size=(2, 2), held=held, mass=0.5)
    joints = [obj for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    assert len(joints) == 2 * 5 * 4 + fixed
    assert sum(obj.usdphys.mass.mass for obj in bodies()) == pytest.approx(2.0)
    scenes.play(2.0)
    middle = bpy.data.objects["Knot 3 3"].matrix_world.translation.z
    corner = bpy.data.objects["Knot 1 1"].matrix_world.translation.z
    if fixed:
        # Held by its edges it sags by 1 cm, about which it still swings.
        assert corner == pytest.approx(2.0, abs=0.01) and 1.0 < middle < 1.995
    else:
        assert middle < -5


def test_the_skin_follows_the_bodies():
    posts()
    bpy.ops.usdphys.rope(skin=True, slack=0.5, segments=8)
    skin = bpy.data.objects["Rope Skin"]
    bpy.data.objects["Rope 4"].location.z -= 10
    bpy.context.view_layer.update()
    mesh = skin.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    heights = np.array([vertex.co.z for vertex in mesh.vertices])
    assert heights.min() == pytest.approx(bpy.data.objects["Rope 4"].matrix_world.translation.z, abs=0.5)
    assert heights.max() == pytest.approx(3.0, abs=0.05)


def test_an_object_whose_place_is_no_number_is_named_for_that():
    """It was said to have scale 0."""
    (first, _) = posts()
    first.location.x = math.nan
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="The place of 'Post' is no number"):
        bpy.ops.usdphys.rope()


def test_what_holds_no_row_is_refused_with_nothing_changed():
    alone = scenes.add_box("Alone")
    select(alone)
    before = set(bpy.data.objects)
    with pytest.raises(RuntimeError, match="Select a curve"):
        bpy.ops.usdphys.rope()
    assert set(bpy.data.objects) == before and not bpy.data.collections


def test_linked_objects_are_named_and_get_no_physics_that_would_be_lost(tmp_path):
    """A rope gave them colliders that no file keeps and no undo takes back; other generators asked to select them."""
    made = {scenes.add_box(name, location=(x, 0, 1)) for name, x in (("One", 0), ("Other", 3), ("Third", 6))}
    bpy.data.libraries.write(str(tmp_path / "library.blend"), made)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["One", "Other", "Third"]
    for obj in wanted.objects:
        bpy.context.scene.collection.objects.link(obj)
    select(*wanted.objects)
    calls = ({"kind": "ROPE"}, "vehicle", "break_apart", "settle", "mechanism")
    for call in calls:
        name, options = ("rope", call) if isinstance(call, dict) else (call, {})
        if name == "rope":
            wanted.objects[2].select_set(False)
        with pytest.raises(RuntimeError, match=r"Linked objects cannot be edited.*'One'"):
            getattr(bpy.ops.usdphys, name)(**options)
        wanted.objects[2].select_set(True)
    assert len(bpy.data.objects) == 3 and not any(len(obj.usdphys.colliders) for obj in bpy.data.objects)


def test_the_mesh_of_a_capsule_lies_on_the_capsule():
    mesh = shapes.capsule("Capsule", 0.3, 1.0)
    points = np.array([vertex.co[:] for vertex in mesh.vertices])
    off_axis = points - np.clip(points, (-0.5, 0, 0), (0.5, 0, 0))
    assert np.linalg.norm(off_axis, axis=1) == pytest.approx(0.3, abs=1e-6)
    assert (points[:, 0].min(), points[:, 0].max()) == pytest.approx((-0.8, 0.8), abs=1e-6)


def test_a_bridge_between_two_banks_is_level_with_their_tops_at_its_ends():
    """Banks of 1 m: the planks went from half of their height. A thin post has no top to walk on."""
    for half, wanted in (((1, 1, 0.5), 1.0 - 0.05), ((0.1, 0.1, 0.5), 0.5)):
        banks = [scenes.add_box(f"Bank {side}", half, location=(3 * side, 0, 0.5)) for side in (-1, 1)]
        scenes.select(*banks)
        bpy.ops.usdphys.rope(kind="BRIDGE", radius=0.05, segments=12)
        planks = sorted(bpy.context.selected_objects, key=lambda plank: plank.matrix_world.translation.x)
        assert len(planks) == 12
        for plank, side in ((planks[0], -1), (planks[-1], 1)):
            ends = [
                plank.matrix_world @ mathutils.Vector((x, 0, 0))
                for x in (-plank.dimensions.x / 2, plank.dimensions.x / 2)
            ]
            outer = max(ends, key=lambda end: side * end.x)
            assert outer.z == pytest.approx(wanted, abs=0.06)
