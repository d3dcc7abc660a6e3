# SPDX-License-Identifier: GPL-3.0-or-later
"""MJCF: read with all that the format leaves out, as bodies and joints that are where MuJoCo has them."""

import base64
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from mjcf_models import ARM, RandomTree, turned
from usdphys_ext.usdphys_addon import cli, formats
from usdphys_ext.usdphys_addon.cli import file_checks
from usdphys_ext.usdphys_addon.core import frames, mass, paths, vendor_schemas
from usdphys_ext.usdphys_addon.core.air import Air
from usdphys_ext.usdphys_addon.core.errors import InputError, OutputError
from usdphys_ext.usdphys_addon.core.joint_settings import following
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.core.units import SI
from usdphys_ext.usdphys_addon.mjcf import layout, read, verify, write
from usdphys_ext.usdphys_addon.simulation.world import World
from usdphys_ext.usdphys_addon.usd import mjcf_file, mjcf_stage
from usdphys_ext.usdphys_addon.usd import read as usd_read


def written(folder: Path, text: str, name: str = "model.xml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def model_of(folder: Path, body: str, head: str = "") -> read.Model:
    return read.read_file(written(folder, f"<mujoco>{head}<worldbody>{body}</worldbody></mujoco>"))


def through_usd(folder: Path, text: str) -> tuple[PhysicsModel, layout.Layout]:
    planned = mjcf_stage.plan(written(folder, text))
    mjcf_stage.write_stage(planned, folder / "out.usda")
    through_usd.stage = usd_read.open_stage(folder / "out.usda")  # keeps it alive
    return usd_read.read_stage(through_usd.stage), planned


def motion(prim: object, joint: usd_physics.Joint, values: list[tuple[str, float]]) -> np.ndarray:
    """What a joint of USD does at values of its degrees of freedom, (4, 4)."""
    x, y, z = np.eye(3)
    if prim.type_name == "PhysicsFixedJoint":
        return np.eye(4)
    if prim.type_name in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        axis = {"X": x, "Y": y, "Z": z}[joint.resolved("axis")]
        value = values[0][1]
        is_hinge = prim.type_name == "PhysicsRevoluteJoint"
        return frames.transform((0, 0, 0), turned(axis, value)) if is_hinge else frames.transform(axis * value)
    amounts = dict.fromkeys(("transX", "transY", "transZ", "rotX", "rotY", "rotZ"), 0.0) | dict(values)
    slide = [amounts[f"trans{letter}"] for letter in "XYZ"]
    # The angles of a generic joint: about Z, then Y, then X, each about the axes that the ones before have turned.
    return frames.transform(slide, turned(z, amounts["rotZ"]) @ turned(y, amounts["rotY"]) @ turned(x, amounts["rotX"]))


def locals_of(joint: usd_physics.Joint, side: int) -> np.ndarray:
    rotation = frames.matrix_of(joint.resolved(f"local_rot{side}"))
    return frames.transform(joint.resolved(f"local_pos{side}"), rotation)


@pytest.mark.parametrize("seed", range(40))
def test_bodies_are_where_mujocos_rules_put_them_for_any_values_of_the_joints(seed: int, tmp_path: Path) -> None:
    tree = RandomTree(seed)
    model, planned = through_usd(tmp_path, tree.text())
    values = tree.values()
    wanted = tree.worlds(values)
    by_joint: dict[str, list[tuple[str, float]]] = {}
    signs = planned.signs
    for name, (path, dof) in planned.joint_paths.items():
        by_joint.setdefault(path, []).append((dof, signs[name] * values[name]))
    holding = {prim.get(usd_physics.Joint).body1[0]: prim for prim in model.joints.values()}

    def world(path: str) -> np.ndarray:
        prim = holding.get(path)
        if prim is None:
            return model.prims[path].world
        joint = prim.get(usd_physics.Joint)
        base = world(joint.body0[0]) if joint.body0 else np.eye(4)
        own = np.linalg.inv(locals_of(joint, 1))
        return base @ locals_of(joint, 0) @ motion(prim, joint, by_joint.get(prim.path, [])) @ own

    for name, expected in wanted.items():
        if f"/tree/{name}" in model.bodies:
            assert world(f"/tree/{name}") == pytest.approx(expected, abs=3e-6), name


def test_a_model_becomes_bodies_joints_drives_and_colliders(tmp_path: Path) -> None:
    model, planned = through_usd(tmp_path, ARM)
    assert [issue.code for issue in planned.issues] == []
    assert {path.rsplit("/", 1)[1] for path in model.bodies} == {"upper", "hand", "one", "two", "ball"}
    shoulder = model.joints["/arm/joints/shoulder"]
    joint = shoulder.get(usd_physics.RevoluteJoint)
    assert (joint.lower_limit, joint.upper_limit) == pytest.approx((-math.pi / 2, math.pi / 2))
    drive = shoulder.schemas["PhysicsDriveAPI:angular"]
    assert (drive.stiffness, drive.damping, drive.max_force) == pytest.approx((50, 4, 20), rel=1e-5)
    newton = shoulder.schemas["NewtonJointAPI"]
    assert (newton.armature, newton.damping, newton.friction) == pytest.approx((0.01, 0.1, 0.2), rel=1e-5)
    wrist = model.joints["/arm/joints/wrist_x"]
    assert wrist.type_name == "PhysicsJoint"
    limits = {name: (limit.low, limit.high) for name, limit in wrist.instances(usd_physics.LimitAPI)}
    free = [name for name, (low, high) in limits.items() if low <= high]
    assert sorted(free) == ["rotY", "rotZ"] and all(
        sorted(map(abs, limits[name])) == pytest.approx([math.pi / 6, math.pi / 3]) for name in free
    )
    ball = model.prims["/arm/ball"].get(usd_physics.MassAPI)
    assert ball.mass == pytest.approx(2) and ball.diagonal_inertia == pytest.approx([0.008] * 3)
    hand = model.prims["/arm/hand"].get(usd_physics.MassAPI)
    assert (hand.mass, hand.center_of_mass) == (pytest.approx(0.3), pytest.approx((0, 0, 0.02)))
    finger = model.prims["/arm/one"].get(usd_physics.MassAPI)
    volume = math.pi * 0.01**2 * 0.1 + 4 / 3 * math.pi * 0.01**3
    assert finger.mass == pytest.approx(500 * volume, rel=1e-5)
    assert "/arm/upper/wedge" not in model.colliders and "/arm/upper/bone" in model.colliders
    assert model.prims["/arm/one"].get(usd_physics.FilteredPairsAPI).filtered_pairs == ("/arm/two",)
    mimic = model.joints["/arm/joints/two"].schemas["NewtonMimicAPI"]
    assert mimic.mimic_joint == ("/arm/joints/one",) and mimic.mimic_coef1 == -1
    friction = {prim.get(usd_physics.MaterialAPI).dynamic_friction for prim in model.materials.values()}
    assert sorted(friction) == pytest.approx([0.7, 1.0])
    scene = next(iter(model.scenes.values())).schemas["MjcSceneAPI"]
    assert scene.timestep == pytest.approx(0.002)
    assert "/arm/actuators/push" in {prim.path for prim in planned.model.prims.values()}


def test_angles_orders_and_orientations_are_those_of_the_compiler(tmp_path: Path) -> None:
    body = '<body name="b" {}><geom size="1"/></body>'

    def turn(attribute: str, head: str = "") -> np.ndarray:
        return model_of(tmp_path, body.format(attribute), head).bodies[1].pose[:3, :3]

    x, y, z = np.eye(3)
    half = math.pi / 2
    assert turn('euler="90 0 0"') == pytest.approx(turned(x, half))
    assert turn('euler="1.5707963267948966 0 0"', '<compiler angle="radian"/>') == pytest.approx(turned(x, half))
    mixed = turned(x, 0.1) @ turned(y, 0.2) @ turned(z, 0.3)
    assert turn('euler="0.1 0.2 0.3"', '<compiler angle="radian"/>') == pytest.approx(mixed)
    fixed = turned(z, 0.3) @ turned(y, 0.2) @ turned(x, 0.1)
    assert turn('euler="0.1 0.2 0.3"', '<compiler angle="radian" eulerseq="XYZ"/>') == pytest.approx(fixed)
    assert turn('axisangle="0 0 2 90"') == pytest.approx(turned(z, half))
    assert turn('zaxis="1 0 0"')[:, 2] == pytest.approx(x)
    assert turn('xyaxes="0 1 0 -1 0 0"') == pytest.approx(turned(z, half))
    assert turn('quat="2 0 0 2"') == pytest.approx(turned(z, half))


def test_classes_frames_and_replicas_are_written_out(tmp_path: Path) -> None:
    head = (
        '<default><geom size="0.2"/><default class="a"><geom rgba="1 0 0 1"/>'
        '<default class="b"><geom size="0.3"/></default></default></default>'
    )
    model = model_of(
        tmp_path,
        '<body name="one" childclass="b"><geom/><geom class="a"/><geom class="main"/></body>'
        '<frame pos="1 0 0" euler="0 0 90"><body name="two" pos="1 0 0"><geom/></body></frame>'
        '<replicate count="3" offset="0 0 1" sep="_"><body name="row"><geom/></body></replicate>',
        head,
    )
    one, two, *rows = model.bodies[1:]
    assert [geom.size for geom in one.geoms] == [(0.3,), (0.2,), (0.2,)]
    assert [geom.rgba for geom in one.geoms] == [(1, 0, 0, 1), (1, 0, 0, 1), None]
    assert two.pose[:3, 3] == pytest.approx((1, 1, 0))
    assert [body.name for body in rows] == ["row_0", "row_1", "row_2"]
    assert [body.pose[2, 3] for body in rows] == pytest.approx([0, 1, 2])


def test_includes_are_put_in_place_and_stay_near_the_model(tmp_path: Path) -> None:
    folder = tmp_path / "robot"
    folder.mkdir()
    written(folder, '<mujoco><body name="in"><geom size="1"/></body></mujoco>', "part.xml")
    main = written(folder, '<mujoco><worldbody><include file="part.xml"/></worldbody></mujoco>')
    assert [body.name for body in read.read_file(main).bodies] == ["world", "in"]
    for name in ("gone.xml", "../../../../etc/passwd", "model.xml"):
        written(folder, f'<mujoco><worldbody><include file="{name}"/></worldbody></mujoco>')
        with pytest.raises(InputError, match="includes"):
            read.read_file(main)


@pytest.mark.parametrize("text, said", [
    ("<robot/>", "no model of MuJoCo"), ("<mujoco", "not XML"), ("<mujoco/>", "no body"),
    ('<mujoco><worldbody><geom size="a"/></worldbody></mujoco>', "no list of numbers"),
    ('<mujoco><worldbody><geom size="nan"/></worldbody></mujoco>', "not finite"),
    ('<mujoco><worldbody><body pos="1e308 0 0"><freejoint/><geom size="1e308"/></body></worldbody></mujoco>',
     "beyond 1e\\+15"),
    ('<mujoco><worldbody><body><joint type="screw"/></body></worldbody></mujoco>', "no type of joint"),
    ('<mujoco><worldbody><replicate count="99999999"><geom size="1"/></replicate></worldbody></mujoco>', "more than"),
    ("<!DOCTYPE x><mujoco/>", "model.xml"),
])  # fmt: skip
def test_bad_files_are_refused_in_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        mjcf_stage.plan(written(tmp_path, text))


def test_what_is_not_read_is_named_once_for_each_kind(tmp_path: Path) -> None:
    model = model_of(
        tmp_path, '<light/><light/><camera/><geom type="mesh" mesh="none"/><geom size="1" class="nowhere"/>',
        "<tendon><fixed/></tendon><asset><mesh name='far' file='far.stl'/></asset>",
    )  # fmt: skip
    assert [issue.code for issue in model.issues] == ["MjcfMeshMissing", "MjcfClassMissing", *["MjcfUnread"] * 3]
    assert "2 lights" in " ".join(issue.message for issue in model.issues)
    assert "MjcfMeshMissing" in [issue.code for issue in layout.plan(model).issues[3:]]


@pytest.mark.parametrize("stiffness", [0, 3])
def test_a_largest_force_beside_a_spring_is_named(stiffness: float, tmp_path: Path) -> None:
    """A drive is spring and servo in one here, and its largest force would hold back the spring as well."""
    text = (
        f'<mujoco><worldbody><body><joint name="pin" stiffness="{stiffness}"/><geom size=".1"/></body></worldbody>'
        '<actuator><position joint="pin" kp="5" forcerange="-2 2"/></actuator></mujoco>'
    )
    _, planned = through_usd(tmp_path, text)
    drives = [prim.schemas.get("PhysicsDriveAPI:angular") for prim in planned.model.joints.values()]
    assert [drive.max_force for drive in drives] == [None if stiffness else 2.0]
    assert any("largest force" in issue.message for issue in planned.issues) == bool(stiffness)


@pytest.mark.parametrize(
    ("bias", "target", "speed"), [("3 0 -4", None, 0.75), ("3 -6 -4", 0.5, None), ("0 0 -4", None, None)]
)
def test_what_a_servo_aims_at_without_a_control_is_read(
    bias: str, target: float | None, speed: float | None, tmp_path: Path
) -> None:
    """The wheels of a car stood still after a way through MJCF: the speed of their drives was not read."""
    model, _ = through_usd(tmp_path, f"""<mujoco><worldbody><body><joint name="axle" axis="0 0 1"/>
      <geom size="0.1"/></body></worldbody><actuator>
      <general joint="axle" gainprm="4" biastype="affine" biasprm="{bias}"/></actuator></mujoco>""")  # fmt: skip
    drive = next(iter(model.joints.values())).schemas["PhysicsDriveAPI:angular"]
    assert (drive.target_position or 0.0) == pytest.approx(target or 0.0)
    assert (drive.target_velocity or 0.0) == pytest.approx(speed or 0.0)


def test_a_closed_mesh_weighs_what_its_volume_says_and_an_open_one_its_pyramids(tmp_path: Path) -> None:
    cube = "0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1"
    asset = f'<asset><mesh name="c" vertex="{cube}" scale="0.2 0.2 0.2"/></asset>'
    model, _ = through_usd(
        tmp_path, f'<mujoco model="m">{asset}<worldbody><body name="b"><freejoint/>'
        '<geom type="mesh" mesh="c" density="100"/></body></worldbody></mujoco>',
    )  # fmt: skip
    mass = model.prims["/m/b"].get(usd_physics.MassAPI)
    assert mass.mass == pytest.approx(0.8, rel=1e-5) and mass.center_of_mass == pytest.approx((0.1,) * 3)
    assert mass.diagonal_inertia == pytest.approx([0.8 * 0.04 / 6] * 3, rel=1e-5)


def test_a_quadrilateral_that_is_not_flat_is_split_where_mujoco_splits_it(tmp_path: Path) -> None:
    points = ((0, 0, 0), (3, 0, 0.5), (3.2, 1, 0), (0.2, 1.2, 0.4), (1, 0.5, -2))
    for order in (0, 1):
        corners = [(number + order) % 4 + 1 for number in range(4)]
        sides = [f"f {corners[at]} {corners[at - 1]} 5" for at in range(4)]
        lines = [*(f"v {x} {y} {z}" for x, y, z in points), f"f {' '.join(map(str, corners))}", *sides]
        (tmp_path / "roof.obj").write_text("\n".join(lines) + "\n")
        text = (
            '<mujoco model="m"><asset><mesh name="roof" file="roof.obj" inertia="legacy"/></asset><worldbody>'
            '<body name="b"><freejoint/><geom type="mesh" mesh="roof"/></body></worldbody></mujoco>'
        )
        model, planned = through_usd(tmp_path, text)
        import mujoco

        judge = mujoco.MjModel.from_xml_path(str(planned.source.path))
        assert model.prims["/m/b"].get(usd_physics.MassAPI).mass == pytest.approx(judge.body("b").mass[0], rel=1e-5)


def test_masks_become_groups_that_pass_through_each_other(tmp_path: Path) -> None:
    text = (
        '<mujoco model="m"><worldbody><geom name="a" size="1" contype="1" conaffinity="1"/>'
        '<geom name="b" size="1" contype="2" conaffinity="2"/><geom name="c" size="1" contype="3" conaffinity="3"/>'
        "</worldbody></mujoco>"
    )
    model, _ = through_usd(tmp_path, text)
    groups = {prim.path: prim.get(usd_physics.CollisionGroup) for prim in model.groups.values()}
    filtered = {path.rsplit("_", 2)[1]: [one.rsplit("_", 2)[1] for one in group.filtered_groups or ()]
                for path, group in groups.items()}  # fmt: skip
    assert filtered == {"1": ["2"], "2": ["1"], "3": []}


def test_a_pendulum_of_mjcf_swings_with_its_period(tmp_path: Path) -> None:
    text = (
        '<mujoco model="m"><compiler angle="radian"/><worldbody><body name="bob" pos="0 0 2" euler="0 0.05 0">'
        '<joint name="pin" axis="0 1 0"/><geom type="sphere" size="0.02" pos="0 0 -1" mass="1"/></body></worldbody>'
        "</mujoco>"
    )
    model, _ = through_usd(tmp_path, text)
    world = World(model, time_step=1 / 240)
    angles = []
    for _ in range(960):
        world.step()
        matrix = world.matrices()[0]
        angles.append(math.atan2(matrix[0, 2], matrix[2, 2]))
    signs = np.sign(angles)
    crossings = np.flatnonzero(signs[1:] != signs[:-1]) / 240
    assert np.diff(crossings).mean() == pytest.approx(math.pi * math.sqrt(1.0 / 9.81), rel=5e-3)


def test_xml_is_a_format_of_the_command_line(tmp_path: Path) -> None:
    path = written(tmp_path, ARM, "arm.xml")
    row = formats.format_of(str(path))
    assert row is formats.MJCF
    issues, counts = row.conversions["USD file"].run(
        str(path), formats.MjcfChoices(), str(tmp_path / "arm.usda"), formats.WriteOptions()
    )
    assert counts["bodies"] == 5 and not [issue for issue in issues if issue.code == "FileDiffers"]
    with row.read(str(path), formats.MjcfChoices()) as (model, _):
        assert len(model.joints) == 4


def test_other_files_of_type_xml_in_a_folder_are_passed_over(tmp_path: Path) -> None:
    written(tmp_path, ARM, "arm.xml")
    written(tmp_path, "<package><name>arm</name></package>", "package.xml")
    assert [Path(name).name for name in file_checks.named_files([str(tmp_path)])] == ["arm.xml"]


# --------------------------------------------------------------------------- written


def judged(text: str) -> tuple[object, object]:
    """A model and its state in MuJoCo itself."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(text)
    return model, mujoco.MjData(model)


def placed_by_mujoco(model: object, data: object, values: dict[str, float]) -> dict[str, np.ndarray]:
    """Matrices (4, 4) of bodies by name, at values of joints by name."""
    import mujoco

    for name, value in values.items():
        data.qpos[model.joint(name).qposadr[0]] = value
    mujoco.mj_kinematics(model, data)
    return {
        model.body(row).name: frames.transform(data.xpos[row], data.xmat[row].reshape(3, 3))
        for row in range(1, model.nbody)
    }


@pytest.mark.parametrize("is_swapped", [False, True], ids=["in order", "sides swapped"])
@pytest.mark.parametrize("seed", range(12))
def test_what_is_written_stands_and_moves_in_mujoco_as_the_source_does(
    seed: int, is_swapped: bool, tmp_path: Path
) -> None:
    tree = RandomTree(seed)
    model, planned = through_usd(tmp_path, tree.text())
    if is_swapped:
        for prim in model.joints.values():
            joint = prim.get(usd_physics.Joint)
            if prim.type_name != "PhysicsJoint":
                swapped = [
                    getattr(joint, f"{word}{side}") for side in (1, 0) for word in ("body", "local_pos", "local_rot")
                ]
                for side in (0, 1):
                    for word in ("body", "local_pos", "local_rot"):
                        setattr(joint, f"{word}{side}", swapped.pop(0))
    made = write.text_of(model, "tree")
    values = tree.values()
    wanted = placed_by_mujoco(*judged(tree.text()), values)
    own = {}
    for name, (path, dof) in planned.joint_paths.items():
        is_single = dof in ("angular", "linear")
        sign = -1.0 if is_swapped and is_single else 1.0
        own[made.names[path if is_single else f"{path}.{dof}"]] = sign * planned.signs[name] * values[name]
    found = placed_by_mujoco(*judged(made.text), own)
    for path, name in made.names.items():
        if path in model.bodies and path.rsplit("/", 1)[1] in wanted:
            assert found[name] == pytest.approx(wanted[path.rsplit("/", 1)[1]], abs=5e-6), name


def test_the_arm_comes_back_with_its_masses_limits_and_servo(tmp_path: Path) -> None:
    model, _ = through_usd(tmp_path, ARM)
    made = write.text_of(model, "arm")
    before, _ = judged(ARM)
    after, _ = judged(made.text)
    for name in ("upper", "hand", "one", "two", "ball"):
        assert after.body(name).mass[0] == pytest.approx(before.body(name).mass[0], rel=1e-5)
        assert sorted(after.body(name).inertia) == pytest.approx(sorted(before.body(name).inertia), rel=1e-4)
    assert after.joint("shoulder").range == pytest.approx(before.joint("shoulder").range)
    for word in ("armature", "damping", "frictionloss"):
        assert getattr(after.joint("shoulder"), word)[0] == pytest.approx(getattr(before.joint("shoulder"), word)[0])
    servo = after.actuator("shoulder_drive")
    assert servo.gainprm[0] == pytest.approx(50, rel=1e-5) and servo.biasprm[1:3] == pytest.approx([-50, -4], rel=1e-5)
    assert servo.forcerange == pytest.approx([-20, 20]) and after.neq == 1
    issues, _ = mjcf_file.write_file(through_usd.stage, model, tmp_path / "out.xml")
    assert not [issue for issue in issues if issue.severity == "error"]


def test_what_lifts_a_body_against_gravity_goes_both_ways(tmp_path: Path) -> None:
    """`gravcomp` of MJCF is the gravity factor of the model, and gravity that PhysX switches off is a whole one."""
    given = (("light", ' gravcomp="0.75"'), ("floating", ' gravcomp="1"'), ("plain", ""))
    bodies = "".join(
        f'<body name="{name}" pos="{row} 0 1"{lift}><freejoint/><geom type="sphere" size=".1"/></body>'
        for row, (name, lift) in enumerate(given)
    )
    model, _ = through_usd(tmp_path, f'<mujoco model="m"><worldbody>{bodies}</worldbody></mujoco>')
    factors = {prim.name: mass.gravity_factor(prim) for prim in model.bodies.values()}
    assert factors == {"light": pytest.approx(0.25), "floating": 0.0, "plain": 1.0}
    switched_off = vendor_schemas.made("PhysxRigidBodyAPI", {"physxRigidBody:disableGravity": True})
    model.prims["/m/plain"].add(switched_off)
    made = write.text_of(model, "m")
    assert list(verify.differences(model, made, made.text, tmp_path / "m.xml")) == []
    after, _ = judged(made.text)
    lifts = {name: after.body_gravcomp[after.body(name).id] for name in factors}
    assert lifts == {"light": pytest.approx(0.75), "floating": 1.0, "plain": 1.0}


def test_what_mujoco_has_no_word_for_in_a_body_is_named(tmp_path: Path) -> None:
    model, _ = through_usd(tmp_path, ARM)
    prim = next(iter(model.bodies.values()))
    prim.get(usd_physics.RigidBodyAPI).velocity = (1.0, 0.0, 0.0)
    prim.add(vendor_schemas.made(
        "PhysxRigidBodyAPI", {"physxRigidBody:linearDamping": 0.5, "physxRigidBody:lockedPosAxis": 1}
    ))  # fmt: skip
    said = [issue.message for issue in write.text_of(model, "arm").issues if issue.path == prim.path]
    assert any("velocity, linearDamping, lockedPosAxis" in message for message in said), said


def test_a_loop_a_rope_and_a_moving_anchor_are_written(tmp_path: Path) -> None:
    from pxr import Gf, UsdGeom, UsdPhysics

    stage = usd_read.Usd.Stage.CreateInMemory()
    for number in range(4):
        cube = UsdGeom.Cube.Define(stage, f"/w/c{number}")
        cube.AddTranslateOp().Set((3.0 * number, 0.0, 1.0))
        UsdPhysics.CollisionAPI.Apply(cube.GetPrim())
        UsdPhysics.RigidBodyAPI.Apply(cube.GetPrim()).CreateKinematicEnabledAttr(number == 0)
    for number, (kind, one, other) in enumerate(
        (("Revolute", 0, 1), ("Spherical", 1, 2), ("Revolute", 2, 0), ("Distance", 2, 3), ("Fixed", 3, None))
    ):
        joint = getattr(UsdPhysics, f"{kind}Joint").Define(stage, f"/w/j{number}")
        joint.CreateBody0Rel().SetTargets([f"/w/c{one}"])
        places = [3.0 * one, 3.0 * one]
        if other is not None:
            joint.CreateBody1Rel().SetTargets([f"/w/c{other}"])
            places[1] = 3.0 * other
        middle = 1.5 * (one + (one if other is None else other))
        for side, place in enumerate(places):
            at = (middle - place, 0, 0) if not (other is None and side) else (9.0, 0.0, 1.0)
            getattr(joint, f"CreateLocalPos{side}Attr")(Gf.Vec3f(*at))
        if kind == "Distance":
            joint.CreateMaxDistanceAttr(3.0)
    text = write.text_of(usd_read.read_stage(stage), "loop").text
    model, data = judged(text)
    import mujoco

    assert model.nmocap == 1 and model.neq == 2 and model.ntendon == 1
    mujoco.mj_forward(model, data)
    # What closes the loop is closed at the start.
    assert np.abs(data.efc_pos[: data.ne]).max() < 1e-6


@pytest.mark.parametrize("own", ["", "limit", "drive", "friction"])
def test_what_a_hinge_that_closes_a_loop_loses_is_said(own: str) -> None:
    """The limits of the last hinge of a linkage were left out without a word."""
    from pxr import Gf, Sdf, UsdGeom, UsdPhysics

    stage = usd_read.Usd.Stage.CreateInMemory()
    for number in range(3):
        cube = UsdGeom.Cube.Define(stage, f"/w/c{number}")
        cube.AddTranslateOp().Set((3.0 * number, 0.0, 1.0))
        UsdPhysics.RigidBodyAPI.Apply(cube.GetPrim())
    for number in range(3):
        joint = UsdPhysics.RevoluteJoint.Define(stage, f"/w/j{number}")
        ends = (number, (number + 1) % 3)
        for side, end in enumerate(ends):
            getattr(joint, f"CreateBody{side}Rel")().SetTargets([f"/w/c{end}"])
            getattr(joint, f"CreateLocalPos{side}Attr")(Gf.Vec3f(1.5 * sum(ends) - 3.0 * end, 0, 0))
    # All of them, as the one that loses nothing would close the loop.
    for prim in (stage.GetPrimAtPath(f"/w/j{number}") for number in range(3)):
        if own == "limit":
            UsdPhysics.RevoluteJoint(prim).CreateUpperLimitAttr(45.0)
        elif own == "drive":
            UsdPhysics.DriveAPI.Apply(prim, "angular").CreateDampingAttr(1.0)
        elif own == "friction":
            prim.AddAppliedSchema("NewtonJointAPI")
            prim.CreateAttribute("newton:friction", Sdf.ValueTypeNames.Float).Set(1.0)
    issues = write.text_of(usd_read.read_stage(stage), "loop").issues
    said = [issue.message for issue in issues if "closes a loop by points" in issue.message]
    assert len(said) == bool(own)
    assert all("/w/j2 are left out" in message for message in said)


def test_joints_that_mujoco_cannot_close_loops_by_are_named_once_and_not_counted(tmp_path: Path) -> None:
    from pxr import UsdGeom, UsdPhysics

    stage = usd_read.Usd.Stage.CreateInMemory()
    for number in range(4):
        cube = UsdGeom.Cube.Define(stage, f"/w/c{number}")
        UsdPhysics.CollisionAPI.Apply(cube.GetPrim())
        UsdPhysics.RigidBodyAPI.Apply(cube.GetPrim())
        for other in range(number):
            joint = UsdPhysics.Joint.Define(stage, f"/w/j{other}{number}")
            joint.CreateBody0Rel().SetTargets([f"/w/c{other}"])
            joint.CreateBody1Rel().SetTargets([f"/w/c{number}"])
    issues, counts = mjcf_file.write_file(stage, usd_read.read_stage(stage), tmp_path / "out.xml")
    (said,) = [issue.message for issue in issues if "closes no loop by a PhysicsJoint" in issue.message]
    assert "and 2 more" in said and counts["joints"] == 3


def test_an_empty_model_is_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match="no body and no collider"):
        write.text_of(PhysicsModel(), "nothing")


def test_a_flat_mesh_and_an_impossible_inertia_are_written_as_what_mujoco_takes(tmp_path: Path) -> None:
    from pxr import UsdGeom, UsdPhysics

    stage = usd_read.Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    mesh = UsdGeom.Mesh.Define(stage, "/w/quad")
    mesh.CreatePointsAttr([(-2, -1, 0), (2, -1, 0), (2, 1, 0), (0, 1, 0), (-2, 1, 0)])
    mesh.CreateFaceVertexCountsAttr([5])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 3, 4])
    UsdPhysics.CollisionAPI.Apply(mesh.GetPrim())
    ball = UsdGeom.Sphere.Define(stage, "/w/ball")
    for api in (UsdPhysics.RigidBodyAPI, UsdPhysics.CollisionAPI):
        api.Apply(ball.GetPrim())
    mass = UsdPhysics.MassAPI.Apply(ball.GetPrim())
    mass.CreateMassAttr(1.0)
    mass.CreateDiagonalInertiaAttr((1.0, 1.0, 5.0))
    mass.CreatePrincipalAxesAttr(usd_read.Gf.Quatf(1, 0, 0, 0))
    made = write.text_of(usd_read.read_stage(stage), "flat")
    assert [issue.code for issue in made.issues] == ["MjcfNotSaid"] * 2
    model, _ = judged(made.text)
    assert sorted(model.geom("quad").size) == pytest.approx([0.001, 1.0, 2.0])


@pytest.mark.parametrize(("kind", "sizes"), [
    ("Capsule", {"radius": 0.3, "height": 0}), ("Cylinder", {"radius": 0.3, "height": 0}),
    ("Cone", {"radius": 0.3, "height": 0}), ("Cylinder", {"radius": 0, "height": 1}), ("Sphere", {"radius": 0}),
    ("Cube", {"size": 0}),
])  # fmt: skip
def test_a_shape_with_a_size_of_zero_is_written_as_what_mujoco_takes(kind: str, sizes: dict[str, float]) -> None:
    from pxr import UsdGeom, UsdPhysics

    stage = usd_read.Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    shape = getattr(UsdGeom, kind).Define(stage, "/w/shape")
    for name, value in sizes.items():
        shape.GetPrim().GetAttribute(name).Set(float(value))
    UsdPhysics.CollisionAPI.Apply(shape.GetPrim())
    made = write.text_of(usd_read.read_stage(stage), "zero")
    model, _ = judged(made.text)
    if kind == "Capsule":
        # Without a height it is a ball.
        assert made.issues == []
        assert model.geom("shape").size[0] == pytest.approx(0.3) and model.geom("shape").size[1] == 0
    else:
        assert ["a size of zero" in issue.message for issue in made.issues] == [True]


def test_the_box_of_a_flat_mesh_is_written_as_what_mujoco_takes() -> None:
    from pxr import UsdGeom, UsdPhysics

    stage = usd_read.Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    mesh = UsdGeom.Mesh.Define(stage, "/w/quad")
    mesh.CreatePointsAttr([(-2, -1, 0), (2, -1, 0), (2, 1, 0), (-2, 1, 0)])
    mesh.CreateFaceVertexCountsAttr([4])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 3])
    UsdPhysics.CollisionAPI.Apply(mesh.GetPrim())
    UsdPhysics.MeshCollisionAPI.Apply(mesh.GetPrim()).CreateApproximationAttr("boundingCube")
    made = write.text_of(usd_read.read_stage(stage), "flat")
    assert ["a size of zero" in issue.message for issue in made.issues] == [True]
    model, _ = judged(made.text)
    assert sorted(model.geom("quad").size) == pytest.approx([0.001, 1.0, 2.0])


@pytest.mark.parametrize(("is_sheared", "codes"), [(False, set()), (True, {"RigidBodyOrientationScale"})])
def test_a_body_that_is_turned_and_scaled_is_no_error_where_it_is_not_sheared(
    tmp_path: Path, is_sheared: bool, codes: set[str]
) -> None:
    """What OpenUSD's validators make of rounding in a USD file says nothing of a model of MuJoCo."""
    from pxr import UsdGeom, UsdPhysics

    stage = usd_read.Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    above = UsdGeom.Xform.Define(stage, "/w")
    (above.AddScaleOp() if is_sheared else above.AddTranslateOp()).Set((1.0, 3.0, 1.0))
    box = UsdGeom.Cube.Define(stage, "/w/box")
    box.AddRotateXYZOp().Set((20.0, 30.0, 40.0))
    box.AddScaleOp().Set((1.0, 2.0, 2.0))
    for api in (UsdPhysics.RigidBodyAPI, UsdPhysics.CollisionAPI):
        api.Apply(box.GetPrim())
    issues, _ = mjcf_file.write_file(stage, usd_read.read_stage(stage), tmp_path / "out.xml")
    assert {issue.code for issue in issues if issue.severity == "error"} == codes


@pytest.mark.parametrize("number", [math.nan, math.inf, 3e38])
def test_a_mesh_with_a_point_that_is_nowhere_is_left_out_by_name(tmp_path: Path, number: float) -> None:
    from pxr import UsdGeom, UsdPhysics

    stage = usd_read.Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    for name, api in (("solid", UsdPhysics.CollisionAPI), ("seen", None)):
        mesh = UsdGeom.Mesh.Define(stage, f"/w/{name}")
        mesh.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, number)])
        mesh.CreateFaceVertexCountsAttr([3, 3, 3, 3])
        mesh.CreateFaceVertexIndicesAttr([0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3])
        if api is not None:
            api.Apply(mesh.GetPrim())
    UsdPhysics.CollisionAPI.Apply(UsdGeom.Sphere.Define(stage, "/w/ball").GetPrim())
    source, made = tmp_path / "a.usda", tmp_path / "a.xml"
    stage.GetRootLayer().Export(str(source))
    assert cli.main(["convert", str(source), str(made)]) == 0
    assert "nan" not in made.read_text() and "inf" not in made.read_text() and "<mesh" not in made.read_text()


@pytest.mark.parametrize("kind", ["Mesh", "Cube"])
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_what_is_only_seen_and_has_no_place_is_left_out_by_name(tmp_path, capsys, kind: str, number: float) -> None:
    from pxr import UsdGeom, UsdPhysics

    stage = usd_read.Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    seen = getattr(UsdGeom, kind).Define(stage, "/w/lost")
    if kind == "Mesh":
        seen.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
        seen.CreateFaceVertexCountsAttr([3, 3, 3, 3])
        seen.CreateFaceVertexIndicesAttr([0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3])
        seen.CreateNormalsAttr([(0, 0, 1)] * 4)
    seen.AddScaleOp().Set((1, number, 1))
    UsdPhysics.CollisionAPI.Apply(UsdGeom.Sphere.Define(stage, "/w/ball").GetPrim())
    source, made = tmp_path / "a.usda", tmp_path / "a.xml"
    stage.GetRootLayer().Export(str(source))
    assert cli.main(["convert", str(source), str(made)]) == 0
    assert "lost" not in made.read_text() and "nan" not in made.read_text()
    assert "'lost'" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["float", "string[]", "float[]", "asset"])
@pytest.mark.parametrize("word", ["primvars:displayColor", "points", "normals", "faceVertexCounts"])
def test_geometry_of_another_type_than_usd_asks_for_does_not_stop_the_rest(tmp_path, word: str, kind: str) -> None:
    value = {"float": "1.5", "string[]": '["a"]', "float[]": "[1, 2]", "asset": "@a@"}[kind]
    values = {"points": ("point3f[]", "[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]"),
              "faceVertexCounts": ("int[]", "[3, 3, 3, 3]"),
              "faceVertexIndices": ("int[]", "[0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]"), word: (kind, value)}  # fmt: skip
    lines = "".join(f"    {one} {name} = {text}\n" for name, (one, text) in values.items())
    source, made = tmp_path / "a.usda", tmp_path / "a.xml"
    source.write_text(f"""#usda 1.0
(
    metersPerUnit = 1
)
def Mesh "seen"
{{
{lines}}}
def Sphere "ball" (
    prepend apiSchemas = ["PhysicsCollisionAPI"]
)
{{
}}
""")
    assert cli.main(["convert", str(source), str(made)]) == 0
    assert 'name="ball"' in made.read_text()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_mesh_of_less_than_four_points_is_a_thin_box(tmp_path: Path, count: int) -> None:
    from pxr import UsdGeom, UsdPhysics

    stage = usd_read.Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    mesh = UsdGeom.Mesh.Define(stage, "/w/sliver")
    mesh.CreatePointsAttr([(0, 0, 0), (2, 0, 0), (0, 2, 0)][:count])
    mesh.CreateFaceVertexCountsAttr([3])
    mesh.CreateFaceVertexIndicesAttr([0, 1 % count, 2 % count])
    UsdPhysics.CollisionAPI.Apply(mesh.GetPrim())
    source, made = tmp_path / "a.usda", tmp_path / "a.xml"
    stage.GetRootLayer().Export(str(source))
    assert cli.main(["convert", str(source), str(made)]) == 0
    model, _ = judged(made.read_text())
    assert sorted(model.geom("sliver").size)[0] == pytest.approx(0.001)


# --------------------------------------------------------------------------- several servos, filters, ratios, proofs


def arm_with(actuators: str, joint: str = "") -> str:
    return (
        f'<mujoco model="m"><worldbody><body name="b"><joint name="pin" range="-60 60" {joint}/>'
        '<geom type="box" size=".1 .2 .3" pos="0.4 0 0" mass="2"/></body></worldbody>'
        f"<actuator>{actuators}</actuator></mujoco>"
    )


@pytest.mark.parametrize("actuators, joint, most, said", [
    ('<position joint="pin" kp="5" forcerange="-2 2"/><velocity joint="pin" kv="1" forcerange="-3 3"/>', "", 5.0,
     "all of"),
    ('<position joint="pin" kp="5" forcerange="-2 2"/><velocity joint="pin" kv="1"/>', "", None, "other servos"),
    ('<position joint="pin" kp="5"/>', 'actuatorfrcrange="-4 4"', 4.0, ""),
    ('<position joint="pin" kp="5" forcerange="-9 9" gear="2"/>', 'actuatorfrcrange="-4 4"', 4.0, ""),
    ('<general joint="pin" gainprm="5" biastype="affine" biasprm="0 -5 0" dyntype="filter" dynprm="0.1"/>', "", None,
     "filter"),
    ('<position joint="pin" kp="5" timeconst="0.1"/>', "", None, "filter"),
])  # fmt: skip
def test_servos_of_one_joint_are_one_drive_and_what_it_cannot_say_is_named(
    actuators: str, joint: str, most: float | None, said: str, tmp_path: Path
) -> None:
    _, planned = through_usd(tmp_path, arm_with(actuators, joint))
    (drive,) = [prim.schemas["PhysicsDriveAPI:angular"] for prim in planned.model.joints.values()]
    assert (drive.stiffness, drive.max_force) == (5 * (4 if "gear" in actuators else 1), most)
    told = [issue.message for issue in planned.issues]
    assert [said in message for message in told] == ([True] if said else []), told


def test_actuators_have_the_numbers_that_mujoco_compiles(tmp_path: Path) -> None:
    """Each short form, held against MuJoCo's own compilation of it."""
    forms = (
        '<motor joint="pin" gear="3"/>', '<position joint="pin" kp="5" kv="2" ctrlrange="-1 2"/>',
        '<position joint="pin" kp="7" dampratio="0.8" gear="2" inheritrange="0.5"/>',
        '<position joint="pin" kp="7" timeconst="0.2"/>', '<velocity joint="pin" kv="3"/>',
        '<position class="damped" joint="pin" kp="7" kv="3"/>', '<position class="damped" joint="pin" kp="7"/>',
        '<intvelocity joint="pin" kp="4" kv="1" actrange="-1 1"/>', '<damper joint="pin" kv="3" ctrlrange="0 1"/>',
        '<cylinder joint="pin" diameter="0.1" bias="1 2 3" timeconst="0.3"/>',
        '<muscle joint="pin" force="9" lengthrange="0.1 1" tausmooth="0.01"/>',
        '<general joint="pin" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="1 -2 -3"/>',
    )  # fmt: skip
    mujoco = pytest.importorskip("mujoco")
    damped = '<default><default class="damped"><position dampratio="1"/></default></default><worldbody>'
    text = arm_with("".join(forms), 'armature="0.3"').replace("<worldbody>", damped)
    judge = mujoco.MjModel.from_xml_string(text)
    _, planned = through_usd(tmp_path, text)
    for row, one in enumerate(planned.source.actuators):
        for name, own, theirs in (
            ("gain", one.gains, judge.actuator_gainprm[row]), ("bias", one.biases, judge.actuator_biasprm[row]),
            ("gear", one.gears, judge.actuator_gear[row]),
            ("dyn", one.dynamics if one.dynamics_type != "none" else (1.0,), judge.actuator_dynprm[row]),
        ):  # fmt: skip
            assert (*own, *[0.0] * 10)[: len(theirs)] == pytest.approx(theirs, abs=1e-9), (one.name, name)
        types = (f"mjGAIN_{one.gain_type}", f"mjBIAS_{one.bias_type}", f"mjDYN_{one.dynamics_type}")
        kinds = (mujoco.mjtGain(judge.actuator_gaintype[row]), mujoco.mjtBias(judge.actuator_biastype[row]),
                 mujoco.mjtDyn(judge.actuator_dyntype[row]))  # fmt: skip
        assert [kind.name.lower() for kind in kinds] == [kind.lower() for kind in types]
        for own, theirs, limited in (
            (one.control, judge.actuator_ctrlrange[row], judge.actuator_ctrllimited[row]),
            (one.activity, judge.actuator_actrange[row], judge.actuator_actlimited[row]),
        ):
            assert (own is not None) == bool(limited) and (own is None or own == pytest.approx(theirs))
    prims = [prim for prim in planned.model.prims.values() if prim.type_name == "MjcActuator"]
    assert len(prims) == len(forms)


def test_damping_ratios_and_times_of_chains_are_those_that_mujoco_computes(tmp_path: Path) -> None:
    """The inertia is that of a joint with all others free: a floating base and two links, a slide and a ball."""
    mujoco = pytest.importorskip("mujoco")
    link = '<geom type="capsule" size=".03" fromto="0 0 0 .3 .05 0"/>'
    text = (
        '<mujoco model="m"><worldbody><body name="base" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .05"/>'
        f'<body pos=".2 0 0"><joint name="a" axis="0 1 0" springdamper="0.2 0.7" armature="0.01"/>{link}'
        f'<body pos=".3 0 .1" euler="20 30 0"><joint name="b" axis="0 0 1"/>{link}'
        f'<body pos=".3 0 0"><joint name="c" type="slide" axis="1 1 0" springdamper="0.1 1"/>{link}</body></body>'
        f'</body><body pos="-.2 0 0"><joint name="d" type="ball"/>{link}</body></body></worldbody>'
        '<actuator><position joint="a" kp="10" dampratio="1"/><position joint="b" kp="20" dampratio="0.5"/>'
        '<position joint="c" kp="5" dampratio="1" gear="2"/></actuator></mujoco>'
    )
    judge = mujoco.MjModel.from_xml_string(text)
    _, planned = through_usd(tmp_path, text)
    own = [one.biases[2] for one in planned.source.actuators]
    assert own == pytest.approx(judge.actuator_biasprm[:, 2].tolist(), rel=1e-6)
    joints = {joint.name: joint for body in planned.source.bodies for joint in body.joints}
    for name in ("a", "c"):
        assert joints[name].stiffness == pytest.approx(float(np.ravel(judge.joint(name).stiffness)[0]), rel=1e-6)
        assert joints[name].damping == pytest.approx(
            float(np.ravel(judge.dof_damping[judge.joint(name).dofadr[0]])[0]), rel=1e-6
        )
    # What nobody edited is not said to have other drives.
    model = usd_read.read_stage(through_usd.stage)
    issues, _ = mjcf_file.write_file(through_usd.stage, model, tmp_path / "again.xml")
    assert not [issue.message for issue in issues if issue.code == "FileDiffers"]


def test_the_range_of_a_ball_joint_is_told_to_be_a_cone(tmp_path: Path) -> None:
    text = (
        '<mujoco model="m"><worldbody><body name="b"><joint name="pin" type="ball" range="0 40"/>'
        '<geom size=".1"/></body></worldbody></mujoco>'
    )
    _, planned = through_usd(tmp_path, text)
    assert any("twist" in issue.message for issue in planned.issues)


HINGE = (
    '<mujoco model="m"><worldbody><body name="b"><joint name="pin" axis="0 1 0" range="-20 40"/>'
    '<geom size=".1"/></body></worldbody></mujoco>'
)


def test_a_joint_whose_limits_are_one_value_stays_limited_in_an_export(tmp_path: Path) -> None:
    model, _ = through_usd(tmp_path, HINGE)
    path, prim = next(iter(model.joints.items()))
    joint = prim.get(usd_physics.RevoluteJoint)
    model.prims[path].add(joint.copy(lower_limit=0.1, upper_limit=0.1))
    again, _ = through_usd(tmp_path, write.text_of(model, "m").text)
    limits = next(iter(again.joints.values())).get(usd_physics.RevoluteJoint)
    assert (limits.lower_limit, limits.upper_limit) == pytest.approx((0.1, 0.1), abs=1e-5)
    engine = pytest.importorskip("mujoco")
    assert engine.MjModel.from_xml_string(write.text_of(model, "m").text).jnt_limited.tolist() == [1]


def test_a_range_that_is_the_wrong_way_round_is_named_and_the_proof_knows_it(tmp_path: Path) -> None:
    model, _ = through_usd(tmp_path, HINGE)
    path, prim = next(iter(model.joints.items()))
    model.prims[path].add(prim.get(usd_physics.RevoluteJoint).copy(lower_limit=0.5, upper_limit=-0.3))
    made = write.text_of(model, "m")
    assert ["lower limit above its upper one" in issue.message for issue in made.issues] == [True]
    assert list(verify.differences(model, made, made.text, tmp_path / "out.xml")) == []
    engine = pytest.importorskip("mujoco")
    assert engine.MjModel.from_xml_string(made.text).jnt_limited.tolist() == [0]


@pytest.mark.parametrize("kilograms, is_said", [(1e-42, True), (1e-12, False), (2.0, False)])
def test_what_is_too_light_for_mujoco_is_said_to_be_heavier_and_the_rest_weighs_what_it_says(
    kilograms: float, is_said: bool
) -> None:
    model = PhysicsModel(SI)
    body = model.add(Prim("/mote", "Xform", np.eye(4), local=np.eye(4)))
    body.add(usd_physics.RigidBodyAPI())
    body.add(
        usd_physics.MassAPI(mass=kilograms, diagonal_inertia=(kilograms,) * 3, principal_axes=(1.0, 0.0, 0.0, 0.0))
    )
    made = write.text_of(model, "m")
    assert ["MuJoCo refuses such small ones" in issue.message for issue in made.issues] == [True] * is_said
    engine = pytest.importorskip("mujoco")
    found = engine.MjModel.from_xml_string(made.text)
    assert found.body_mass[1] == pytest.approx(2e-15 if is_said else kilograms, rel=1e-6)
    assert found.body_inertia[1] == pytest.approx([2e-15 if is_said else kilograms] * 3, rel=1e-6)


def test_what_resists_in_a_joint_is_written_in_the_words_of_any_simulator(tmp_path: Path) -> None:
    for applied, fields in (
        ("PhysxJointAxisAPI:angular", ("armature", "viscous_friction_coefficient", "dynamic_friction_effort")),
        ("MjcJointAPI", ("armature", "damping", "frictionloss")),
        ("NewtonJointAPI", ("armature", "damping", "friction")),
    ):
        model, _ = through_usd(tmp_path, HINGE)
        path = next(iter(model.joints))
        model.prims[path].schemas.pop("NewtonJointAPI", None)
        kind = vendor_schemas.find(applied.partition(":")[0])
        model.prims[path].schemas[applied] = kind(**dict(zip(fields, (0.25, 0.5, 0.75), strict=True)))
        text = write.text_of(model, "m").text
        assert 'armature="0.25" damping="0.5" frictionloss="0.75"' in text, applied


def test_largest_speeds_and_drives_without_gains_are_named_once_for_all_joints(tmp_path: Path) -> None:
    model, _ = through_usd(tmp_path, ARM)
    hinges = [path for path, prim in model.joints.items() if prim.get(usd_physics.RevoluteJoint) is not None]
    for path in hinges:
        model.prims[path].schemas["NewtonJointAPI"] = vendor_schemas.find("NewtonJointAPI")(velocity_limit=2.0)
        model.prims[path].add(usd_physics.DriveAPI(max_force=3.0), "angular")
    told = [issue.message for issue in write.text_of(model, "arm").issues if issue.message.startswith("MuJoCo has no")]
    assert [message.partition(" of joints")[0] for message in sorted(told)] == [
        "MuJoCo has no drive without gains", "MuJoCo has no largest speed"
    ]  # fmt: skip
    assert all(f"'{path.rpartition('/')[2]}'" in message for path in hinges for message in told)


def test_what_bounces_and_what_runs_is_named_in_an_export() -> None:
    model = PhysicsModel()
    rubber = model.add(Prim("/Rubber", "Material", is_xformable=False))
    rubber.add(usd_physics.MaterialAPI(dynamic_friction=0.5, restitution=0.8))
    ball = model.add(Prim("/Ball", "Sphere", materials=("/Rubber",)))
    belt = model.add(Prim("/Belt", "Cube"))
    for prim, shape in ((ball, usd_geom.Sphere(0.5)), (belt, usd_geom.Cube(1.0))):
        prim.add(usd_physics.CollisionAPI())
        prim.add(shape)
    ball.add(usd_physics.RigidBodyAPI())
    belt.schemas["PhysxSurfaceVelocityAPI"] = vendor_schemas.find("PhysxSurfaceVelocityAPI")(surface_velocity=(1, 0, 0))
    said = {issue.path: issue.message for issue in write.text_of(model, "belt").issues}
    assert "nothing bounces in MuJoCo" in said["/Rubber"] and "stands still in MuJoCo" in said["/Belt"]
    rubber.get(usd_physics.MaterialAPI).restitution = 0.0
    belt.schemas["PhysxSurfaceVelocityAPI"].surface_velocity_enabled = False
    assert not {"/Rubber", "/Belt"} & {issue.path for issue in write.text_of(model, "belt").issues}


def test_the_proof_knows_a_joint_whose_first_end_is_a_collider_of_its_body(tmp_path: Path) -> None:
    """The axis of the first body's side points the other way in the file."""
    model, _ = through_usd(tmp_path, HINGE)
    path, prim = next(iter(model.joints.items()))
    joint = prim.get(usd_physics.RevoluteJoint)
    collider = next(one for one in model.colliders if one.startswith(joint.body1[0]))
    assert collider != joint.body1[0]
    model.prims[path].add(joint.copy(
        body0=(collider,), body1=joint.body0, local_pos0=joint.local_pos1, local_pos1=joint.local_pos0,
        local_rot0=joint.local_rot1, local_rot1=joint.local_rot0,
    ))  # fmt: skip
    made = write.text_of(model, "m")
    assert list(verify.differences(model, made, made.text, tmp_path / "out.xml")) == []


def test_the_damping_of_the_scene_is_named_in_an_export(tmp_path: Path) -> None:
    model, _ = through_usd(tmp_path, ARM)
    assert not [issue for issue in write.text_of(model, "arm").issues if "no word" in issue.message]
    model.air = Air(0.1, 0.2)
    assert [issue.code for issue in write.text_of(model, "arm").issues if "no word" in issue.message] == ["MjcfNotSaid"]


@pytest.mark.parametrize("old, new, said", [
    ('gravcomp="0.5"', 'gravcomp="0.4"', "gravity"), ('axis="0 1 0"', 'axis="0 -1 0"', "axis"),
    ("1.57079632679", "1.5", "limits"), ('biasprm="0 -50 -4"', 'biasprm="0 -50 -3"', "drive"),
    ('biasprm="0 -50 -4"', 'biasprm="3 -50 -4"', "drive"), ("-20 20", "-20 30", "drive"),
    ('pos="0.05 0 0.6', 'pos="0.06 0 0.6', ""), ('mass="0.3"', 'mass="0.2"', "mass"),
])  # fmt: skip
def test_the_proof_of_a_file_finds_what_is_wrong_in_it(old: str, new: str, said: str, tmp_path: Path) -> None:
    text = ARM.replace('<body name="ball"', '<body name="ball" gravcomp="0.5"')
    model, _ = through_usd(tmp_path, text)
    made = write.text_of(model, "arm")
    path = tmp_path / "out.xml"
    assert list(verify.differences(model, made, made.text, path)) == []
    if old in made.text:
        wrong = made.text.replace(old, new)
        assert any(said in one.text for one in verify.differences(model, made, wrong, path))
    else:
        assert not said, made.text


def test_an_acceleration_drive_is_written_with_the_inertia_that_it_moves(tmp_path: Path) -> None:
    """A box of 2 kg, 0.4 m from the axis: 2 (0.1² + 0.2²) · 4/12 + 2 · 0.4² about Z."""
    model, _ = through_usd(tmp_path, arm_with('<position joint="pin" kp="5" kv="1"/>'))
    (joint,) = model.joints.values()
    joint.schemas["PhysicsDriveAPI:angular"].type = "acceleration"
    made = write.text_of(model, "m")
    after, _ = judged(made.text)
    inertia = 2 * (0.2**2 + 0.4**2) / 12 + 2 * 0.4**2
    assert after.actuator_biasprm[0][1:3] == pytest.approx([-5 * inertia, -inertia], rel=1e-5)
    assert "inertia that it moves" in " ".join(issue.message for issue in made.issues)


# --------------------------------------------------------------------------- the text is kept

COMMENTED = ARM.replace("<worldbody>", "<!-- a comment -->\n  <worldbody>").replace(
    "</mujoco>", '  <sensor><jointpos joint="shoulder"/></sensor>\n  <custom><numeric name="n" data="1  2"/></custom>\n'
    '  <keyframe><key name="home" ctrl="0.1 0"/></keyframe>\n</mujoco>',
)  # fmt: skip


def back(folder: Path, text: str, change: Callable[[PhysicsModel], None], name: str = "out.xml") -> tuple[bytes, list]:
    """The text after an edit of its model in a USD file."""
    model, _ = through_usd(folder, text)
    change(model)
    issues, _ = mjcf_file.write_file(through_usd.stage, model, folder / name)
    return (folder / name).read_bytes(), [issue for issue in issues if issue.code.startswith(("Mjcf", "File"))]


@pytest.mark.parametrize("data", [
    COMMENTED.encode(), COMMENTED.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + COMMENTED.encode(),
    ('<?xml version="1.0" encoding="ISO-8859-1"?>' + COMMENTED.replace("a comment", "K\xf6rper")).encode("latin-1"),
    COMMENTED.encode("utf-16"),
], ids=["utf-8", "CRLF", "mark", "latin-1", "utf-16"])  # fmt: skip
def test_a_model_that_nobody_edited_comes_back_to_the_byte(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "in.xml").write_bytes(data)
    mjcf_stage.convert(tmp_path / "in.xml", tmp_path / "in.usda")
    formats.USD.conversions["MuJoCo model"].run(
        str(tmp_path / "in.usda"), formats.NoOptions(), str(tmp_path / "out.xml"), formats.WriteOptions()
    )
    assert (tmp_path / "out.xml").read_bytes() == data


def set_mass(model: PhysicsModel) -> None:
    model.prims["/arm/hand"].get(usd_physics.MassAPI).mass = 0.5


def set_new_mass(model: PhysicsModel) -> None:
    model.prims["/arm/upper"].get(usd_physics.MassAPI).mass = 5.0


def set_limit(model: PhysicsModel) -> None:
    model.joints["/arm/joints/shoulder"].get(usd_physics.RevoluteJoint).upper_limit = math.radians(45)


def set_wrist(model: PhysicsModel) -> None:
    model.joints["/arm/joints/wrist_x"].schemas["PhysicsLimitAPI:rotY"].high = math.radians(10)


def set_friction(model: PhysicsModel) -> None:
    model.joints["/arm/joints/shoulder"].schemas["NewtonJointAPI"].friction = 0.25


def set_gains(model: PhysicsModel) -> None:
    drive = model.joints["/arm/joints/shoulder"].schemas["PhysicsDriveAPI:angular"]
    drive.stiffness, drive.damping, drive.max_force = 80.0, 5.0, 30.0


def set_gravity(model: PhysicsModel) -> None:
    next(iter(model.scenes.values())).get(usd_physics.PhysicsScene).gravity_magnitude = 1.62


def set_lift(model: PhysicsModel) -> None:
    model.prims["/arm/ball"].add(vendor_schemas.made("PhysxRigidBodyAPI", {"physxRigidBody:disableGravity": True}))


def move_ball(model: PhysicsModel) -> None:
    there = frames.transform((2.0, 1.0, 3.0), turned(np.array([0.0, 0.0, 1.0]), 0.5))
    known = model.locate
    model.locate = lambda path: there if path == "/arm/ball" else (
        there if path == "/arm/ball/ball" else known(path)
    )  # fmt: skip
    model.prims["/arm/ball"].world = model.prims["/arm/ball/ball"].world = there


@pytest.mark.parametrize("change, look", [
    (set_mass, lambda judge: judge.body("hand").mass[0] == pytest.approx(0.5)),
    (set_new_mass, lambda judge: judge.body("upper").mass[0] == pytest.approx(5.0)),
    (set_limit, lambda judge: judge.joint("shoulder").range == pytest.approx([-math.pi / 2, math.pi / 4])),
    (set_wrist, lambda judge: sorted(map(abs, (*judge.joint("wrist_x").range, *judge.joint("wrist_y").range)))
     == pytest.approx(sorted(np.radians([30, 60, 30, 10]))) or judge.joint("wrist_x").range[0] == pytest.approx(
         -math.radians(10))),
    (set_friction, lambda judge: judge.joint("shoulder").frictionloss[0] == pytest.approx(0.25)),
    (set_gains, lambda judge: (*judge.actuator("servo").biasprm[1:3], *judge.actuator("servo").forcerange)
     == pytest.approx((-80, -5, -30, 30), rel=1e-5)),
    (set_gravity, lambda judge: judge.opt.gravity == pytest.approx([0, 0, -1.62])),
    (move_ball, lambda judge: judge.body("ball").pos == pytest.approx([2, 1, 3])),
])  # fmt: skip
def test_an_edit_changes_its_number_and_nothing_else(
    change: Callable[[PhysicsModel], None], look: Callable[[object], bool], tmp_path: Path
) -> None:
    made, issues = back(tmp_path, COMMENTED, change)
    assert issues == []
    assert look(judged(made.decode())[0])
    before, after = COMMENTED.splitlines(), made.decode().splitlines()
    assert len(before) == len(after) and 1 <= sum(map(str.__ne__, before, after)) <= 2
    assert b"<!-- a comment -->" in made and b'data="1  2"' in made


def test_parts_that_were_removed_have_the_model_written_anew(tmp_path: Path) -> None:
    made, issues = back(tmp_path, COMMENTED, lambda model: model.prims.pop("/arm/joints/wrist_x"))
    assert "MjcfWrittenAnew" in [issue.code for issue in issues] and b"a comment" not in made
    assert any("wrist_x" in issue.message for issue in issues)


def test_included_files_and_meshes_are_found_from_another_folder(tmp_path: Path) -> None:
    robot, other = tmp_path / "robot", tmp_path / "other" / "place"
    for folder in (robot / "parts", robot / "meshes", other):
        folder.mkdir(parents=True)
    (robot / "meshes" / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    (robot / "parts" / "b.xml").write_text('<mujoco>\n<!-- part --><body name="b"><freejoint/>'
                                           '<geom type="mesh" mesh="t"/></body></mujoco>')  # fmt: skip
    text = ('<mujoco model="m"><compiler meshdir="meshes"/><asset><mesh file="t.obj"/></asset><worldbody>'
            '<include file="parts/b.xml"/></worldbody></mujoco>')  # fmt: skip
    (robot / "model.xml").write_text(text)
    mjcf_stage.convert(robot / "model.xml", tmp_path / "model.usda")
    stage = usd_read.open_stage(tmp_path / "model.usda")
    for target in (robot / "again.xml", other / "again.xml"):
        issues, _ = mjcf_file.write_file(stage, usd_read.read_stage(stage), target)
        assert not [issue for issue in issues if issue.code.startswith(("Mjcf", "File"))]
        mujoco = pytest.importorskip("mujoco")
        assert mujoco.MjModel.from_xml_path(str(target)).body("b").mass[0] == pytest.approx(1000 / 6)
    assert (robot / "again.xml").read_text() == text
    assert "<!-- part -->" in (other / "again.xml").read_text()
    # A mesh further away than beside the folder of the model would not be read: it is copied.
    assert read.read_file(other / "again.xml").missing == []
    assert (other / "again_assets" / "t.obj").is_file()
    beside = robot.parent / "beside"
    beside.mkdir()
    mjcf_file.write_file(stage, usd_read.read_stage(stage), beside / "again.xml")
    assert [path.name for path in beside.iterdir()] == ["again.xml"]
    assert read.read_file(beside / "again.xml").missing == []


def test_included_files_are_found_whose_names_lead_out_of_the_folder_and_back(tmp_path: Path) -> None:
    robot, other = tmp_path / "arms" / "arm", tmp_path / "other"
    for folder in (robot / "parts", other):
        folder.mkdir(parents=True)
    (robot / "parts" / "b.xml").write_text('<mujoco><include file="../../arm/parts/c.xml"/></mujoco>')
    (robot / "parts" / "c.xml").write_text('<mujoco><body name="c"><freejoint/><geom size="1"/></body></mujoco>')
    (robot / "model.xml").write_text('<mujoco model="m"><worldbody>\n<include file="../../arms/arm/parts/b.xml"/>'
                                     "</worldbody></mujoco>")  # fmt: skip
    mjcf_stage.convert(robot / "model.xml", tmp_path / "model.usda")
    stage = usd_read.open_stage(tmp_path / "model.usda")
    mjcf_file.write_file(stage, usd_read.read_stage(stage), other / "again.xml")
    assert [body.name for body in read.read_file(other / "again.xml").bodies] == ["world", "c"]
    assert "include" not in (other / "again.xml").read_text()


@pytest.mark.parametrize("compiler", ['meshdir="../shapes"', 'meshdir="../shapes" strippath="true"', 'assetdir=".."'])
def test_files_of_other_folders_are_copied_under_names_of_their_own(tmp_path: Path, compiler: str) -> None:
    """Two of one name, from two folders, and an image: with an old copy, which is replaced."""
    robot, far = tmp_path / "robots" / "robot", tmp_path / "elsewhere" / "deep"
    shapes = tmp_path / "robots" / "shapes"
    for folder in (robot, far, shapes / "in"):
        folder.mkdir(parents=True)
    text = "v 0 0 0\nv {0} 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    first, second = (
        ("a.obj", "in/b.obj") if "strippath" in compiler else ("../shapes/a.obj", "../shapes/in/../in/a.obj")
    )
    if "assetdir" in compiler:
        first, second = "shapes/a.obj", "shapes/in/a.obj"
    for name, size in (("a.obj", 1), ("b.obj", 2), ("in/a.obj", 2), ("in/b.obj", 2)):
        (shapes / name).write_text(text.format(size))
    (robot / "../p.png").write_bytes(PNG)
    (robot / "p.png").write_bytes(PNG)
    (robot / "model.xml").write_text(
        f'<mujoco model="m"><compiler {compiler}/><asset><mesh name="one" file="{first}"/>'
        f'<mesh name="two" file="{second}"/><texture name="p" type="2d" file="p.png"/></asset><worldbody>'
        '<body name="a"><freejoint/><geom type="mesh" mesh="one"/></body>'
        '<body name="b" pos="9 0 0"><freejoint/><geom type="mesh" mesh="two"/></body></worldbody></mujoco>'
    )
    mjcf_stage.convert(robot / "model.xml", tmp_path / "model.usda")
    stage = usd_read.open_stage(tmp_path / "model.usda")
    target = far / "again.xml"
    for _ in range(2):
        issues, _ = mjcf_file.write_file(stage, usd_read.read_stage(stage), target)
        assert not [issue for issue in issues if issue.code.startswith(("Mjcf", "File"))]
        found = read.read_file(target)
        assert found.missing == [] and len(set(found.assets)) == len(found.assets) == 3
        assert all(file.is_relative_to(far) for file in found.assets)
        mujoco = pytest.importorskip("mujoco")
        judge = mujoco.MjModel.from_xml_path(str(target))
        assert judge.body("b").mass[0] == pytest.approx(2 * judge.body("a").mass[0]) == pytest.approx(1000 / 3)


def test_a_mesh_that_is_too_far_away_is_said_to_be_so_and_not_to_be_missing(tmp_path: Path) -> None:
    robot = tmp_path / "some" / "deep" / "place"
    robot.mkdir(parents=True)
    (tmp_path / "far.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    (robot / "model.xml").write_text(
        '<mujoco><asset><mesh name="t" file="../../../far.obj"/><mesh name="u" file="../none.obj"/></asset></mujoco>'
    )
    far, gone = (issue.message for issue in read.read_file(robot / "model.xml").issues)
    assert "neither in, below nor beside the folder of the model" in far and "is not there" in gone


@pytest.mark.parametrize(("tag", "is_named"), [
    ("position", False), ("velocity", False), ("motor", True),
    ('general biastype="affine" gaintype="affine" biasprm="0 0 -1"', True),
])  # fmt: skip
def test_the_preview_says_that_it_ignores_an_actuator_only_where_no_drive_says_the_same(
    tmp_path: Path, tag: str, is_named: bool
) -> None:
    (tmp_path / "m.xml").write_text(
        '<mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>'
        f'<actuator><{tag} joint="j"/></actuator></mujoco>'
    )
    notices = World(layout.plan(read.read_file(tmp_path / "m.xml")).model).notices
    assert any("is a MjcActuator" in notice.message for notice in notices) == is_named


# --------------------------------------------------------------------------- written anew

#: One pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

FURTHER = """<mujoco model="m">
  <option timestep="0.004"/>
  <statistic extent="2"/>
  <visual><map znear="0.02"/></visual>
  <asset><material name="red" rgba="0.8 0.1 0.1 1"/>
    <mesh name="t" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>
  <default><joint damping="0.3"/><tendon width="0.01"/></default>
  <worldbody>
    <site name="wall" pos="0 0 2"/>
    <body name="a"><joint name="one" axis="0 1 0" actuatorfrcrange="-7 7" ref="0.1"/>
      <joint name="two" axis="1 0 0" solreflimit="0.05 1"/>
      <geom name="shell" solref="0.03 1" margin="0.002" type="box" size="0.1 0.2 0.3" rgba="0.2 0.4 0.6 1"/>
      <geom name="shirt" type="mesh" mesh="t" material="red" contype="0" conaffinity="0" mass="0"/>
      <site name="tip" pos="0.1 0 0.3"/>
      <body name="b" pos="1 0 0"><joint name="three" axis="0 0 1" stiffness="3" springref="20"/>
        <geom size="0.1"/></body></body>
    <body name="c" pos="3 0 1"><joint type="free" name="fly" frictionloss="0.2"/><geom size="0.1"/></body>
    <body name="extra" pos="5 0 1"><freejoint/><geom size="0.1"/></body>
  </worldbody>
  <tendon><fixed name="mix"><joint joint="one" coef="1"/><joint joint="three" coef="-2"/></fixed>
    <spatial name="rope" range="0 3" limited="true"><site site="wall"/><site site="tip"/></spatial></tendon>
  <actuator><motor name="push" joint="three" gear="4"/><position name="pull" tendon="mix" kp="9"/>
    <position name="turn" joint="two" kp="20" kv="1"/><general name="jet" site="tip" gear="0 0 1 0 0 0"/>
    {plugin}</actuator>
  <sensor><jointpos name="angle" joint="two"/><framepos objtype="site" objname="tip"/>
    <framepos objtype="body" objname="extra"/></sensor>
  <custom><numeric name="n" data="1 2"/></custom>
  <contact><pair geom1="shell" geom2="shirt"/></contact>
  <keyframe><key name="home" qpos="0.5 -0.2 0.3 3 0 2 1 0 0 0 5 0 1 1 0 0 0" ctrl="1 2 3 4"/></keyframe>
</mujoco>
"""


def without_extra(model: PhysicsModel) -> None:
    for path in [path for path in model.prims if path.startswith("/m/extra")]:
        del model.prims[path]


def test_a_model_that_is_written_anew_has_its_looks_sites_tendons_sensors_and_keyframes(tmp_path: Path) -> None:
    plugin = '<plugin joint="two" plugin="mujoco.pid"/>'
    made, issues = back(tmp_path, FURTHER.format(plugin=plugin), without_extra)
    assert any("plugin of the imported" in issue.message or "One plugin" in issue.message for issue in issues)
    (anew,) = [issue.message for issue in issues if issue.code == "MjcfWrittenAnew"]
    assert "extra" in anew
    assert any("framepos" in issue.message for issue in issues if issue.code == "MjcfNotSaid")
    import mujoco

    before, after = judged(FURTHER.format(plugin=""))[0], judged(made.decode())[0]
    for name in ("wall", "tip"):
        assert after.site(name).pos == pytest.approx(before.site(name).pos, abs=1e-6)
    assert (after.ntendon, after.nsensor, after.nkey, after.npair) == (2, 2, 1, 1)
    assert after.numeric("n").data == pytest.approx([1, 2]) and after.opt.timestep == 0.004
    assert after.stat.extent == 2 and after.vis.map.znear == pytest.approx(0.02)
    shirt, shell = after.geom("shirt"), after.geom("shell")
    assert shell.solref == pytest.approx([0.03, 1]) and shell.margin[0] == pytest.approx(0.002)
    fly = after.joint("fly")
    assert fly.frictionloss == pytest.approx([0.2] * 6) and fly.damping == pytest.approx([0.3] * 6)
    assert after.jnt_solref[after.joint("two").id] == pytest.approx([0.05, 1])
    assert (shirt.contype[0], shirt.conaffinity[0]) == (0, 0)
    assert after.mat_rgba[shirt.matid[0]] == pytest.approx([0.8, 0.1, 0.1, 1], abs=1e-3)
    assert after.mat_rgba[after.geom("shell").matid[0]] == pytest.approx([0.2, 0.4, 0.6, 1], abs=1e-3)
    states = [mujoco.MjData(model) for model in (before, after)]
    for model, data in zip((before, after), states, strict=True):
        mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
        for number, name in enumerate(("push", "pull", "turn", "jet")):
            data.ctrl[model.actuator(name).id] = 0.1 * number + 0.3
        mujoco.mj_forward(model, data)
    for name in ("one", "two", "three"):
        for field in ("qpos", "qfrc_actuator", "qfrc_passive"):
            values = [getattr(data.joint(name), field)[0] for data in states]
            assert values[0] == pytest.approx(values[1], rel=1e-5, abs=1e-6), (name, field)
    for name in ("a", "b", "c"):
        assert states[0].body(name).xpos == pytest.approx(states[1].body(name).xpos, abs=1e-5)


PLUGINS = """<mujoco model="m">
  <extension><plugin plugin="mujoco.pid"><instance name="servo"><config key="kp" value="3"/></instance></plugin>
  </extension>
  <worldbody><body name="a"><joint name="one" axis="0 1 0"/><geom size="0.1"/>
    <body name="b" pos="0.5 0 0"><joint name="two" axis="0 1 0"/><geom size="0.1"/></body></body>
    <body name="extra" pos="5 0 1"><freejoint/><geom size="0.1"/></body></worldbody>
  <actuator><plugin name="first" plugin="mujoco.pid" instance="servo" joint="one"/>
    <plugin name="second" plugin="mujoco.pid" joint="two"><config key="kp" value="5"/></plugin></actuator>
</mujoco>
"""


def test_a_model_that_is_written_anew_keeps_its_plugins_with_their_numbers(tmp_path: Path) -> None:
    import mujoco

    made, issues = back(tmp_path, PLUGINS, without_extra)
    assert not [issue for issue in issues if issue.code == "MjcfNotSaid"]
    forces = []
    for text in (PLUGINS, made.decode()):
        model, data = judged(text)
        for name in ("first", "second"):
            data.ctrl[model.actuator(name).id] = 0.5
        mujoco.mj_forward(model, data)
        forces.append([data.joint(name).qfrc_actuator[0] for name in ("one", "two")])
    assert forces[0] == pytest.approx([1.5, 2.5])
    assert forces[1] == pytest.approx(forces[0], rel=1e-5)


SOFT = """<mujoco model="m"><default><default class="stiff"><equality solref="0.004 1"/></default></default>
  <worldbody>
    <body name="a" pos="0 0 1"><joint name="one" axis="0 1 0" damping="0.1"/><geom size="0.1" pos="0.1 0 0"/>
      <body name="b" pos="0.5 0 0"><joint name="two" axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/></body></body>
    <body name="p" pos="0 1 1"><joint name="three" axis="0 1 0" pos="0.2 0 0"/><geom size="0.1"/></body>
    <body name="c" pos="0.5 1 1"><freejoint/><geom size="0.1"/></body>
    <body name="q" pos="0 2 1"><joint name="four" axis="0 1 0" pos="0.2 0 0"/><geom size="0.1"/></body>
    <body name="d" pos="0.5 2 1"><freejoint/><geom size="0.1"/></body>
    <body name="extra" pos="5 0 1"><freejoint/><geom size="0.1"/></body></worldbody>
  <equality><connect name="pin" body1="p" body2="c" anchor="0.25 0 0.1" class="stiff" solimp="0.95 0.99"/>
    <weld name="glue" body1="q" body2="d" anchor="0.1 0.3 0" torquescale="0.2" solref="0.03 0.8"/>
    <joint name="gear" joint1="two" joint2="one" polycoef="0 0.5 0 0 0" solimp="0.8 0.9 0.01 0.4 3"/></equality>
</mujoco>
"""


@pytest.mark.parametrize("is_active", [True, False])
def test_a_joint_follows_another_one_where_the_equality_is_active_and_comes_back_so(
    is_active: bool, tmp_path: Path
) -> None:
    """One that is off was read as on."""
    text = SOFT.replace('<joint name="gear"', f'<joint name="gear" active="{str(is_active).lower()}"')
    model, _ = through_usd(tmp_path, text)
    (prim,) = [one for one in model.joints.values() if "NewtonMimicAPI" in one.schemas]
    assert (following(prim) is not None) is is_active
    made, _ = back(tmp_path, text, without_extra)
    (after, _) = judged(made.decode())
    assert [bool(after.eq_active0[row]) for row, kind in enumerate(after.eq_type) if kind == 2] == [is_active]


def test_a_model_that_is_written_anew_keeps_how_soft_its_loops_are(tmp_path: Path) -> None:
    import mujoco

    made, _ = back(tmp_path, SOFT, without_extra)
    (before, first), (after, second) = judged(SOFT), judged(made.decode())
    kinds = {int(kind): row for row, kind in enumerate(after.eq_type)}
    for row, kind in enumerate(before.eq_type):
        other = kinds[int(kind)]
        assert after.eq_solref[other] == pytest.approx(before.eq_solref[row]), before.equality(row).name
        assert after.eq_solimp[other] == pytest.approx(before.eq_solimp[row]), before.equality(row).name
    weld = int(mujoco.mjtEq.mjEQ_WELD)
    assert after.eq_data[kinds[weld], 10] == pytest.approx(before.eq_data[list(before.eq_type).index(weld), 10])
    for _ in range(100):
        for model, data in ((before, first), (after, second)):
            model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
            mujoco.mj_step(model, data)
    for name in ("a", "b", "p", "c", "q", "d"):
        assert second.body(name).xpos == pytest.approx(first.body(name).xpos, abs=1e-5), name


FINGER = """
<mujoco>
  <worldbody>
    <site name="origin" pos="0.1 0.2 0"/>
    <body name="finger" pos="0 0 1">
      <joint name="x" type="slide" axis="1 0 0"/>
      <geom size="0.1"/>
      <site name="tip" pos="0 0 0.1"/>
    </body>
    <body name="extra" pos="3 0 1"><freejoint/><geom size="0.1"/></body>
  </worldbody>
  <actuator>
    <position name="reach" site="tip" refsite="origin" kp="100" gear="1 0 0 0 0 0"/>
  </actuator>
</mujoco>
"""


def test_a_servo_of_a_site_that_is_seen_from_another_one_stays_one_in_a_model_that_is_written_anew(tmp_path) -> None:
    made, _ = back(tmp_path, FINGER, without_extra)
    (before, first), (after, second) = judged(FINGER), judged(made.decode())
    assert [model.actuator("reach").trnid.tolist() for model in (before, after)] == [
        [model.site("tip").id, model.site("origin").id] for model in (before, after)
    ]
    assert second.actuator("reach").force == pytest.approx(first.actuator("reach").force, abs=1e-6)


def test_what_is_only_seen_is_written_with_its_materials_and_images(tmp_path: Path) -> None:
    from pxr import Sdf, UsdGeom, UsdPhysics, UsdShade

    (tmp_path / "wood.png").write_bytes(PNG)
    stage = usd_read.Usd.Stage.CreateNew(str(tmp_path / "seen.usda"))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, "Z")
    body = UsdGeom.Xform.Define(stage, "/w/body")
    body.AddTranslateOp().Set((0, 0, 2))
    UsdPhysics.RigidBodyAPI.Apply(body.GetPrim())
    ball = UsdGeom.Sphere.Define(stage, "/w/body/collider")
    ball.CreatePurposeAttr("guide")
    UsdPhysics.CollisionAPI.Apply(ball.GetPrim())
    mesh = UsdGeom.Mesh.Define(stage, "/w/body/skin")
    mesh.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    mesh.CreateFaceVertexCountsAttr([4])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 3])
    UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, "vertex").Set(
        [(0, 0), (1, 0), (1, 1), (0, 1)]
    )
    material = UsdShade.Material.Define(stage, "/w/wood")
    surface = UsdShade.Shader.Define(stage, "/w/wood/s")
    surface.CreateIdAttr("UsdPreviewSurface")
    image = UsdShade.Shader.Define(stage, "/w/wood/i")
    image.CreateIdAttr("UsdUVTexture")
    image.CreateInput("file", Sdf.ValueTypeNames.Asset).Set("./wood.png")
    surface.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).ConnectToSource(image.ConnectableAPI(), "rgb")
    material.CreateSurfaceOutput().ConnectToSource(surface.ConnectableAPI(), "surface")
    UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(material)
    stage.Save()
    (tmp_path / "out").mkdir()
    mjcf_file.write_file(stage, usd_read.read_stage(stage), tmp_path / "out" / "seen.xml")
    mujoco = pytest.importorskip("mujoco")
    judge = mujoco.MjModel.from_xml_path(str(tmp_path / "out" / "seen.xml"))
    assert judge.ntex == 1 and judge.body("body").mass[0] == pytest.approx(1000 * 4 / 3 * math.pi, rel=1e-3)
    skin, collider = judge.geom("skin"), judge.geom("collider")
    assert (skin.contype[0], skin.conaffinity[0], skin.group[0], collider.group[0]) == (0, 0, 2, 3)
    start, count = judge.mesh_texcoordadr[skin.dataid[0]], judge.mesh_texcoordnum[skin.dataid[0]]
    assert sorted(map(tuple, judge.mesh_texcoord[start : start + count].tolist())) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_an_image_that_has_changed_is_written_over_its_old_copy_and_a_strangers_image_stays(tmp_path: Path) -> None:
    robot, out = tmp_path / "robot", tmp_path / "out"
    robot.mkdir(), out.mkdir()
    (robot / "model.xml").write_text(
        '<mujoco><asset><texture name="wood" type="2d" file="wood.png"/><material name="wood" texture="wood"/></asset>'
        '<worldbody><body name="b"><freejoint/><geom name="g" size="1" material="wood"/></body></worldbody></mujoco>'
    )
    copies = out / "model_textures" / "wood.png", out / "seen_textures" / "wood.png"
    for image in (b"old", b"new"):
        (robot / "wood.png").write_bytes(image)
        mjcf_stage.convert(robot / "model.xml", out / "model.usda")
        assert copies[0].read_bytes() == image
        stage = usd_read.Usd.Stage.Open(str(out / "model.usda"))
        for name in (mjcf_stage.SOURCE, mjcf_stage.ABOUT):
            stage.GetDefaultPrim().RemoveProperty(name)
        mjcf_file.write_file(stage, usd_read.read_stage(stage), out / "seen.xml")
        assert copies[1].read_bytes() == image
        del stage
    (robot / "wood.png").write_bytes(b"newer")
    for name in ("model.usda", "seen.xml"):
        (out / name).unlink()
    with pytest.raises(OutputError, match=r"wood\.png"):
        mjcf_stage.convert(robot / "model.xml", out / "model.usda")
    assert copies[0].read_bytes() == b"new" and not (out / "model.usda").exists()


def test_a_mesh_of_mujocos_own_format_is_read_and_a_damaged_one_named(tmp_path: Path) -> None:
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], "<f4")
    faces = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)], "<i4")
    head = np.array([4, 0, 0, 4], "<i4")
    data = head.tobytes() + points.tobytes() + faces.tobytes()
    text = ('<mujoco model="m"><asset><mesh name="t" file="t.msh" inertia="exact"/></asset><worldbody><body name="b">'
            '<freejoint/><geom type="mesh" mesh="t"/></body></worldbody></mujoco>')  # fmt: skip
    (tmp_path / "t.msh").write_bytes(data)
    model, planned = through_usd(tmp_path, text)
    assert planned.issues == []
    assert model.bodies["/m/b"].get(usd_physics.MassAPI).mass == pytest.approx(1000 / 6, rel=1e-5)
    for wrong in (data[:-4], data[:16] + points.tobytes() + (faces + 1).tobytes(), b""):
        (tmp_path / "t.msh").write_bytes(wrong)
        assert "MjcfMeshMissing" in [issue.code for issue in mjcf_stage.plan(tmp_path / "model.xml").issues]


BLOCK = "-1 -2 -3  1 -2 -3  -1 2 -3  1 2 -3  -1 -2 3  1 -2 3  -1 2 3  1 2 3"


@pytest.mark.parametrize(
    ("words", "size", "place"),
    [
        ('type="capsule"', (1.5, 2.25), (10, 0, 0)), ('type="cylinder"', (1.5, 3.0), (10, 0, 0)),
        ('type="sphere"', (2.0,), (10, 0, 0)), ('type="box"', (1.0, 2.0, 3.0), (10, 0, 0)),
        ('type="box" fitscale="0.5"', (0.5, 1.0, 1.5), (10, 0, 0)),
    ],
)  # fmt: skip
def test_a_primitive_that_stands_for_a_mesh_has_the_inertia_of_its_box(
    words: str, size: tuple[float, ...], place: tuple[float, ...], tmp_path: Path
) -> None:
    """A block of 2 x 4 x 6 m, whose middle is at x = 10 in its file."""
    points = " ".join(f"{float(x) + 10} {y} {z}" for x, y, z in zip(*[iter(BLOCK.split())] * 3, strict=True))
    path = tmp_path / "m.xml"
    path.write_text(
        f'<mujoco><asset><mesh name="block" vertex="{points}" inertia="exact"/></asset><worldbody><body name="b">'
        f'<freejoint/><geom name="g" mesh="block" {words}/></body></worldbody></mujoco>'
    )
    geom = layout.plan(read.read_file(path)).source.bodies[1].geoms[0]
    assert geom.size == pytest.approx(size)
    assert geom.pose[:3, 3] == pytest.approx(place)


def test_a_spring_that_is_given_by_a_time_gets_its_numbers_from_the_mass(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text(
        '<mujoco><worldbody><body name="b"><joint name="j" type="slide" springdamper="0.5 0.8" armature="1"/>'
        '<geom type="sphere" size="0.1" mass="3"/></body></worldbody></mujoco>'
    )
    joint = layout.plan(read.read_file(path)).source.bodies[1].joints[0]
    assert (joint.stiffness, joint.damping) == pytest.approx((4 / 0.16, 2 * 4 / 0.5))


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        ("0.5", "2", (0.5, 2.0)), ("0.5", "inf", (0.5, 1e3)), ("inf", "2", (0.0, 2.0)), ("-1", "2", (0.0, 2.0)),
        ("0", "inf", None), ("nan", "nan", None), ("-1", "-1", None),
    ],
)  # fmt: skip
def test_a_distance_that_is_not_finite_is_no_limit(tmp_path: Path, low: str, high: str, wanted: object) -> None:
    body = '(prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])\n{\n    float physics:mass = 1\n}'
    (tmp_path / "rope.usda").write_text(
        f"""#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "A" {body}
def Xform "B" {body}
def PhysicsDistanceJoint "Rope" {{
    rel physics:body0 = </A>
    rel physics:body1 = </B>
    float physics:minDistance = {low}
    float physics:maxDistance = {high}
}}
"""
    )
    stage = usd_read.open_stage(tmp_path / "rope.usda")
    mjcf_file.write_file(stage, usd_read.read_stage(stage), tmp_path / "rope.xml")
    ranges = re.findall(r'<spatial name="Rope" range="(\S+) (\S+)"', (tmp_path / "rope.xml").read_text())
    assert [tuple(map(float, one)) for one in ranges] == ([wanted] if wanted else [])


def test_what_stands_still_keeps_its_filtered_pairs_in_a_body_of_its_own(tmp_path: Path) -> None:
    """A box that fell through a shelf lay on it in MuJoCo: all that stands still is one body there."""
    cube = 'def Cube "{}" (prepend apiSchemas = ["PhysicsCollisionAPI"{}]) {{\n double size = 0.4\n{}\n}}'
    pair = "rel physics:filteredPairs = </World/Shelf>"
    text = "\n".join((
        "#usda 1.0", '(defaultPrim = "World"\nmetersPerUnit = 1\nupAxis = "Z")', 'def Xform "World" {',
        cube.format("Shelf", "", ""), cube.format("Ground", "", ""),
        cube.format("Box", ', "PhysicsRigidBodyAPI", "PhysicsFilteredPairsAPI"', pair), "}",
    ))  # fmt: skip
    (tmp_path / "shelf.usda").write_text(text)
    stage = usd_read.open_stage(tmp_path / "shelf.usda")
    mjcf_file.write_file(stage, usd_read.read_stage(stage), tmp_path / "shelf.xml")
    written = (tmp_path / "shelf.xml").read_text()
    assert re.findall(r'<exclude body1="(\w+)" body2="(\w+)"', written) == [("Box", "Shelf")]
    assert len(re.findall(r"<body name=", written)) == 2
    model, _ = through_usd(tmp_path, written)
    (filtered,) = model.having(usd_physics.FilteredPairsAPI).values()
    (other,) = filtered.get(usd_physics.FilteredPairsAPI).filtered_pairs
    assert {filtered.name, model.prims[other].name} == {"Box", "Shelf"}


@pytest.mark.parametrize(("parts", "other"), [(1, "Box"), (2, "Box"), (2, "Lid")])
def test_a_filtered_pair_of_one_collider_of_several_is_said_to_hold_for_all(
    tmp_path: Path, parts: int, other: str
) -> None:
    """Nothing is said of a pair within one body, which excludes nothing."""
    cube = 'def Cube "C{}" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {{\n double size = 0.4\n}}'
    apis = 'prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsFilteredPairsAPI"]'
    text = "\n".join((
        "#usda 1.0", '(defaultPrim = "World"\nmetersPerUnit = 1\nupAxis = "Z")', 'def Xform "World" {',
        f'def Xform "Box" ({apis}) {{', *map(cube.format, range(parts)), "}",
        f'def Xform "Lid" ({apis}) {{', f"rel physics:filteredPairs = </World/{other}/C0>",
        *map(cube.format, range(parts)), "}", "}",
    ))  # fmt: skip
    (tmp_path / "box.usda").write_text(text)
    stage = usd_read.open_stage(tmp_path / "box.usda")
    issues, _ = mjcf_file.write_file(stage, usd_read.read_stage(stage), tmp_path / "box.xml")
    found = re.findall(r'<exclude body1="(\w+)" body2="(\w+)"', (tmp_path / "box.xml").read_text())
    assert found == ([("Box", "Lid")] if other == "Box" else [])
    said = [issue for issue in issues if "excludes whole bodies" in issue.message]
    assert len(said) == (parts > 1 and other == "Box") and all("/World/Box/C0" in issue.message for issue in said)


def test_what_an_exclusion_keeps_apart_filters_pairs_where_usd_physics_has_them(tmp_path: Path) -> None:
    """The base of an arm is no body: its pairs were those of an Xform, which other simulators ignore, so that the arm
    was pushed out of its base there."""
    text = """<mujoco><worldbody>
      <body name="base"><geom name="foot" size="0.1"/><geom name="neck" size="0.1" pos="0 0 0.1"/>
        <body name="arm" pos="0 0 0.15"><joint axis="0 0 1"/><geom size="0.1"/>
          <body name="hand" pos="0 0 0.15"><joint axis="1 0 0"/><geom size="0.1"/></body></body></body>
      </worldbody><contact><exclude body1="base" body2="arm"/><exclude body1="hand" body2="arm"/></contact></mujoco>"""
    model, _ = through_usd(tmp_path, text)
    root = "/model"
    pairs = {
        (path, other) for path, prim in model.having(usd_physics.FilteredPairsAPI).items()
        for other in prim.get(usd_physics.FilteredPairsAPI).filtered_pairs
    }  # fmt: skip
    assert pairs == {
        (f"{root}/base/foot", f"{root}/arm"), (f"{root}/base/neck", f"{root}/arm"), (f"{root}/hand", f"{root}/arm")
    }  # fmt: skip
    for path, other in pairs:
        for end in (model.prims[path], model.prims[other]):
            assert end.get(usd_physics.RigidBodyAPI) or end.get(usd_physics.CollisionAPI)


@pytest.mark.parametrize(("flag", "sides"), [("", True), ('<flag filterparent="disable"/>', False)])
def test_what_mujoco_lets_pass_without_an_exclude_filters_pairs(tmp_path: Path, flag: str, sides: bool) -> None:
    """A finger tip that is fixed to the last link of its finger was pushed out of the link before that one."""
    text = f"""<mujoco><option>{flag}</option><worldbody>
      <body name="base"><geom size="0.1"/>
        <body name="arm" pos="0 0 0.15"><joint axis="0 0 1"/><geom size="0.1"/>
          <body name="plate" pos="0.1 0 0"><geom size="0.1"/></body>
          <body name="bolt" pos="0.1 0 0.1"><geom size="0.1" contype="2" conaffinity="2"/></body>
          <body name="hand" pos="0 0 0.15"><joint axis="1 0 0"/><geom size="0.1"/>
            <body name="tip" pos="0 0 0.1"><geom size="0.1"/>
              <body name="nail" pos="0 0 0.1"><geom size="0.1"/></body></body>
            <body name="claw" pos="0 0 0.3"><joint axis="1 0 0"/><geom size="0.1"/></body></body></body></body>
      </worldbody></mujoco>"""
    model, _ = through_usd(tmp_path, text)
    pairs = {
        frozenset(paths.name_of(end) for end in (path, other))
        for path, prim in model.having(usd_physics.FilteredPairsAPI).items()
        for other in prim.get(usd_physics.FilteredPairsAPI).filtered_pairs
    }  # fmt: skip
    rigid = {("hand", "nail")}
    across = {("arm", "tip"), ("arm", "nail"), ("plate", "hand"), ("plate", "tip"), ("plate", "nail"),
              ("tip", "claw"), ("nail", "claw")}  # fmt: skip
    assert pairs == {frozenset(pair) for pair in (rigid | across if sides else rigid)}


@pytest.mark.parametrize("excluded", [True, False])
def test_what_an_equality_holds_together_collides_unless_an_exclude_says_otherwise(
    tmp_path: Path, excluded: bool
) -> None:
    exclude = '<contact><exclude body1="one" body2="two"/></contact>' if excluded else ""
    text = f"""<mujoco><worldbody>
      <body name="one"><freejoint/><geom size="0.1"/></body>
      <body name="two" pos="0 0 0.3"><freejoint/><geom size="0.1"/></body>
      <body name="three" pos="0 0 0.6"><joint/><geom size="0.1"/>
        <body name="four" pos="0 0 0.3"><joint/><geom size="0.1"/></body></body>
      </worldbody>{exclude}
      <equality><connect name="rope" body1="one" body2="two" anchor="0 0 0.1"/>
        <weld name="glue" body1="three" body2="four"/></equality></mujoco>"""
    model, _ = through_usd(tmp_path, text)
    meets = {
        paths.name_of(path): bool(prim.get(usd_physics.Joint).collision_enabled) for path, prim in model.joints.items()
    }
    assert (meets["rope"], meets["glue"]) == (not excluded, False)


def test_a_model_that_is_looked_at_finds_its_meshes_again(tmp_path: Path) -> None:
    """A round trip of a proof said that a mesh was not there, and wrote the model anew."""
    (tmp_path / "own").mkdir()
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    faces = [(1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4)]
    lines = [*(f"v {x} {y} {z}" for x, y, z in corners), *(f"f {a} {b} {c}" for a, b, c in faces)]
    (tmp_path / "own" / "rock.obj").write_text("\n".join(lines))
    source = tmp_path / "own" / "rock.xml"
    source.write_text("""<mujoco><!-- kept --><asset><mesh name="rock" file="rock.obj"/></asset><worldbody>
      <body name="rock"><freejoint/><geom type="mesh" mesh="rock"/></body></worldbody></mujoco>""")
    with mjcf_stage.as_stage(source) as (file, _):
        stage = usd_read.open_stage(str(file))
        issues, _ = mjcf_file.write_file(stage, usd_read.read_stage(stage), tmp_path / "again.xml")
    assert not [issue for issue in issues if "is not there" in issue.message]
    assert "<!-- kept -->" in (tmp_path / "again.xml").read_text()
