# SPDX-License-Identifier: GPL-3.0-or-later
"""URDF: what is read, which link becomes a body, what limits and masses become, and what a stage holds of it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf, Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.urdf import inertia, layout, markup, mesh_data, mesh_files, meshes, packages, read
from usdphys_ext.usdphys_addon.urdf.assets import Assets
from usdphys_ext.usdphys_addon.usd import import_source, importable, robot_files, robot_geometry, robot_stage
from usdphys_ext.usdphys_addon.usd import read as usd_read

INERTIAL = """<inertial><origin xyz="0.1 0 0"/><mass value="2"/>
<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial>"""
BOX = '<collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision>'
LIMIT = '<limit lower="-1" upper="2" effort="10" velocity="3"/>'


def link(name: str, inside: str = INERTIAL + BOX) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = LIMIT) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def robot(*parts: str, folder: Path = Path()):
    return read.read(f'<robot name="r">{"".join(parts)}</robot>', folder / "r.urdf")


def planned(*parts: str, **options):
    return layout.plan(robot(*parts), layout.LayoutOptions(**options))


def staged(plan, folder: Path = Path()) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    robot_stage.write_robot(plan, Assets(packages.Packages(folder)), stage)
    return stage


def codes(issues) -> set[str]:
    return {issue.code for issue in issues}


# --------------------------------------------------------------------------- hostile robots


def test_thousands_of_links_below_each_other_are_refused_and_not_written_for_minutes():
    links = [link(f"l{number}", "") for number in range(1500)]
    joints = [joint(f"j{number}", f"l{number}", f"l{number + 1}", "fixed", "") for number in range(1499)]
    with pytest.raises(InputError, match=r"'r.urdf' has more than \d+ links below each other"):
        planned(*links, *joints)


# --------------------------------------------------------------------------- reading


def test_a_declaration_below_blank_lines_is_read_and_offsets_stay():
    text = '\n \n<?xml version="1.0"?>\n<robot name="a"><link name="b"/></robot>'
    root, kept = markup.parse(text.encode(), "a.urdf")
    link = root.children[0]
    assert kept == text and kept[link.start : link.end] == '<link name="b"/>' and link.line == 4


def test_offsets_lead_to_each_element_also_behind_letters_of_several_bytes():
    root, text = markup.parse('<?xml version="1.0"?>\n<r><!-- ä€😀 --><a n="ü>"/>é<b><c/></b></r>'.encode(), "r")
    shown = {element.tag: text[element.start : element.end] for element in root.walk()}
    assert shown == {"r": text[text.index("<r>") :], "a": '<a n="ü>"/>', "b": "<b><c/></b>", "c": "<c/>"}
    assert [element.line for element in root.walk()] == [2, 2, 2, 2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_names_are_read_in_every_encoding(encoding):
    declared = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{declared}"?><robot name="r"><link name="Gelenk_ä"/></robot>'
    assert list(read.read(text.encode(encoding), Path("r.urdf")).links) == ["Gelenk_ä"]


@pytest.mark.parametrize(
    "text",
    ["", "<robot", '<!DOCTYPE r [<!ENTITY a "b">]><robot name="r"><link name="a"/></robot>', "<sdf/>",
     '<robot name="r"/>', "<r>" * 300 + "</r>" * 300],
)  # fmt: skip
def test_what_is_no_robot_is_refused_in_one_sentence(text):
    with pytest.raises(InputError) as caught:
        read.read(text.encode(), Path("bad.urdf"))
    assert "bad.urdf" in str(caught.value) and "\n" not in str(caught.value)


def test_each_oddity_is_named_with_file_and_line_and_the_rest_is_read():
    found = robot(
        link("a"), link("a"), link("b"), link("c", '<visual><geometry><box size="1 x 1"/></geometry></visual>'),
        joint("j", "a", "b", inside=""), joint("k", "a", "nowhere"), joint("l", "b", "a"), joint("m", "c", "b"),
        joint("n", "a", "c", "wobbly"),
    )  # fmt: skip
    assert list(found.links) == ["a", "b", "c"]
    assert list(found.joints) == ["j"]
    assert codes(found.issues) == {
        "UrdfNameTwice", "UrdfNumber", "UrdfShapeFlat", "UrdfLimitMissing", "UrdfJointLeftOut", "UrdfSecondParent",
        "UrdfCycle", "UrdfSeveralRoots",
    }  # fmt: skip
    assert all(issue.message.startswith("r.urdf:") for issue in found.issues)


def test_joints_that_follow_each_other_in_a_circle_are_named():
    """And the one that follows such a joint from outside: none of them can be simulated."""
    follow = LIMIT + '<mimic joint="{}"/>'
    parts = [link(name) for name in "abcde"] + [
        joint("j", "a", "b", inside=follow.format("k")), joint("k", "b", "c", inside=follow.format("j")),
        joint("l", "c", "d", inside=follow.format("l")), joint("m", "d", "e", inside=follow.format("j")),
    ]  # fmt: skip
    said = [issue.message.partition(": ")[2] for issue in robot(*parts).issues if issue.code == "UrdfMimicBroken"]
    assert said == [
        "'j' follows itself, by way of 'k'; it moves freely.", "'k' follows itself, by way of 'j'; it moves freely.",
        "'l' follows itself; it moves freely.",
        "'m' follows 'j', which follows itself, by way of 'j', 'k'; it moves freely.",
    ]  # fmt: skip


def test_angles_turn_about_fixed_axes_and_quaternions_of_urdf_1_1_are_read():
    roll, pitch, yaw = 0.3, -0.7, 1.9
    half = [(math.cos(angle / 2), math.sin(angle / 2)) for angle in (roll, pitch, yaw)]
    about = [(half[0][0], half[0][1], 0, 0), (half[1][0], 0, half[1][1], 0), (half[2][0], 0, 0, half[2][1])]
    wanted = frames.matrix_of(about[2]) @ frames.matrix_of(about[1]) @ frames.matrix_of(about[0])
    assert read.rotation_of(roll, pitch, yaw) == pytest.approx(wanted, abs=1e-15)
    found = robot(link("a"), link("b"), joint("j", "a", "b", inside=f'<origin quat_xyzw="0 0 1 1"/>{LIMIT}'))
    assert found.joints["j"].pose[:3, 0] == pytest.approx([0, 1, 0], abs=1e-15)


# --------------------------------------------------------------------------- bodies and masses


def test_a_base_that_hangs_on_no_joint_is_fixed_unless_it_is_to_be_free():
    parts = (link("a"), link("b"), joint("j", "a", "b"))
    for base, joints in (("file", ["j", "root_joint"]), ("fixed", ["j", "root_joint"]), ("free", ["j"])):
        plan = planned(*parts, base=base)
        assert [prim.name for prim in plan.model.joints.values()] == joints
        assert list(plan.model.articulations) == ["/r/Geometry/a"]


def test_a_frame_without_mass_on_a_fixed_joint_is_no_body_and_joints_below_reach_across_it():
    plan = planned(
        link("a"), link("tool", ""), link("b"), joint("f", "a", "tool", "fixed", '<origin xyz="0 0 1"/>'),
        joint("j", "tool", "b", inside=f'<origin xyz="0 2 0"/>{LIMIT}'),
    )  # fmt: skip
    assert list(plan.bodies) == ["a", "b"]
    value = plan.model.prims["/r/Physics/j"].get(usd_physics.Joint)
    assert value.body0 == ("/r/Geometry/a",)
    assert value.local_pos0 == pytest.approx((0, 2, 1))


def test_mass_below_a_base_without_mass_moves_up_so_that_no_simulator_invents_one():
    plan = planned(
        link("a", BOX), link("heavy", INERTIAL), link("b"),
        joint("f", "a", "heavy", "fixed", '<origin xyz="0 0 1"/>'), joint("j", "heavy", "b"),
    )  # fmt: skip
    assert list(plan.bodies) == ["a", "b"]
    mass = plan.model.prims["/r/Geometry/a"].get(usd_physics.MassAPI)
    assert (mass.mass, mass.center_of_mass) == (2.0, pytest.approx((0.1, 0, 1)))


def test_merged_links_have_the_inertia_of_both():
    """Two equal balls on a bar: the moments across it grow by twice the mass times the square of half the length."""
    ball = '<inertial><mass value="3"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    parts = (link("a", ball), link("b", ball), joint("f", "a", "b", "fixed", '<origin xyz="4 0 0" rpy="1 2 3"/>'))
    plan = planned(*parts, merge_fixed=True)
    mass = plan.model.prims["/r/Geometry/a"].get(usd_physics.MassAPI)
    assert mass.mass == 6
    assert mass.center_of_mass == pytest.approx((2, 0, 0))
    assert mass.diagonal_inertia == pytest.approx((2, 2 + 2 * 3 * 4, 2 + 2 * 3 * 4))
    assert list(planned(*parts).bodies) == ["a", "b"]


def test_merged_links_one_of_which_has_no_inertia_have_none():
    bare = '<inertial><mass value="3"/></inertial>'
    plan = planned(link("a"), link("b", bare), joint("f", "a", "b", "fixed", '<origin rpy="1 2 3"/>'), merge_fixed=True)
    mass = plan.model.prims["/r/Geometry/a"].get(usd_physics.MassAPI)
    assert (mass.mass, mass.diagonal_inertia) == (5.0, None)


@pytest.mark.parametrize(("moments", "is_physical"), [
    ((1.0, 2.0, 3.0), True), ((3.0, 1.0, 2.0), True), ((1.0, 1.0, 2.001), False), ((0.0, 1.0, 1.0), False),
    ((1.0, -1.0, 1.0), False),
])  # fmt: skip
def test_a_moment_is_at_most_the_sum_of_the_others_and_none_is_zero(moments, is_physical):
    assert inertia.is_physical(moments) == is_physical


def test_swapped_limits_are_named():
    limit = '<limit lower="2" upper="-1" effort="10" velocity="3"/>'
    found = robot(link("a"), link("b"), joint("j", "a", "b", inside=limit)).issues
    assert [(issue.code, issue.severity) for issue in found] == [("UrdfLimitsSwapped", "warning")]


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("far", ["1e7", "1e16", "1e308", "1e999", "inf"])
def test_limits_far_away_are_none_and_lock_nothing(kind, far):
    limit = f'<limit lower="-{far}" upper="{far}" effort="{far}" velocity="{far}"/>'
    plan = planned(link("a"), link("b"), joint("j", "a", "b", kind, limit))
    assert plan.issues == []
    value = plan.model.prims["/r/Physics/j"].get(usd_physics.Joint)
    assert (value.lower_limit, value.upper_limit) == (None, None)
    stage = staged(plan)
    values = [one.Get() for one in stage.GetPrimAtPath("/r/Physics/j").GetAuthoredAttributes()]
    assert all(math.isfinite(value) for value in values if isinstance(value, float))


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize("text", ["nan", "far", "", "1_0"])
def test_a_limit_that_is_no_number_is_named(side, text):
    values = {"lower": "-1", "upper": "1", side: text}
    limit = '<limit lower="{lower}" upper="{upper}" effort="10" velocity="3"/>'.format(**values)
    found = robot(link("a"), link("b"), joint("j", "a", "b", inside=limit)).issues
    assert codes(found) == {"UrdfNumber", "UrdfLimitMissing"}


@pytest.mark.parametrize("text", ["1_0", "1e300", "inf", "nan", "heavy"])
def test_a_mass_that_is_no_finite_number_is_named(text):
    found = robot(link("a", f'<inertial><mass value="{text}"/></inertial>{BOX}'))
    assert "UrdfNumber" in codes(found.issues) and found.links["a"].inertial.mass == 0.0


def test_principal_axes_give_the_tensor_back_and_turn_no_further_than_they_must():
    turn = read.rotation_of(0.3, -0.2, 0.1)
    tensor = turn @ np.diag([3.0, 2.0, 4.0]) @ turn.T
    moments, axes = inertia.moments_of(tensor)
    assert moments == pytest.approx((3, 2, 4))
    assert frames.matrix_of(axes) == pytest.approx(turn)
    assert inertia.moments_of(np.zeros((3, 3))) is None


def test_a_zero_inertia_and_an_impossible_one_are_warnings():
    zero = '<inertial><mass value="1"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
    wrong = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/></inertial>'
    plan = planned(link("a", zero), link("b", wrong), joint("j", "a", "b"))
    assert {"UrdfInertiaZero", "UrdfInertiaUnphysical"} <= codes(plan.issues)
    assert {issue.severity for issue in plan.issues} == {"warning"}
    masses = [plan.model.prims[path].get(usd_physics.MassAPI) for path in plan.bodies.values()]
    assert [mass.diagonal_inertia for mass in masses] == [None, (1.0, 1.0, 9.0)]


def test_several_bodies_on_an_empty_root_are_one_articulation():
    plan = planned(
        link("world", ""), link("a"), link("b"), link("c"), link("d"), joint("fa", "world", "a", "fixed"),
        joint("fb", "world", "b", "fixed"), joint("jc", "a", "c"), joint("jd", "b", "d"),
    )  # fmt: skip
    assert list(plan.model.articulations) == ["/r"]


def test_the_one_body_that_moves_on_an_empty_root_is_the_articulation():
    """It hangs on the root by a hinge. A body that is welded to the root moves on no joint, nor does a free one."""
    plan = planned(
        link("world", ""), link("welded"), link("swings"), link("floats"), joint("w", "world", "welded", "fixed", ""),
        joint("s", "world", "swings"), joint("f", "world", "floats", "floating", ""),
    )  # fmt: skip
    assert list(plan.model.articulations) == [plan.bodies["swings"]]


# --------------------------------------------------------------------------- joints


def test_limits_effort_velocity_and_dynamics_are_in_the_units_of_usd():
    inside = f'{LIMIT}<dynamics damping="0.5" friction="0.25"/><safety_controller k_velocity="7"/>'
    stage = staged(planned(link("a"), link("b"), joint("j", "a", "b", inside=inside)))
    prim = stage.GetPrimAtPath("/r/Physics/j")
    shown = {name: prim.GetAttribute(name).Get() for name in (
        "physics:lowerLimit", "physics:upperLimit", "drive:angular:physics:maxForce",
        "drive:angular:physics:stiffness", "newton:velocityLimit", "newton:damping", "newton:friction",
        "urdf:limit:effort", "urdf:safety_controller:k_velocity",
    )}  # fmt: skip
    assert list(shown.values()) == pytest.approx(
        [math.degrees(-1), math.degrees(2), 10, 0, math.degrees(3), math.radians(0.5), 0.25, 10, 7]
    )
    assert "NewtonJointAPI" in prim.GetMetadata("apiSchemas").GetAddedOrExplicitItems()


@pytest.mark.parametrize("axis", ["1 0 0", "0 1 0", "0 0 1", "-1 0 0", "0 0 -2", "1 1 0", "0 0.6 0.8"])
def test_a_joint_turns_about_its_axis_whatever_way_that_points(axis):
    inside = f'<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="{axis}"/>{LIMIT}'
    plan = planned(link("a"), link("b"), joint("j", "a", "b", inside=inside))
    value = plan.model.prims["/r/Physics/j"].get(usd_physics.RevoluteJoint)
    local = frames.matrix_of(value.local_rot1)["XYZ".index(value.axis) :: 3]
    wanted = np.array(axis.split(), float) / np.linalg.norm(np.array(axis.split(), float))
    assert frames.matrix_of(value.local_rot1)[:, "XYZ".index(value.axis)] == pytest.approx(wanted), local
    both = frames.matrix_of(value.local_rot0) @ frames.matrix_of(value.local_rot1).T
    assert both == pytest.approx(read.rotation_of(0.1, 0.2, 0.3))
    assert value.axis == {"0 1 0": "Y", "0 0 1": "Z"}.get(axis, "X")


def test_chains_of_followers_lead_to_the_last_leader():
    follow = '<mimic joint="{}" multiplier="{}" offset="{}"/>'
    stage = staged(planned(
        *map(link, "abcd"), joint("first", "a", "b"),
        joint("second", "b", "c", inside=LIMIT + follow.format("first", 2, 0.5)),
        joint("third", "c", "d", inside=LIMIT + follow.format("second", -3, 0.1)),
    ))  # fmt: skip
    prim = stage.GetPrimAtPath("/r/Physics/third")
    assert prim.GetRelationship("newton:mimicJoint").GetTargets() == ["/r/Physics/first"]
    assert prim.GetAttribute("newton:mimicCoef1").Get() == pytest.approx(-6)
    assert prim.GetAttribute("newton:mimicCoef0").Get() == pytest.approx(math.degrees(0.1 - 3 * 0.5))


def test_planar_joints_lock_the_way_along_the_axis_and_floating_ones_are_no_joint():
    plan = planned(*map(link, "abc"), joint("p", "a", "b", "planar", ""), joint("f", "a", "c", "floating", ""))
    locked = {dof for dof, limit in plan.model.prims["/r/Physics/p"].instances(usd_physics.LimitAPI)}
    assert locked == {"transX", "rotY", "rotZ"}
    assert "/r/Physics/f" not in plan.model.prims


# --------------------------------------------------------------------------- the stage


def test_what_floats_beside_a_body_is_a_tree_of_its_own_and_stands_where_it_stood():
    """Below the body in the stage, Newton takes it into the articulation, and refuses a graph with two roots."""
    away = LIMIT + '<origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/>'
    plan = planned(
        *map(link, "abcd"), joint("j", "a", "b", inside=away), joint("f", "b", "c", "floating", away),
        joint("k", "c", "d", inside=away),
    )  # fmt: skip
    assert {name: plan.link_paths[name] for name in "bcd"} == {
        "b": "/r/Geometry/a/b", "c": "/r/Geometry/c", "d": "/r/Geometry/c/d",
    }  # fmt: skip
    stage = staged(plan)
    world = np.array(UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath("/r/Geometry/c/d"))).T
    assert world == pytest.approx(plan.worlds["d"])
    assert world[:3, 3] == pytest.approx([0, 0, 3])
    roots = [path for path, prim in plan.model.prims.items() if prim.get(usd_physics.ArticulationRootAPI) is not None]
    assert sorted(roots) == ["/r/Geometry/a", "/r/Geometry/c"]


def test_a_loop_joint_holds_two_links_beside_the_tree_and_is_not_of_the_articulation():
    """A square of four bars: the last corner is the loop, and both bodies have its place and its axis there."""
    bars = [link(name) for name in "abcd"]
    hinges = [
        joint(f"j{one}{two}", one, two, "continuous",
              '<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/><axis xyz="0 0 1"/>')
        for one, two in ("ab", "bc", "cd")
    ]  # fmt: skip
    loop = (
        '<loop_joint name="close" type="revolute"><link1 link="d" xyz="1 0 0" rpy="0 0 1.5707963267948966"/>'
        '<link2 link="a" xyz="0 0 0"/><axis xyz="0 0 -1"/><limit lower="-1" upper="2"/></loop_joint>'
    )
    plan = planned(*bars, *hinges, loop, '<loop_joint name="bad" type="gear"/>', base="free")
    prim = plan.model.prims[plan.loop_paths["close"]]
    close = prim.get(usd_physics.RevoluteJoint)
    assert close.exclude_from_articulation and (close.lower_limit, close.upper_limit) == (-1.0, 2.0)
    places = [
        frames.world_frame(plan.worlds[name], pos, turn)
        for name, pos, turn in (("d", close.local_pos0, close.local_rot0), ("a", close.local_pos1, close.local_rot1))
    ]
    assert np.abs(places[0] - places[1]).max() < 1e-12
    assert np.abs(places[0][:3, "XYZ".index(close.axis)] - (0, 0, -1)).max() < 1e-12
    assert codes(plan.issues) == {"UrdfJointLeftOut"}
    assert plan.others == ["/r/Other", "/r/Other/loop_joint"]
    stage = staged(plan)
    assert stage.GetPrimAtPath("/r/Physics/close").GetAttribute("physics:excludeFromArticulation").Get() is True


def test_names_that_usd_does_not_take_are_kept_as_display_names():
    names = ["my_link", "my-link", "1link", "Gelenk_ä", "a/b"]
    plan = planned(*map(link, names), *(joint(name, "my_link", name) for name in names[1:]))
    stage = staged(plan)
    shown = {
        (prim.GetDisplayName() or prim.GetName()) for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.RigidBodyAPI)
    }
    assert shown == set(names)
    assert stage.GetPrimAtPath("/r/Geometry/my_link")


def test_poses_are_exact_and_boxes_are_scaled_cubes():
    tiny = '<origin xyz="0.1 0.2 0.3" rpy="1e-7 0 0"/>'
    stage = staged(planned(link("a"), link("b"), joint("j", "a", "b", inside=tiny + LIMIT)))
    world = np.array(UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath("/r/Geometry/a/b"))).T
    assert world[:3, 3].tolist() == [0.1, 0.2, 0.3]
    assert world[2, 1] == pytest.approx(1e-7, abs=1e-8)
    box = stage.GetPrimAtPath("/r/Geometry/a/a_collision")
    assert box.GetAttribute("size").Get() == 1.0
    assert tuple(box.GetAttribute("xformOp:scale").Get()) == pytest.approx((0.1, 0.2, 0.3))
    assert UsdGeom.Imageable(box).ComputePurpose() == "guide"


def test_the_text_of_the_urdf_is_on_the_root():
    plan = planned(link("a"), '<gazebo reference="a"><mu1>0.75</mu1></gazebo>')
    assert "<mu1>0.75</mu1>" in staged(plan).GetDefaultPrim().GetAttribute(robot_stage.SOURCE).Get()


# --------------------------------------------------------------------------- what an import takes


def everything(folder: Path) -> list[str]:
    """A robot with every kind of joint, shape, name, material and note."""
    (folder / "m.obj").write_text(obj_text())
    looks = '<material name="not a word"><color rgba="1 0 0 0.5"/></material>'
    origin = '<origin xyz="0.1 0.2 0.3" rpy="0.4 -1.570796 0.6"/>'
    shapes = [f"<geometry>{shape}</geometry>" for shape in (
        '<mesh filename="m.obj" scale="1 -2 3"/>', '<cylinder radius="0.1" length="0.7"/>', '<sphere radius="0.3"/>',
        '<box size="0.2 0.2 0.2"/>', '<mesh filename="m.obj"/>',
    )]  # fmt: skip
    parts = "".join(f"<visual>{origin}{one}{looks}</visual><collision>{origin}{one}</collision>" for one in shapes)
    kinds = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating", "revolute")
    axes = ("1 0 0", "0 0 -1", "1 1 0", "0 1 0", "0 0 1", "1 0 0", "0 0 1")
    links = [link("world", ""), *(link(f"l {index}", INERTIAL + BOX + (parts if index in (0, 3) else ""))
                                  for index in range(len(kinds))), link("flange", BOX)]  # fmt: skip
    joints = [
        joint(f"j-{index}", "world" if index == 0 else f"l {index - 1}", f"l {index}", kind,
              f'{origin}<axis xyz="{axis}"/>{LIMIT}<dynamics damping="0.5" friction="0.2"/><calibration rising="1"/>'
              + (f'<mimic joint="j-{index - 5}" multiplier="-2" offset="0.3"/>' if index == 6 else ""))
        for index, (kind, axis) in enumerate(zip(kinds, axes, strict=True))
    ]  # fmt: skip
    loop = '<loop_joint name="loop" type="spherical"><link1 link="l 1"/><link2 link="l 3"/></loop_joint>'
    return [
        *links,
        *joints,
        joint("end", "l 6", "flange", "fixed", ""),
        loop,
        '<gazebo reference="l 0"><a b="c"/></gazebo>',
    ]


def parsed(text: str) -> str:
    if text in ("", "own"):
        return text
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(text)
    return str(layer.ExportToString())


def test_an_import_takes_from_the_robot_itself_what_it_would_read_from_its_stage(tmp_path):
    # Reading 500 links took longer than everything else of an import.
    parts = everything(tmp_path)
    sources = []
    for physics in (True, False):
        plan = layout.plan(robot(*parts, folder=tmp_path), layout.LayoutOptions())
        stage = Usd.Stage.CreateInMemory()
        assets = Assets(packages.Packages(tmp_path))
        texts = robot_stage.write_robot(plan, assets, stage, physics=physics)
        found, _broken = importable.check(stage, Path("r.usda"))
        if physics:
            sources.append(import_source.read_source(stage, found))
        else:
            sources.append(robot_stage.import_source_of(plan, texts, stage, found))
    expected, quick = sources
    for name in ("missing", "resets", "visible_materials", "face_materials", "materials", "looks"):
        assert getattr(quick, name) == getattr(expected, name)
    for name in ("carried", "transforms", "shapes", "bindings"):
        assert {path: parsed(text) for path, text in getattr(quick, name).items()} == {
            path: parsed(text) for path, text in getattr(expected, name).items()
        }
    for name in ("units", "order", "other_types", "other_paths"):
        assert getattr(quick.model, name) == getattr(expected.model, name)
    assert list(quick.model.prims) == list(expected.model.prims)
    assert len(expected.model.joints) == 7
    for path, prim in expected.model.prims.items():
        other = quick.model.prims[path]
        assert (other.type_name, other.purpose, other.is_xformable) == (prim.type_name, prim.purpose, prim.is_xformable)
        assert np.allclose(other.world, prim.world, atol=1e-6)
        assert list(other.schemas) == list(prim.schemas)
        for name, value in prim.schemas.items():
            for field, content in dict(value.authored()).items():
                mine = getattr(other.schemas[name], field.field)
                is_number = field.value.is_number
                assert np.allclose(mine, content, rtol=1e-6, atol=1e-7) if is_number else mine == content
            assert len(dict(other.schemas[name].authored())) == len(dict(value.authored()))


# --------------------------------------------------------------------------- files

POINTS = [(x, y, z) for x in (0, 2) for y in (0, 1) for z in (0, 0.5)]
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def obj_text() -> str:
    points = "".join("v {} {} {}\n".format(*point) for point in POINTS)
    return points + "".join("f " + " ".join(str(index + 1) for index in face) + "\n" for face in FACES)


def ply_text() -> str:
    head = "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
    head += "element face 6\nproperty list uchar int vertex_indices\nend_header\n"
    rows = "".join("{} {} {}\n".format(*point) for point in POINTS)
    return head + rows + "".join("4 " + " ".join(map(str, face)) + "\n" for face in FACES)


def stl_text() -> str:
    triangles = [(face[0], face[second], face[second + 1]) for face in FACES for second in (1, 2)]
    corners = ["".join("vertex {} {} {}\n".format(*POINTS[index]) for index in one) for one in triangles]
    return "solid a\n" + "".join(f"facet normal 0 0 0\nouter loop\n{one}endloop\nendfacet\n" for one in corners)


def dae_text(node: str = '<instance_geometry url="#g"/>', unit: str = "1") -> str:
    numbers = " ".join(f"{part}" for point in POINTS for part in point)
    index = " ".join(str(one) for face in FACES for one in face)
    return f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset><unit meter="{unit}"/>
<up_axis>Y_UP</up_axis></asset><library_geometries><geometry id="g"><mesh><source id="p"><float_array>{numbers}
</float_array><technique_common><accessor stride="3"/></technique_common></source><vertices id="v">
<input semantic="POSITION" source="#p"/></vertices><polylist count="6"><input semantic="VERTEX" source="#v" offset="0"/>
<vcount>4 4 4 4 4 4</vcount><p>{index}</p></polylist></mesh></geometry></library_geometries><library_visual_scenes>
<visual_scene id="s"><node>{node}</node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


@pytest.mark.parametrize("suffix", ["obj", "ply", "stl", "dae"])
def test_a_mesh_has_its_corners_and_faces(tmp_path, suffix):
    text = {"obj": obj_text, "ply": ply_text, "stl": stl_text, "dae": dae_text}[suffix]()
    (tmp_path / f"box.{suffix}").write_text(text)
    mesh = meshes.read_mesh(tmp_path / f"box.{suffix}")
    assert sorted(map(tuple, mesh.points.tolist())) == sorted(POINTS)
    assert len(mesh.counts) == (12 if suffix == "stl" else 6)


RICH_OBJ = """# a roof
mtllib none.mtl
v 0 0 0 0.5
v 1.5e0 0 -0
v 1 1 nan
v 0 1 0.25
vt 0 0
vt 1 0.5
vn 0 0 1
vn 0 -1 0
f 1/1/1 2/2/2 4/1/1
usemtl tile
f 2/2/1 1/1/2 4/2/2 2/1/1

usemtl ridge
usemtl tile
f 4/1/1 1/2/2 2/1/2
"""


def parts_of(mesh) -> list:
    arrays = (mesh.points, mesh.counts, mesh.corners, mesh.uvs, mesh.normals, mesh.faces)
    return [None if one is None else one.tolist() for one in arrays] + [one.name for one in mesh.materials]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("v 0 0 0 0.5", "v 0 0 0"), ("v 0 1 0.25", "v  0 1 0.25 "), ("v 1.5e0", "  v 1.5e0"), ("\n", "\r\n"),
        ("4/1/1\n", "-1/-2/-2\n"), ("f 2/2/1 1/1/2", "f 2/2/1 \\\n1/1/2"), ("# a roof", "o roof\x0c"),
        ("v 0 1 0.25", "v 0 1 0.2_5"), ("v 0 1 0.25", "v 0.0 1.000 .25"),
    ],
)  # fmt: skip
def test_an_obj_of_another_spelling_is_the_same_mesh(tmp_path, old, new):
    for name, text in (("plain", RICH_OBJ.replace("v 0 0 0 0.5", "v 0 0 0")), ("other", RICH_OBJ.replace(old, new))):
        (tmp_path / f"{name}.obj").write_bytes(text.encode())
    plain, other = (meshes.read_mesh(tmp_path / f"{name}.obj") for name in ("plain", "other"))
    assert parts_of(plain) == parts_of(other)
    assert plain.points.tolist() == [[0, 0, 0], [1.5, 0, 0], [0, 1, 0.25]] and plain.counts.tolist() == [3, 4, 3]
    assert plain.faces.tolist() == [-1, 0, 0] and [one.name for one in plain.materials] == ["tile", "ridge"]
    assert plain.uvs.tolist()[:3] == [[0, 0], [1, 0.5], [0, 0]] and plain.normals.tolist()[1] == [0, -1, 0]
    bare = meshes.read_mesh(tmp_path / "other.obj", is_bare=True)
    assert parts_of(bare)[:3] == parts_of(plain)[:3] and bare.uvs is bare.normals is None


@pytest.mark.parametrize("old", ["v 0 1 0.25", "f 1/1/1", "vn 0 0 1"])
def test_an_obj_with_a_word_in_place_of_a_number_is_damaged(tmp_path, old):
    (tmp_path / "bad.obj").write_text(RICH_OBJ.replace(old, f"{old[:-1]}x"))
    with pytest.raises(InputError, match="damaged"):
        meshes.read_mesh(tmp_path / "bad.obj")


EMISSION = (0.5, 0.25, 0.0)


def glowing(folder: Path, suffix: str) -> Path:
    """A mesh file whose material shines."""
    file, numbers = folder / f"glow.{suffix}", " ".join(map(str, EMISSION))
    if suffix == "obj":
        (folder / "glow.mtl").write_text(f"newmtl lamp\nKd 0.2 0.2 0.2\nKe {numbers}\n")
        file.write_text("mtllib glow.mtl\nusemtl lamp\n" + obj_text())
        return file
    effect = f"""<library_effects><effect id="e"><profile_COMMON><technique><lambert>
    <emission><color>{numbers} 1</color></emission><diffuse><color>0.2 0.2 0.2 1</color></diffuse></lambert>
    </technique></profile_COMMON></effect>
    </library_effects><library_materials><material id="m" name="lamp"><instance_effect url="#e"/></material>
    </library_materials>"""
    bound = """<instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="s" target="#m"/>
    </technique_common></bind_material></instance_geometry>"""
    text = dae_text(bound).replace('<polylist count="6">', '<polylist count="6" material="s">')
    file.write_text(text.replace("<library_geometries>", effect + "<library_geometries>"))
    return file


@pytest.mark.parametrize("suffix", ["obj", "dae"])
def test_what_shines_in_a_mesh_file_shines_on_the_stage_and_in_the_obj_of_a_urdf(tmp_path, suffix):
    file = glowing(tmp_path, suffix)
    visual = f'<visual><geometry><mesh filename="{file.name}"/></geometry></visual>'
    stage = staged(layout.plan(robot(link("a", visual), folder=tmp_path), layout.LayoutOptions()), tmp_path)
    found = stage.GetPrimAtPath("/r/Materials/lamp/Surface").GetAttribute("inputs:emissiveColor").Get()
    wanted = mesh_data.linear(EMISSION)[:3]
    assert tuple(found) == pytest.approx(wanted, rel=1e-6)
    (part,) = robot_geometry.visible_parts(stage, usd_read.read_stage(stage))
    files = mesh_files.MeshFiles("", tmp_path)
    assert part.material.emission == pytest.approx(wanted, rel=1e-6)
    part.mesh.materials, part.mesh.faces = [part.material], np.zeros(len(part.mesh.counts), np.int64)
    name = files.uri(part.mesh, "again", "visual")
    files.write(tmp_path)
    assert meshes.read_mesh(tmp_path / name).materials[0].emission == pytest.approx(wanted, rel=1e-4)


def test_an_image_of_light_is_on_the_stage_and_in_the_obj_of_a_urdf(tmp_path):
    """Of two mesh files whose images have one name; a factor of the light stays."""
    parts = ""
    for number, rest in enumerate(("", "Ke 0.5 0.25 0\n")):
        folder = tmp_path / f"from{number}"
        folder.mkdir()
        (folder / "glow.png").write_bytes(bytes([number]) * 10)
        (folder / "glow.mtl").write_text(f"newmtl lamp{number}\nKd 0.2 0.2 0.2\nmap_Ke glow.png\n{rest}")
        (folder / "glow.obj").write_text(f"mtllib glow.mtl\nusemtl lamp{number}\n" + obj_text())
        parts += f'<visual><geometry><mesh filename="from{number}/glow.obj"/></geometry></visual>'
    read = [meshes.read_mesh(tmp_path / f"from{number}" / "glow.obj").materials[0] for number in (0, 1)]
    assert [one.glow.parent.name for one in read] == ["from0", "from1"]
    assert read[0].emission == (1.0, 1.0, 1.0) and read[1].emission == pytest.approx(mesh_data.linear(EMISSION)[:3])
    stage = staged(layout.plan(robot(link("a", parts), folder=tmp_path), layout.LayoutOptions()), tmp_path)
    for number, one in enumerate(read):
        image = stage.GetPrimAtPath(f"/r/Materials/lamp{number}/EmissionTexture")
        assert image.GetAttribute("inputs:file").Get()
        scale = image.GetAttribute("inputs:scale").Get()
        assert scale is None if number == 0 else tuple(scale)[:3] == pytest.approx(one.emission, rel=1e-6)
    mesh = meshes.read_mesh(tmp_path / "from1" / "glow.obj")
    files = mesh_files.MeshFiles("", tmp_path)
    name = files.uri(mesh, "again", "visual")
    files.write(tmp_path)
    (again,) = meshes.read_mesh(tmp_path / name).materials
    assert again.glow.read_bytes() == bytes([1]) * 10
    assert again.emission == pytest.approx(read[1].emission, rel=1e-4)


@pytest.mark.parametrize("mixers", [None, (0, 0, 0)])
def test_corners_at_one_place_become_one_point_even_where_all_are_mixed_to_one_number(monkeypatch, mixers):
    if mixers is not None:
        monkeypatch.setattr(meshes, "MIXERS", tuple(map(np.uint64, mixers)))
    places = np.array([[0, 0, 1], [1, 0, 0], [0, 0, 1], [-0.0, 0, 1], [0, 1, 0], [1, 0, 0]], np.float32)
    first, point = meshes.welded(places)
    assert len(first) == 3
    assert np.array_equal(places[first][point], places)
    assert meshes.welded(places[:0])[0].size == 0


def test_nodes_of_collada_are_placed_parents_first_and_its_unit_counts(tmp_path):
    inner = '<node><translate>0.5 0 0</translate><instance_geometry url="#g"/></node>'
    (tmp_path / "a.dae").write_text(dae_text(f"<rotate>0 0 1 90</rotate><scale>2 2 2</scale>{inner}", "0.01"))
    mesh = meshes.read_mesh(tmp_path / "a.dae")
    assert mesh.points.min(axis=0) == pytest.approx([-0.02, 0.01, 0])
    assert mesh.points.max(axis=0) == pytest.approx([0, 0.05, 0.01])


@pytest.mark.parametrize(
    ("opaque", "opacity"),
    [("", 0.2), ("A_ONE", 0.2), ("A_ZERO", 0.8), ("RGB_ONE", 0.1), ("RGB_ZERO", 0.9), (None, 1.0)],
)  # fmt: skip
def test_the_opacity_of_collada_is_by_its_four_rules(tmp_path, opaque, opacity):
    """A colour of 0.2 with an alpha of 0.4, of which a half counts."""
    bound = '<bind_material><technique_common><instance_material symbol="m" target="#red"/></technique_common>'
    text = dae_text(f'<instance_geometry url="#g">{bound}</bind_material></instance_geometry>')
    mode = f' opaque="{opaque}"' if opaque else ""
    clear = "" if opaque is None else (
        f"<transparent{mode}><color>0.2 0.2 0.2 0.4</color></transparent>"
        "<transparency><float>0.5</float></transparency>"
    )  # fmt: skip
    looks = (
        '<library_materials><material id="red"><instance_effect url="#e"/></material></library_materials>'
        '<library_effects><effect id="e"><profile_COMMON><technique><lambert><diffuse><color>1 0 0 1</color></diffuse>'
        f"{clear}</lambert></technique></profile_COMMON></effect></library_effects><library_geometries>"
    )
    text = text.replace("<library_geometries>", looks).replace(
        '<polylist count="6">', '<polylist count="6" material="m">'
    )
    (tmp_path / "a.dae").write_text(text)
    (material,) = meshes.read_mesh(tmp_path / "a.dae").materials
    assert material.color == pytest.approx((1.0, 0.0, 0.0, opacity))


def test_colours_of_an_obj_are_those_of_its_mtl(tmp_path):
    (tmp_path / "a.mtl").write_text("newmtl red\nKd 1 0 0\nd 0.25\nnewmtl none\nKs 1 1 1\n")
    (tmp_path / "a.obj").write_text(
        "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\nusemtl none\nf 1 3 2\n"
    )
    looks = {material.name: material.color for material in meshes.read_mesh(tmp_path / "a.obj").materials}
    assert looks == {"red": (1.0, 0.0, 0.0, 0.25), "none": None}


@pytest.mark.parametrize("extra", [0, 1, 2])
@pytest.mark.parametrize("mirror", [1, -1])
def test_triangles_of_a_gltf_are_where_its_nodes_put_them_and_a_part_of_one_is_left_out(tmp_path, extra, mirror):
    corners = [0, 1, 2, 2, 1, 3][:6] + [0] * extra
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], np.float32)
    data = points.tobytes() + np.array(corners, np.uint16).tobytes()
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "translation": [1, 2, 3], "scale": [mirror, 1, 1]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": len(data), "uri": "a.bin"}],
        "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": len(data) - 48}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
                      {"bufferView": 1, "componentType": 5123, "count": len(corners), "type": "SCALAR"}],
    }  # fmt: skip
    (tmp_path / "a.bin").write_bytes(data)
    (tmp_path / "a.gltf").write_text(json.dumps(document))
    mesh = meshes.read_mesh(tmp_path / "a.gltf")
    assert mesh.counts.tolist() == [3, 3]
    # Y is up there, and Z here.
    low, high = mesh.points[mesh.corners].min(axis=0), mesh.points[mesh.corners].max(axis=0)
    assert low == pytest.approx([min(1, 1 + mirror), -3, 2]) and high == pytest.approx([max(1, 1 + mirror), -3, 3])
    a, b, c = mesh.points[mesh.corners[:3]]
    assert np.cross(b - a, c - a) == pytest.approx([0, -1, 0])


@pytest.mark.parametrize("name", ["a.stl", "a.obj", "a.ply", "a.dae", "a.glb", "a.gltf", "a.xyz"])
@pytest.mark.parametrize("data", [b"", b"f 1 2 3\n", b"\xff" * 90, b"ply\nend_header\n", b"{}", b"glTF" + b"\x00" * 40])
def test_a_damaged_mesh_is_refused_in_one_sentence(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as caught:
        meshes.read_mesh(tmp_path / name)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    "uri",
    ["package://robo/meshes/a.stl", "package://robo//meshes/a.stl", "model://robo/meshes/a.stl",
     "package:///robo/meshes/a.stl", "../meshes/a.stl", "..\\meshes\\a.stl", "package://other/meshes/a.stl",
     "package://robo/meshes/with%20space.stl", "package://robo/meshes/with space.stl"],
)  # fmt: skip
def test_meshes_are_found_without_ros(tmp_path, uri):
    for folder in ("meshes", "urdf"):
        (tmp_path / "robo_copy" / folder).mkdir(parents=True)
    (tmp_path / "robo_copy" / "package.xml").write_text("<package><name>robo</name></package>")
    for name in ("a.stl", "with space.stl"):
        (tmp_path / "robo_copy" / "meshes" / name).touch()
    found = packages.Packages(tmp_path / "robo_copy" / "urdf").file(uri, packages.MESH_SUFFIXES)
    assert found is not None and found.is_file()


def test_nothing_but_meshes_is_opened_and_nothing_from_the_network(tmp_path):
    (tmp_path / "secret.txt").touch()
    finder = packages.Packages(tmp_path)
    assert finder.file("secret.txt", packages.MESH_SUFFIXES) is None
    assert finder.file("http://example.com/a.stl", packages.MESH_SUFFIXES) is None


def test_what_the_user_gave_comes_first(tmp_path):
    for name in ("mine", "robo"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.stl").touch()
    known = {"robo": tmp_path / "mine"}
    assert packages.Packages(tmp_path, known).file("package://robo/a.stl") == tmp_path / "mine" / "a.stl"


def test_a_missing_mesh_is_left_out_once_and_the_rest_stays(tmp_path):
    mesh = '<visual><geometry><mesh filename="package://gone/a.stl"/></geometry></visual>'
    plan = layout.plan(robot(link("a", INERTIAL + mesh + mesh + BOX), folder=tmp_path), layout.LayoutOptions())
    stage = staged(plan, tmp_path)
    missing = [issue for issue in plan.issues if issue.code == "UrdfMeshMissing"]
    assert len(missing) == 1 and "--package gone=FOLDER" in missing[0].fix
    assert stage.GetPrimAtPath("/r/Geometry/a/a_collision")


def test_what_is_unknown_is_kept_as_strings_at_the_link_or_joint_that_it_is_of():
    plan = planned(
        '<link name="a" color="x"><inertial><mass value="1" guess="g"/></inertial><tag><sub k="v">deep</sub></tag>'
        "</link>",
        link("b"), joint("j", "a", "b", inside=LIMIT.replace("/>", ' jerk="9"/>') + '<axis xyz="0 0 1" exact="e"/>'),
        '<gazebo reference="b"><mu1>0.75</mu1></gazebo><gazebo reference="a"/>',
    )  # fmt: skip
    stage = staged(plan)
    shown = {
        path: stage.GetPropertyAtPath(path).Get() for path in (
            "/r/Geometry/a.urdf:color", "/r/Geometry/a.urdf:inertial:mass:guess", "/r/Geometry/a/tag/sub.urdf:k",
            "/r/Geometry/a/tag/sub.urdf:text", "/r/Physics/j.urdf:limit:jerk", "/r/Physics/j.urdf:axis:exact",
            "/r/Other/gazebo.urdf:reference", "/r/Other/gazebo/mu1.urdf:text", "/r/Other/gazebo_1.urdf:reference",
        )
    }  # fmt: skip
    assert list(shown.values()) == ["x", "g", "v", "deep", "9", "e", "b", "0.75", "a"]


def test_links_named_alike_in_usd_do_not_take_each_others_place():
    """A link's name wins over that of a visual, also where both have the same."""
    visual = '<visual name="b"><geometry><sphere radius="1"/></geometry></visual>'
    stage = staged(planned(link("a", INERTIAL + visual), link("b"), joint("b", "a", "b")))
    assert stage.GetPrimAtPath("/r/Geometry/a/b").HasAPI(UsdPhysics.RigidBodyAPI)
    assert stage.GetPrimAtPath("/r/Geometry/a/b_1").GetDisplayName() == "b"


@pytest.mark.parametrize("joints", [0, 1])
def test_fixed_joints_are_of_an_articulation_too_or_newton_refuses_the_file(joints):
    parts = [link("l0")] + [link("l1"), joint("j", "l0", "l1", "fixed", "")] * joints
    plan = planned(*parts)
    assert list(plan.model.articulations) == [plan.link_paths["l0"]]


def test_a_part_beside_the_robot_that_has_no_joints_is_no_second_articulation():
    plan = planned(link("base"), link("arm"), joint("j", "base", "arm"), link("beside"))
    assert list(plan.model.articulations) == [plan.link_paths["base"]]
    assert plan.fixed_base == ["base", "beside"]


def test_links_that_an_srdf_keeps_apart_do_not_collide(tmp_path):
    (tmp_path / "r.urdf").write_text(
        f'<robot name="r">{link("a")}{link("b")}{link("c")}{link("tip", "")}'
        f"{joint('ab', 'a', 'b')}{joint('bc', 'b', 'c')}"
        f"{joint('ct', 'c', 'tip', 'fixed', '')}</robot>"
    )
    (tmp_path / "r.srdf").write_text(
        '<robot name="r"><disable_collisions link1="c" link2="a" reason="Never"/>'
        '<disable_collisions link1="a" link2="c"/><disable_collisions link1="a" link2="tip"/>'
        '<disable_collisions link1="c" link2="tip"/><disable_collisions link1="a" link2="gone"/></robot>'
    )
    options = robot_files.RobotOptions(srdf=str(tmp_path / "r.srdf"))
    plan = robot_files.plan_robot(tmp_path / "r.urdf", options)
    found = {
        path: filters.filtered_pairs
        for path, prim in plan.model.prims.items()
        if (filters := prim.get(usd_physics.FilteredPairsAPI)) is not None
    }
    # The tip is a frame of c.
    assert found == {plan.link_paths["a"]: (plan.link_paths["c"],)}
    assert "SrdfLinkMissing" in codes(plan.issues)


@pytest.mark.parametrize("text", ["<semantic/>", "<robot", ""])
def test_what_is_no_srdf_is_refused_in_one_sentence(tmp_path, text):
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{link("a")}</robot>')
    (tmp_path / "r.srdf").write_text(text)
    options = robot_files.RobotOptions(srdf=str(tmp_path / "r.srdf"))
    with pytest.raises(InputError, match=r"r\.srdf") as caught:
        robot_files.plan_robot(tmp_path / "r.urdf", options)
    assert "\n" not in str(caught.value)


def test_a_robot_or_a_buffer_without_an_end_is_refused(tmp_path):
    (tmp_path / "robot.urdf").symlink_to("/dev/zero")
    (tmp_path / "data.bin").symlink_to("/dev/zero")
    (tmp_path / "mesh.gltf").write_text(json.dumps({
        "nodes": [{"mesh": 0}], "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"byteLength": 36, "uri": "data.bin"}],
    }))  # fmt: skip
    with pytest.raises(InputError, match="no file"):
        read.read_file(tmp_path / "robot.urdf")
    with pytest.raises(InputError, match="no file"):
        meshes.read_mesh(tmp_path / "mesh.gltf")


# --------------------------------------------------------------------------- options


def test_drives_that_hold_have_the_gains_of_what_hangs_on_them():
    """1 kg at 2 m from a hinge along Y: 4 + 0.03 kg m2, at 5 Hz without overshoot; a slide moves the mass alone."""
    arm = '<inertial><origin xyz="2 0 0"/><mass value="1"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial>'  # noqa: E501
    turned = '<origin xyz="0 0 1" rpy="0 0 0.5"/><axis xyz="0 1 0"/>' + LIMIT
    parts = (link("base"), link("arm", arm), joint("hinge", "base", "arm", inside=turned))
    speed = 2 * math.pi * 5
    for kind, moved in (("revolute", 4.03), ("prismatic", 1.0)):
        found = {}
        for drives in ("effort", "hold", "velocity", "none"):
            plan = planned(*parts[:2], joint("hinge", "base", "arm", kind, turned), drives=drives)
            dof = "angular" if kind == "revolute" else "linear"
            drive = dict(plan.model.prims["/r/Physics/hinge"].instances(usd_physics.DriveAPI)).get(dof)
            found[drives] = drive and (drive.stiffness, drive.damping, drive.max_force)
        assert found["effort"] == (0, 0, 10)
        assert found["hold"] == pytest.approx((moved * speed**2, 2 * moved * speed, 10))
        assert found["velocity"] == pytest.approx((0, 2 * moved * speed, 10))
        assert found["none"] is None


def test_followers_get_no_gains_of_their_own():
    follows = LIMIT + '<mimic joint="one"/>'
    plan = planned(
        link("a"), link("b"), link("c"), joint("one", "a", "b"), joint("two", "a", "c", inside=follows), drives="hold"
    )
    drives = [dict(plan.model.prims[f"/r/Physics/{name}"].instances(usd_physics.DriveAPI)) for name in ("one", "two")]
    assert drives[0]["angular"].stiffness > 0
    assert (drives[1]["angular"].stiffness, drives[1]["angular"].damping) == (0, 0)


def test_links_of_a_robot_can_be_kept_from_colliding_with_each_other():
    stage = staged(planned(link("a"), link("b"), joint("j", "a", "b"), self_collision=False))
    roots = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.ArticulationRootAPI)]
    assert [root.GetName() for root in roots] == ["a"]
    for name in ("newton:selfCollisionEnabled", "physxArticulation:enabledSelfCollisions"):
        assert roots[0].GetAttribute(name).Get() is False


def test_visuals_are_left_out_or_collide_where_nothing_else_does():
    seen = '<visual name="look"><geometry><sphere radius="1"/></geometry></visual>'
    parts = (link("a", INERTIAL + BOX + seen), link("b", INERTIAL + seen), joint("j", "a", "b"))

    def shapes(**options):
        plan = planned(*parts, **options)
        return [(one.path.rpartition("/Geometry/")[2], one.is_collider) for one in plan.shapes]

    assert shapes() == [("a/look", False), ("a/a_collision", True), ("a/b/look", False)]
    assert shapes(visuals=False) == [("a/a_collision", True)]
    assert shapes(visual_colliders=True)[2:] == [("a/b/look", False), ("a/b/b_collision", True)]
    assert shapes(visual_colliders=True, visuals=False)[1:] == [("a/b/b_collision", True)]


@pytest.mark.parametrize(
    "options",
    [
        layout.LayoutOptions(), layout.LayoutOptions("free", "left arm ", True),
        layout.LayoutOptions("fixed", drives="hold", self_collision=False, visuals=False, visual_colliders=True),
    ],
)  # fmt: skip
def test_a_stage_remembers_the_options_of_its_import(options):
    plan = layout.plan(robot(link("a"), link("b"), joint("j", "a", "b")), options)
    ((_, _, _, found),) = robot_stage.sources_of(staged(plan))
    assert found == options
