# SPDX-License-Identifier: GPL-3.0-or-later
"""MJCF: what equalities and tendons hold together is read as the joints that are written so."""

from pathlib import Path

import numpy as np
import pytest
from usdphys_ext.usdphys_addon import api
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.mjcf import write
from usdphys_ext.usdphys_addon.usd import mjcf_stage
from usdphys_ext.usdphys_addon.usd import read as usd_read

TWO = """<mujoco model="m"><worldbody>{world}
  <body name="a" pos="1 0 1" euler="0 0 30"><freejoint/><geom size="0.1"/>{a}</body>
  <body name="b" pos="2 0 1" euler="0 20 0"><freejoint/><geom size="0.1"/>{b}</body></worldbody>{rest}</mujoco>"""


def read(folder: Path, rest: str, a: str = "", b: str = "", world: str = "") -> tuple:
    """(stage, model, layout) of two bodies with sites."""
    (folder / "m.xml").write_text(TWO.format(a=a, b=b, world=world, rest=rest))
    planned = mjcf_stage.plan(folder / "m.xml")
    mjcf_stage.write_stage(planned, folder / "m.usda")
    stage = usd_read.open_stage(folder / "m.usda")
    return stage, usd_read.read_stage(stage), planned


def the_joint(model) -> tuple[str, usd_physics.Joint, list[np.ndarray]]:
    """(type, schema, world frames of its two sides) of the only joint."""
    (prim,) = model.joints.values()
    joint = prim.get(usd_physics.Joint)
    ends = []
    for side in (0, 1):
        targets = getattr(joint, f"body{side}") or ()
        world = model.prims[targets[0]].world if targets else None
        ends.append(frames.world_frame(
            world, joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}")
        ))  # fmt: skip
    return prim.type_name, joint, ends


def unread(planned) -> list[str]:
    return [issue.message for issue in planned.issues if issue.code == "MjcfUnread"]


def test_two_points_between_sites_are_a_hinge(tmp_path: Path) -> None:
    """Loops that had been written as MJCF came apart when they were read: their equalities were not."""
    rest = """<equality><connect name="pin_0" site1="a0" site2="b0"/><connect name="pin_1" site1="a1" site2="b1"/>
      </equality>"""
    a, b = ("".join(f'<site name="{body}{row}" pos="{place}"/>' for row, place in enumerate(places)) for body, places in
            (("a", ("0.5 0 0", "0.5 0.1 0")), ("b", ("-0.5 0 0", "-0.5 0 0.1"))))  # fmt: skip
    _, model, planned = read(tmp_path, rest, a, b)
    kind, joint, ends = the_joint(model)
    assert (kind, joint.resolved("axis"), unread(planned)) == ("PhysicsRevoluteJoint", "X", [])
    assert joint.exclude_from_articulation and [prim.name for prim in model.joints.values()] == ["pin"]
    bodies = {prim.name: prim.world for prim in model.bodies.values()}
    by_body = {joint.body0[0].rsplit("/", 1)[1]: ends[0], joint.body1[0].rsplit("/", 1)[1]: ends[1]}
    for name, place, axis in (("a", (0.5, 0, 0, 1), (0, 1, 0)), ("b", (-0.5, 0, 0, 1), (0, 0, 1))):
        assert by_body[name][:, 3] == pytest.approx(bodies[name] @ place, abs=1e-6)
        assert by_body[name][:3, 0] == pytest.approx(bodies[name][:3, :3] @ axis, abs=1e-6)


def test_points_that_make_no_axis_stay_points(tmp_path: Path) -> None:
    """Two points that are further apart in one body than in the other are no hinge."""
    rest = '<equality><connect site1="a0" site2="b0"/><connect site1="a1" site2="b1"/></equality>'
    _, model, _ = read(
        tmp_path, rest, '<site name="a0"/><site name="a1" pos="0.1 0 0"/>',
        '<site name="b0"/><site name="b1" pos="0.2 0 0"/>',
    )  # fmt: skip
    assert [prim.type_name for prim in model.joints.values()] == ["PhysicsSphericalJoint"] * 2


def test_a_point_between_sites_pulls_them_together(tmp_path: Path) -> None:
    rest = '<equality><connect name="pin" site1="here" site2="there" active="false"/></equality>'
    world = '<site name="there" pos="5 0 1"/>'
    _, model, planned = read(tmp_path, rest, '<site name="here" pos="0.5 0 0"/>', world=world)
    kind, joint, ends = the_joint(model)
    assert (kind, joint.joint_enabled, unread(planned)) == ("PhysicsSphericalJoint", False, [])
    places = {tuple(np.round(end[:3, 3], 4).tolist()) for end in ends}
    assert places == {(5.0, 0.0, 1.0), (1.433, 0.25, 1.0)}


def test_a_weld_between_sites_has_the_axes_of_both(tmp_path: Path) -> None:
    rest = '<equality><weld name="glue" site1="one" site2="two"/></equality>'
    a, b = ('<site name="one" pos="0.5 0 0" euler="0 0 -30"/>', '<site name="two" pos="0 0.3 0" euler="0 -20 0"/>')
    _, model, planned = read(tmp_path, rest, a, b)
    kind, _, ends = the_joint(model)
    assert (kind, unread(planned)) == ("PhysicsFixedJoint", [])
    for end in ends:
        assert end[:3, :3] == pytest.approx(np.eye(3), abs=1e-6)
    places = sorted(tuple(np.round(end[:3, 3], 3).tolist()) for end in ends)
    assert places == [(1.433, 0.25, 1.0), (2.0, 0.3, 1.0)]


@pytest.mark.parametrize(("text", "low", "high"), [
    ("0.2 1.5", 0.2, 1.5), ("0 1.5", None, 1.5), ("0.2 1000", 0.2, None),
])  # fmt: skip
def test_a_tendon_between_two_sites_is_a_distance(text: str, low: float, high: float, tmp_path: Path) -> None:
    rest = f'<tendon><spatial name="rope" range="{text}"><site site="here"/><site site="there"/></spatial></tendon>'
    _, model, planned = read(tmp_path, rest, '<site name="here"/>', '<site name="there" pos="0 0 0.1"/>')
    kind, joint, ends = the_joint(model)
    assert (kind, unread(planned)) == ("PhysicsDistanceJoint", [])
    assert (joint.min_distance, joint.max_distance) == (
        low if low is None else pytest.approx(low), high if high is None else pytest.approx(high)
    )  # fmt: skip
    apart = np.array((1.0 + 0.1 * np.sin(np.radians(20)), 0.0, 0.1 * np.cos(np.radians(20))))
    assert np.linalg.norm(ends[0][:3, 3] - ends[1][:3, 3]) == pytest.approx(np.linalg.norm(apart), abs=1e-5)


@pytest.mark.parametrize(("own", "more"), [
    ('stiffness="5"', ""), ("", '<actuator><motor tendon="rope"/></actuator>'),
    ("", '<sensor><tendonpos tendon="rope"/></sensor>'),
])  # fmt: skip
def test_a_tendon_that_does_more_is_kept_as_it_is(own: str, more: str, tmp_path: Path) -> None:
    """What pulls, swings or is measured would be lost with a distance."""
    rest = f'<tendon><spatial name="rope" range="0 2" {own}><site site="here"/><site site="there"/></spatial></tendon>'
    _, model, planned = read(tmp_path, rest + more, '<site name="here"/>', '<site name="there"/>')
    assert not model.joints
    assert any("tendon" in message for message in unread(planned))


def test_what_names_no_site_is_said(tmp_path: Path) -> None:
    rest = '<equality><connect name="pin" site1="here" site2="nowhere"/></equality>'
    _, model, planned = read(tmp_path, rest, '<site name="here"/>')
    assert not model.joints
    assert unread(planned) == ["The equality or tendon 'pin' names a part that is not there or stands still."]


FOUR_BARS = """#usda 1.0
( metersPerUnit = 1
  upAxis = "Z"
  defaultPrim = "w" )
def Xform "w" {{
    def PhysicsScene "scene" {{
        vector3f physics:gravityDirection = (0.7, 0, -0.7)
        float physics:gravityMagnitude = 9.81
    }}
    {bodies}
    {joints}
}}
"""


def four_bars(folder: Path, last: str, more: str = "") -> Path:
    """A square linkage of three bars on the world, which falls over; its last joint closes it."""
    bars = [((0, 0, 0.5), (0.05, 0.05, 1)), ((0.5, 0, 1), (1, 0.05, 0.05)), ((1, 0, 0.5), (0.05, 0.05, 1))]
    bodies = "".join(
        f"""def Cube "bar{row}" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"]
    ) {{
        double size = 1
        float physics:mass = {row + 1}
        bool physics:collisionEnabled = 0
        double3 xformOp:translate = {place}
        double3 xformOp:scale = {size}
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    }}
    """ for row, (place, size) in enumerate(bars)
    )  # fmt: skip
    ends = [(None, 0, (0, 0, 0)), (0, 1, (0, 0, 1)), (2, None, (1, 0, 0)), (1, 2, (1, 0, 1))]
    joints = ""
    for row, (one, other, place) in enumerate(ends):
        sides = ""
        for side, bar in enumerate((one, other)):
            local = place if bar is None else tuple(
                (place[k] - bars[bar][0][k]) / bars[bar][1][k] for k in range(3)
            )  # fmt: skip
            sides += f"rel physics:body{side} = </w/bar{bar}>\n" if bar is not None else ""
            sides += f"        point3f physics:localPos{side} = {local}\n        "
        kind = last if row == 3 else "Revolute"
        axis = 'uniform token physics:axis = "Y"' if kind == "Revolute" else ""
        own = more if row == 3 else ""
        joints += f'def Physics{kind}Joint "j{row}" {{\n        {sides}{axis}\n        {own}\n    }}\n    '
    path = folder / "bars.usda"
    path.write_text(FOUR_BARS.format(bodies=bodies, joints=joints))
    return path


@pytest.mark.parametrize(("last", "more"), [
    ("Revolute", ""), ("Spherical", ""), ("Distance", "float physics:maxDistance = 0.2"),
])  # fmt: skip
def test_a_linkage_that_is_written_and_read_moves_as_before(last: str, more: str, tmp_path: Path) -> None:
    usd, mjcf = four_bars(tmp_path, last, more), tmp_path / "bars.xml"
    api.convert(usd, mjcf)
    source, planned = usd_read.read_stage(usd_read.open_stage(usd)), mjcf_stage.plan(mjcf)
    after = planned.model
    assert unread(planned) == []
    assert sorted(prim.type_name for prim in after.joints.values()) == sorted(
        prim.type_name for prim in source.joints.values()
    )
    first, second = (api.simulate_file(file, 0.5) for file in (usd, mjcf))
    order = [second.names.index(name) for name in first.names]
    assert np.abs(first.positions[-1] - first.positions[0]).max() > 0.1
    assert second.positions[:, order] == pytest.approx(first.positions, abs=5e-3)


DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


@pytest.mark.parametrize(("free", "elements", "kind"), [
    (("rotX", "rotY", "rotZ"), {"connect": 1}, "PhysicsSphericalJoint"),
    (("rotY",), {"connect": 2}, "PhysicsRevoluteJoint"), ((), {"weld": 1}, "PhysicsFixedJoint"),
])  # fmt: skip
def test_a_generic_joint_that_only_turns_closes_a_loop(
    free: tuple[str, ...], elements: dict[str, int], kind: str, tmp_path: Path
) -> None:
    """It was left out: the rope of the library hung from one end."""
    locked = [dof for dof in DOFS if dof not in free]
    limits = (
        f"float limit:{dof}:physics:{end} = {value}\n" for dof in locked for end, value in (("low", 1), ("high", -1))
    )
    path = four_bars(tmp_path, "", "".join(limits))
    schemas = ", ".join(f'"PhysicsLimitAPI:{dof}"' for dof in locked)
    head = 'def PhysicsJoint "j3"'
    path.write_text(path.read_text().replace(head, f"{head} (prepend apiSchemas = [{schemas}])"))
    result = api.convert(path, tmp_path / "bars.xml")
    written = (tmp_path / "bars.xml").read_text()
    assert {tag: written.count(f"<{tag} ") for tag in elements} == elements
    assert not [issue for issue in result.issues if issue.code == "MjcfNotSaid"]
    planned = mjcf_stage.plan(tmp_path / "bars.xml")
    assert kind in [prim.type_name for prim in planned.model.joints.values()]
    first, second = (api.simulate_file(tmp_path / name, 0.5) for name in ("bars.usda", "bars.xml"))
    order = [second.names.index(name) for name in first.names]
    assert second.positions[:, order] == pytest.approx(first.positions, abs=5e-3)


@pytest.mark.parametrize("more", [
    "", "float drive:angular:physics:stiffness = 100", "float physics:upperLimit = 80"
])  # fmt: skip
def test_a_loop_is_closed_by_the_joint_that_loses_least(more: str, tmp_path: Path) -> None:
    """The last joint of a loop was left out, or lost its drive, although another one loses nothing."""
    locked = [dof for dof in DOFS if dof not in ("transX", "rotY")]
    ends = [(dof, end) for dof in locked for end in ("low", "high")]
    limits = "".join(f"float limit:{dof}:physics:{end} = {1 if end == 'low' else -1}\n" for dof, end in ends)
    path = four_bars(tmp_path, "Revolute" if more else "", more or limits)
    schemas = [] if more else [f"PhysicsLimitAPI:{dof}" for dof in locked]
    if more.startswith("float drive"):
        schemas = ["PhysicsDriveAPI:angular"]
    if schemas:
        said = ", ".join(f'"{name}"' for name in schemas)
        path.write_text(path.read_text().replace('Joint "j3"', f'Joint "j3" (prepend apiSchemas = [{said}])'))
    result = api.convert(path, tmp_path / "bars.xml")
    assert [issue.message for issue in result.issues if issue.code == "MjcfNotSaid"] == []
    text = (tmp_path / "bars.xml").read_text()
    assert text.count("<connect ") == 2 and 'name="j3' in text.partition("<equality>")[0]


@pytest.mark.parametrize("last", ["Revolute", "Spherical"])
def test_loops_keep_their_names_over_two_rounds(last: str, tmp_path: Path) -> None:
    """The text of what was read from a text that was written is the same."""
    texts = []
    model = usd_read.read_stage(usd_read.open_stage(four_bars(tmp_path, last, "")))
    for number in range(2):
        texts.append(write.text_of(model, "bars").text)
        (tmp_path / f"{number}.xml").write_text(texts[-1])
        model = mjcf_stage.plan(tmp_path / f"{number}.xml").model
    loops = [[line.strip() for line in text.splitlines() if "<connect" in line] for text in texts]
    assert loops[0] and loops[0] == loops[1]


def test_joints_of_a_body_that_do_not_start_at_zero_are_one_joint(tmp_path: Path) -> None:
    """Rounding in `ref` put a light link into the legs of a scissor lift, which then sank."""
    (tmp_path / "m.xml").write_text(
        """<mujoco model="m"><worldbody><body name="leg" pos="1 0 1" quat="0.9 0 0.3 0">
        <joint name="way" type="slide" axis="1 0 0" ref="0.25"/><joint name="turn" axis="0 1 0" ref="1e-8"/>
        <geom size="0.1"/></body></worldbody></mujoco>"""
    )
    planned = mjcf_stage.plan(tmp_path / "m.xml")
    (joint,) = planned.model.joints.values()
    assert (joint.type_name, planned.issues) == ("PhysicsJoint", [])
    assert [prim.name for prim in planned.model.bodies.values()] == ["leg"]


def test_a_coupling_of_a_urdf_that_nothing_simulates_is_said(tmp_path: Path) -> None:
    """It was left out of MJCF without a word, where the URDF had come by way of USD."""
    link = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joints = "".join(
        f'<joint name="{name}" type="{kind}"><parent link="base"/><child link="{name}_link"/><axis xyz="0 0 1"/>'
        f'<limit lower="-1" upper="1" effort="1" velocity="1"/>{more}</joint><link name="{name}_link">{link}</link>'
        for name, kind, more in (
            ("turn", "revolute", ""), ("slide", "prismatic", '<mimic joint="turn" multiplier="0.1"/>')
        )
    )  # fmt: skip
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="base">{link}</link>{joints}</robot>')
    api.convert(tmp_path / "r.urdf", tmp_path / "r.usda")
    result = api.convert(tmp_path / "r.usda", tmp_path / "r.xml")
    assert "<joint" in (tmp_path / "r.xml").read_text()
    assert [issue.message for issue in result.issues if "follows" in issue.message] == [
        "'slide' follows 'turn' in its URDF, which is not simulated, and is left out of MJCF."
    ]


@pytest.mark.parametrize("follower", [0, 3])
def test_a_joint_that_follows_one_which_closes_a_loop_is_said(follower: int, tmp_path: Path) -> None:
    """MuJoCo refused the file, which named a joint that it did not have."""
    from pxr import Sdf

    mujoco = pytest.importorskip("mujoco")

    stage = usd_read.open_stage(four_bars(tmp_path, "Revolute"))
    prim = stage.GetPrimAtPath(f"/w/j{follower}")
    prim.AddAppliedSchema("NewtonMimicAPI")
    prim.CreateRelationship("newton:mimicJoint").SetTargets([Sdf.Path(f"/w/j{3 - follower}")])
    written = write.text_of(usd_read.read_stage(stage), "bars")
    mujoco.MjModel.from_xml_string(written.text)
    said = [issue.message for issue in written.issues if "cannot couple" in issue.message]
    assert said == [f"/w/j{follower} follows a joint that MuJoCo cannot couple."]
