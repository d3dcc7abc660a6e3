"""SDF: where links and joints are, however their poses are said; what becomes of each part; what is refused."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest
from sdf_models import ARM, Tree, pose_of, random_tree, turn_about
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.model import PhysicsModel
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.sdf import read
from usdphys_ext.usdphys_addon.urdf import layout
from usdphys_ext.usdphys_addon.urdf.packages import Packages
from usdphys_ext.usdphys_addon.usd import read as usd_read
from usdphys_ext.usdphys_addon.usd import robot_files

BOX = "<collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>"


def written(folder: Path, text: str, name: str = "robot.sdf") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def planned(folder: Path, text: str, **options: object) -> layout.Layout:
    return layout.plan(read.read_file(written(folder, text)), layout.LayoutOptions(**options))  # type: ignore[arg-type]


def model_text(inside: str, version: str = "1.9", before: str = "") -> str:
    return f'<sdf version="{version}">{before}<model name="m">{inside}</model></sdf>'


def codes(plan: layout.Layout) -> list[str]:
    return [issue.code for issue in plan.issues]


def poses_at(plan: layout.Layout, model: PhysicsModel, coordinates: dict[str, float]) -> dict[str, np.ndarray]:
    """Pose (4, 4) of each body by the frames of the joints of a model alone: what a simulator does with them."""
    names = {path: name for name, path in plan.bodies.items()}
    made = {
        name: model.prims[path].world for name, path in plan.bodies.items()
        if not any(joint.get(usd_physics.Joint).body1 == (path,) for joint in model.joints.values())  # type: ignore[union-attr]
    }  # fmt: skip
    waiting = dict(plan.joint_paths)
    while waiting:
        size = len(waiting)
        for name, path in list(waiting.items()):
            prim = model.joints[path]
            joint = prim.get(usd_physics.Joint)
            assert joint is not None
            above = names.get(joint.body0[0]) if joint.body0 else None
            if above is not None and above not in made:
                continue
            frame0 = frames.transform(joint.local_pos0, frames.matrix_of(joint.local_rot0))
            frame1 = frames.transform(joint.local_pos1, frames.matrix_of(joint.local_rot1))
            motion = np.eye(4)
            value = coordinates.get(name, 0.0)
            if isinstance(joint, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
                axis = np.eye(3)["XYZ".index(joint.resolved("axis"))]
                if isinstance(joint, usd_physics.RevoluteJoint):
                    motion = turn_about(axis, value)
                else:
                    motion[:3, 3] = axis * value
            upper = made[above] if above is not None else np.eye(4)
            made[names[joint.body1[0]]] = upper @ frame0 @ motion @ np.linalg.inv(frame1)
            del waiting[name]
        assert len(waiting) < size
    return made


@pytest.mark.parametrize("seed", range(40))
def test_links_are_where_the_file_has_them_whatever_their_poses_are_relative_to(seed: int, tmp_path: Path) -> None:
    tree = random_tree(seed)
    path = written(tmp_path, tree.text)
    with robot_files.robot_as_stage(path, robot_files.RobotOptions()) as (file, plan, _texts):
        model = usd_read.read_stage(usd_read.open_stage(file))
    assert set(plan.bodies) == set(tree.links)
    for name, place in tree.links.items():
        assert np.abs(model.prims[plan.bodies[name]].world - place).max() < 1e-9
    moving = {name for name, joint in tree.joints.items() if joint[0] != "fixed"}
    assert moving <= set(plan.joint_paths)
    rng = random.Random(seed)
    for _ in range(10):
        coordinates = {name: rng.uniform(-2, 2) for name in moving}
        expected, found = tree.at(coordinates), poses_at(plan, model, coordinates)
        # Frames of joints in USD have 32 bits.
        assert max(np.abs(found[name] - expected[name]).max() for name in tree.links) < 1e-5


def test_the_random_models_move_and_nest() -> None:
    trees = [random_tree(seed) for seed in range(40)]
    assert sum("::" in name for tree in trees for name in tree.links) > 30
    assert {joint[0] for tree in trees for joint in tree.joints.values()} == {
        "revolute", "continuous", "prismatic", "fixed"
    }  # fmt: skip
    assert all(len(tree.joints) < len(tree.links) for tree in trees)


def test_the_parts_of_an_arm(tmp_path: Path) -> None:
    plan = planned(tmp_path, ARM)
    prims = {prim.name: prim for prim in plan.model.prims.values()}
    shoulder = prims["shoulder"].get(usd_physics.RevoluteJoint)
    assert shoulder is not None
    assert (shoulder.lower_limit, shoulder.upper_limit, shoulder.axis) == (-1.0, 1.5, "Y")
    assert prims["shoulder"].schemas["PhysicsDriveAPI:angular"].max_force == 20.0  # type: ignore[attr-defined]
    notes = {note.name: note.value for note in plan.notes[prims["shoulder"].path]}
    assert notes["newton:velocityLimit"] == pytest.approx(math.degrees(3))
    assert notes["newton:damping"] == pytest.approx(math.radians(0.5))
    assert notes["newton:friction"] == pytest.approx(0.1)
    follows = {note.name: note.value for note in plan.notes[prims["follows"].path]}
    assert follows["newton:mimicJoint"] == (prims["slide"].path,)
    # 2 (q - 0.02) + 0.01
    assert (follows["newton:mimicCoef1"], follows["newton:mimicCoef0"]) == (2.0, pytest.approx(-0.03))
    assert prims["base"].get(usd_physics.MassAPI).mass == 2.0  # type: ignore[union-attr]
    # The axis of the tip is a frame without a body.
    tip = plan.link_paths["tip"]
    assert tip not in plan.model.bodies and plan.worlds["tip"][2, 3] == pytest.approx(0.6)
    surface = plan.model.prims[next(iter(plan.surfaces.values()))].get(usd_physics.MaterialAPI)
    assert surface is not None
    assert (surface.static_friction, surface.dynamic_friction, surface.restitution) == (0.4, 0.4, 0.25)
    assert not [issue for issue in plan.issues if issue.severity == "error"]


def test_a_robot_that_nothing_holds_is_free_and_one_that_a_joint_holds_is_not(tmp_path: Path) -> None:
    free = planned(tmp_path, model_text("<pose>0 0 1 0 0 0</pose><link name='a'/>"))
    assert free.model.bodies and not free.model.joints and free.worlds["a"][2, 3] == 1.0
    held = "<link name='a'/><joint name='j' type='fixed'><parent>world</parent><child>a</child></joint>"
    assert planned(tmp_path, model_text(held)).fixed_base == ["a"]
    assert planned(tmp_path, model_text("<link name='a'/>"), base="fixed").fixed_base == ["a"]


def test_a_static_model_has_colliders_and_no_body(tmp_path: Path) -> None:
    plan = planned(tmp_path, model_text(f"<static>true</static><pose>1 2 3 0 0 0</pose><link name='a'>{BOX}</link>"))
    assert not plan.model.bodies and [one.is_collider for one in plan.shapes] == [True]
    assert plan.worlds["a"][:3, 3] == pytest.approx((1, 2, 3))


def test_a_link_without_an_inertial_weighs_a_kilogram_as_in_gazebo(tmp_path: Path) -> None:
    plan = planned(tmp_path, model_text("<link name='a'/>"))
    mass = plan.model.prims[plan.bodies["a"]].get(usd_physics.MassAPI)
    assert mass is not None and (mass.mass, mass.diagonal_inertia) == (1.0, (1.0, 1.0, 1.0))


def test_kinematic_links_and_links_without_gravity_say_so_in_the_file(tmp_path: Path) -> None:
    text = model_text("<link name='a'><gravity>0</gravity></link><link name='b'><kinematic>true</kinematic></link>")
    path = written(tmp_path, text)
    with robot_files.robot_as_stage(path, robot_files.RobotOptions()) as (file, plan, _texts):
        stage = usd_read.open_stage(file)
        assert stage.GetPrimAtPath(plan.bodies["a"]).GetAttribute("mjc:gravcomp").Get() == 1.0
        assert stage.GetPrimAtPath(plan.bodies["b"]).GetAttribute("physics:kinematicEnabled").Get() is True
        assert not stage.GetPrimAtPath(plan.bodies["a"]).GetAttribute("physics:kinematicEnabled").HasAuthoredValue()


@pytest.mark.parametrize(("said", "together"), [("", False), ("<self_collide>true</self_collide>", True)])
def test_links_of_a_model_collide_with_each_other_only_where_it_says_so(
    said: str, together: bool, tmp_path: Path
) -> None:  # fmt: skip
    links = (
        f"{said}<link name='a'/><link name='b'/><joint name='j' type='ball'><parent>a</parent><child>b</child></joint>"
    )
    plan = planned(tmp_path, model_text(links))
    notes = [note.value for own in plan.notes.values() for note in own if note.name == "newton:selfCollisionEnabled"]
    assert notes == ([] if together else [False])


def test_the_axis_of_old_files_is_along_the_model(tmp_path: Path) -> None:
    """Version 1.4 has the axis in the frame of the model, 1.5 that of the joint, unless it says otherwise."""
    inside = (
        "<link name='a'/><link name='b'><pose>0 0 0 0 0 1.5707963267948966</pose></link>"
        "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz>{}</axis></joint>"
    )
    expected = {
        ("1.4", ""): (1, 0, 0), ("1.5", ""): (0, 1, 0),
        ("1.5", "<use_parent_model_frame>1</use_parent_model_frame>"): (1, 0, 0),
    }  # fmt: skip
    for (version, said), axis in expected.items():
        plan = planned(tmp_path, model_text(inside.format(said), version))
        joint = plan.robot.joints["j"]
        world = plan.worlds["b"] @ joint.inner
        assert world[:3, :3] @ joint.axis == pytest.approx(axis)


def test_a_link_that_is_only_a_child_of_free_links_hangs_on_one_of_them(tmp_path: Path) -> None:
    """The links of SDF are a graph: a joint is turned round where its child already has a parent."""
    joint = (
        "<joint name='{0}' type='revolute'><parent>{1}</parent><child>{2}</child><axis><xyz>0 0 1</xyz></axis></joint>"
    )
    links = "".join(f"<link name='{name}'><pose>{at} 0 0 0 0 0</pose></link>" for at, name in enumerate("abc"))
    plan = planned(tmp_path, model_text(links + joint.format("j", "a", "b") + joint.format("k", "c", "b")))
    assert [name for name, one in plan.robot.joints.items() if one.type == "floating"] == ["a (free)"]
    turned = plan.robot.joints["k"]
    assert (turned.parent, turned.child, turned.axis) == ("b", "c", (0.0, 0.0, -1.0))
    model = plan.model
    # At 0.3 rad of k, b is turned by 0.3 about +Z as c sees it.
    made = poses_at(plan, model, {"j": 0.2, "k": 0.3})
    seen = np.linalg.inv(made["c"]) @ made["b"]
    assert frames.rotation_vector(seen[:3, :3]) == pytest.approx((0, 0, 0.3), abs=1e-6)
    assert seen[:3, 3] == pytest.approx(np.array([-1, 0, 0]) + (np.eye(3) @ [0, 0, 0]), abs=1e-6)


def test_a_joint_that_closes_a_loop_is_beside_the_tree(tmp_path: Path) -> None:
    axis = "<axis><xyz>0 0 1</xyz></axis>"
    joint = f"<joint name='{{0}}{{1}}' type='revolute'><parent>{{0}}</parent><child>{{1}}</child>{axis}</joint>"
    links = "".join(f"<link name='{name}'><pose>{at} 0 0 0 0 0</pose></link>" for at, name in enumerate("abcd"))
    plan = planned(tmp_path, model_text(links + "".join(joint.format(*pair) for pair in ("ab", "bc", "ad", "dc"))))
    assert list(plan.loop_paths) == ["dc"]
    loop = plan.model.prims[plan.loop_paths["dc"]].get(usd_physics.Joint)
    assert loop is not None and loop.exclude_from_articulation
    ends = [
        plan.model.prims[body[0]].world @ frames.transform(place, frames.matrix_of(turn))
        for body, place, turn in (
            (loop.body0, loop.local_pos0, loop.local_rot0), (loop.body1, loop.local_pos1, loop.local_rot1)
        )
    ]  # fmt: skip
    assert np.abs(ends[0] - ends[1]).max() < 1e-9 and ends[0][0, 3] == pytest.approx(2.0)


def test_a_universal_joint_turns_about_its_first_axis_with_the_parent(tmp_path: Path) -> None:
    joint = (
        "<joint name='j' type='universal'><parent>a</parent><child>b</child>"
        "<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>2</upper></limit></axis>"
        "<axis2><xyz>1 0 0</xyz><limit><lower>-0.5</lower><upper>0.5</upper></limit></axis2></joint>"
    )
    plan = planned(tmp_path, model_text(f"<link name='a'/><link name='b'/>{joint}"))
    prim = plan.model.prims[plan.joint_paths["j"]]
    limits = dict(prim.instances(usd_physics.LimitAPI))
    assert {dof for dof, one in limits.items() if one.low > one.high} == {"transX", "transY", "transZ", "rotZ"}
    assert (limits["rotY"].low, limits["rotY"].high) == (-1.0, 2.0)
    assert (limits["rotX"].low, limits["rotX"].high) == (-0.5, 0.5)
    frame = frames.matrix_of(prim.get(usd_physics.Joint).local_rot0)  # type: ignore[union-attr]
    assert frame[:, 1] == pytest.approx((0, 0, 1)) and frame[:, 0] == pytest.approx((1, 0, 0))
    oblique = joint.replace("<xyz>1 0 0</xyz>", "<xyz>1 0 1</xyz>")
    assert "SdfJointLeftOut" in codes(planned(tmp_path, model_text(f"<link name='a'/><link name='b'/>{oblique}")))


def test_a_spring_of_a_joint_is_a_drive_towards_its_reference(tmp_path: Path) -> None:
    joint = (
        "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>"
        "<dynamics><spring_stiffness>5</spring_stiffness><spring_reference>0.4</spring_reference></dynamics>"
        "</axis></joint>"
    )
    plan = planned(tmp_path, model_text(f"<link name='a'/><link name='b'/>{joint}"))
    drive = plan.model.prims[plan.joint_paths["j"]].schemas["PhysicsDriveAPI:angular"]
    assert (drive.stiffness, drive.target_position, drive.max_force) == (5.0, 0.4, None)  # type: ignore[attr-defined]


def test_shapes_keep_their_sizes(tmp_path: Path) -> None:
    shapes = {
        "sphere": "<sphere><radius>0.3</radius></sphere>",
        "capsule": "<capsule><radius>0.1</radius><length>2</length></capsule>",
        "cone": "<cone><radius>0.5</radius><length>1</length></cone>",
        "plane": "<plane><normal>0 1 0</normal><size>4 6</size></plane>",
        "ellipsoid": "<ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid>",
        "polyline": "<polyline><point>0 0</point><point>1 0</point><point>1 2</point><height>0.5</height></polyline>",
    }  # fmt: skip
    text = "".join(f"<collision name='{name}'><geometry>{one}</geometry></collision>" for name, one in shapes.items())
    path = written(tmp_path, model_text(f"<link name='a'>{text}</link>"))
    with robot_files.robot_as_stage(path, robot_files.RobotOptions()) as (file, _plan, _texts):
        model = usd_read.read_stage(usd_read.open_stage(file))
        meshes = {
            prim.name: prim.mesh() for prim in model.colliders.values() if prim.mesh is not None
        }  # fmt: skip
    kinds = {prim.name: prim.type_name for prim in model.colliders.values()}
    assert kinds == {
        "sphere": "Sphere", "capsule": "Capsule", "cone": "Cone", "plane": "Plane", "ellipsoid": "Mesh",
        "polyline": "Mesh",
    }  # fmt: skip
    normal = next(prim for prim in model.colliders.values() if prim.name == "plane").world[:3, 2]
    assert normal == pytest.approx((0, 1, 0))
    assert np.abs(meshes["ellipsoid"].points).max(axis=0) == pytest.approx((0.1, 0.2, 0.3), abs=1e-6)  # type: ignore[union-attr]
    corners = meshes["polyline"].points  # type: ignore[union-attr]
    triangles = corners[meshes["polyline"].triangles]  # type: ignore[union-attr]
    volume = np.einsum("ij,ij->i", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])).sum() / 6
    assert volume == pytest.approx(0.5)


# ------------------------------------------------------------------ includes


def test_included_models_are_found_by_their_folder_and_take_the_pose_of_the_include(tmp_path: Path) -> None:
    versions = '<sdf version="1.5">old.sdf</sdf><sdf version="1.9">new.sdf</sdf>'
    written(tmp_path, f"<model><name>Wheel</name>{versions}</model>", "wheel/model.config")
    written(tmp_path, model_text("<link name='rim'/>", "1.5"), "wheel/old.sdf")
    inside = (
        "<link name='rim'><collision name='c'><geometry><mesh><uri>rim.stl</uri></mesh></geometry></collision></link>"
        "<frame name='hub'><pose>0 0 0.5 0 0 0</pose></frame>"
    )
    written(tmp_path, model_text(inside), "wheel/new.sdf")
    text = (
        '<sdf version="1.9"><world name="w"><include><uri>model://wheel</uri><name>left</name>'
        "<pose>1 0 0 0 0 0</pose><placement_frame>hub</placement_frame></include>"
        "<include><uri>model://wheel</uri><name>right</name><static>1</static></include></world></sdf>"
    )
    robot = read.read_file(written(tmp_path, text, "world/scene.world"))
    plan = layout.plan(robot, layout.LayoutOptions())
    assert plan.worlds["left::rim"][:3, 3] == pytest.approx((1, 0, -0.5))
    assert set(plan.bodies) == {"left::rim"} and "right::rim" in plan.link_paths
    # The mesh is beside the file that names it.
    assert {placed.shape.uri for placed in plan.shapes} == {str(tmp_path / "wheel" / "rim.stl")}
    assert tmp_path / "wheel" / "new.sdf" in robot.files


def test_a_merged_include_gives_its_parts_to_the_model_above(tmp_path: Path) -> None:
    written(tmp_path, model_text("<link name='b'><pose>0 0 2 0 0 0</pose></link>"), "part/model.sdf")
    text = model_text(
        "<link name='a'/><include merge='true'><uri>part</uri><pose>1 0 0 0 0 0</pose></include>"
        "<joint name='j' type='fixed'><parent>a</parent><child>b</child></joint>"
    )
    plan = planned(tmp_path, text)
    assert plan.worlds["b"][:3, 3] == pytest.approx((1, 0, 2)) and "j" in plan.joint_paths


def test_a_model_is_found_where_the_user_says_and_named_where_it_is_not(tmp_path: Path) -> None:
    written(tmp_path, model_text("<link name='b'/>"), "far/away/part/model.sdf")
    text = model_text(
        "<link name='a'/><include><uri>model://gone/x</uri></include><include><uri>model://p</uri></include>"
    )
    path = written(tmp_path, text, "near/robot.sdf")
    packages = Packages(path.parent, {"p": tmp_path / "far" / "away" / "part"})
    robot = read.read_file(path, packages)
    assert "m::b" in robot.links
    missing = [issue for issue in robot.issues if issue.code == "SdfIncludeMissing"]
    assert len(missing) == 1 and "--package gone=FOLDER" in missing[0].fix


def test_what_robots_in_usd_have_no_word_for_is_named_once(tmp_path: Path) -> None:
    sensors = "<sensor name='s' type='camera'/><sensor name='t' type='imu'/>"
    text = model_text(f"<link name='a'>{sensors}{BOX}</link><plugin name='p' filename='f'/>")
    left = [issue.message for issue in planned(tmp_path, text).issues if issue.code == "SdfLeftOut"]
    assert len(left) == 2 and "'plugin' is left out:" in left[0] and "'sensor' is left out, 2 times" in left[1]


# ------------------------------------------------------------------ hostile and broken files


@pytest.mark.parametrize(
    ("inside", "code"),
    [
        ("<link name='a'><pose relative_to='nowhere'/></link>", "SdfFrameMissing"),
        ("<link name='a'><pose>0 0 nan 0 0 0</pose></link>", "SdfNumber"),
        ("<link name='a'><pose>1 2 3</pose></link>", "SdfNumber"),
        ("<link name='a'/><link name='a'/>", "SdfNameTwice"),
        ("<link name='a'/><joint name='j' type='fixed'><parent>a</parent><child>z</child></joint>", "SdfJointLeftOut"),
        ("<link name='a'/><joint name='j' type='fixed'><parent>a</parent><child>a</child></joint>", "SdfJointLeftOut"),
        ("<link name='a'/><link name='b'/><joint name='j' type='screw'><parent>a</parent><child>b</child></joint>",
         "SdfJointLeftOut"),
        ("<link name='a'><inertial><mass>-1</mass></inertial></link>", "SdfMassNegative"),
        ("<link name='a'><inertial auto='true'/></link>", "SdfMassAutomatic"),
        ("<link name='a'><collision name='c'><geometry><box><size>0 1 1</size></box></geometry></collision></link>",
         "SdfShapeFlat"),
    ],
)  # fmt: skip
def test_one_bad_part_does_not_stop_the_rest(inside: str, code: str, tmp_path: Path) -> None:
    plan = planned(tmp_path, model_text(inside))
    assert code in codes(plan) and "a" in plan.bodies


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<urdf/>", "is no SDF"),
        ('<sdf version="1.9"/>', "no model and no world"),
        (model_text(""), "no link"),
        (model_text("<link name='a'><pose relative_to='b'/></link><link name='b'><pose relative_to='a'/></link>"),
         "relative to itself"),
        (model_text("<link name='a'/><model name='n'><pose relative_to='o'/><link name='b'/></model>"
                    "<model name='o'><pose relative_to='n'/><link name='c'/></model>"), "relative to itself"),
        (model_text("<model name='n'>" * 60 + "<link name='a'/>" + "</model>" * 60), "levels deep"),
        (model_text("<link name='a'/><include><uri>robot.sdf</uri></include>"), "includes itself"),
        ('<!DOCTYPE x [<!ENTITY a "b">]>' + model_text("<link name='a'/>"), "DOCTYPE"),
    ],
)  # fmt: skip
def test_what_is_no_model_ends_in_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=sentence):
        planned(tmp_path, text)


def test_files_that_include_each_other_are_refused_before_they_take_all_memory(tmp_path: Path) -> None:
    """Twenty small files, each of which includes the next one twice: a million links."""
    for index in range(20):
        include = "".join(f"<include><uri>../p{index + 1}</uri><name>n{k}</name></include>" for k in range(2))
        written(tmp_path, model_text(f"<link name='a'/>{include}"), f"p{index}/model.sdf")
    written(tmp_path, model_text("<link name='a'/>"), "p20/model.sdf")
    with pytest.raises(InputError, match="more than 100,000 parts"):
        read.read_file(tmp_path / "p0" / "model.sdf")


def test_a_long_chain_of_relative_poses_is_read(tmp_path: Path) -> None:
    links = "<link name='l0'/>" + "".join(
        f"<link name='l{n}'><pose relative_to='l{n - 1}'>0 0 0.1 0 0 0</pose></link>" for n in range(1, 2000)
    )
    plan = planned(tmp_path, model_text(links))
    assert plan.worlds["l1999"][2, 3] == pytest.approx(199.9)


# ------------------------------------------------------------------ doors


def test_the_commands_take_it_like_any_robot(tmp_path: Path) -> None:
    path = written(tmp_path, ARM)
    row = formats.format_of(str(path))
    assert row is formats.SDF and row is formats.format_of("scene.world")
    target = tmp_path / "out.usda"
    conversion = row.conversions[formats.USD.name]
    issues, counts = conversion.run(str(path), row.options(), str(target), formats.WriteOptions())
    assert target.is_file() and counts["bodies"] == 4 and not [one for one in issues if one.severity == "error"]
    with row.read(str(path), row.options()) as (model, _issues):
        assert len(model.joints) == 4
    with formats.USD.read(str(target), formats.StageOptions()) as (model, _issues):
        assert {prim.get(usd_physics.MassAPI).mass for prim in model.bodies.values()} == {2.0, 1.0}  # type: ignore[union-attr]


def test_the_text_of_the_arm_is_right_by_hand() -> None:
    """The generator of the tests turns as the format says: roll, then pitch, then yaw about fixed axes."""
    made = pose_of(1, 2, 3, math.pi / 2, 0, math.pi / 2)
    assert made[:3, :3] @ (0, 1, 0) == pytest.approx((0, 0, 1))
    assert made[:3, :3] @ (1, 0, 0) == pytest.approx((0, 1, 0))
    assert isinstance(random_tree(1), Tree)
