# SPDX-License-Identifier: GPL-3.0-or-later
"""A model of MuJoCo -> prims: bodies beside each other, joints between them, and what the file says of both.

Where UsdPhysics and the schemas of Newton have a word, that is used; what MuJoCo alone has is kept in its own schemas.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ..core import mass, paths, pointers, vendor_schemas
from ..core.errors import InputError, PointerError
from ..core.hull import convex_hull
from ..core.model import Mesh, PhysicsModel, Prim
from ..core.schema import Schema
from ..core.schemas import usd_geom, usd_physics
from ..core.units import SI
from ..core.validate import Issue
from ..core.value_types import value_type
from ..urdf import meshes as mesh_files
from . import height_fields, joints, loops, matter, poses, values
from .relatives import Relatives, meet
from .values import SOFT_ATTRIBUTES, Body, Equality, Floats, Geom, Inertial, Model

#: Groups of geoms that MuJoCo does not show unless it is asked to.
_HIDDEN = 3
#: Most points and triangles of all geoms together: each geom has its own copy of its mesh.
_MOST_CORNERS = 20_000_000
#: Most kinds of masks of contacts: each pair of them can be a target of a relationship.
_MOST_KINDS = 500
#: Size of a drawn plane without a size, m.
_PLANE = 20.0
#: Mass and inertia of a link between two joints of one body, as a part of that body's.
LINK = 1e-3


@dataclass(slots=True)
class Layout:
    """What a model becomes.

    root: path of the prim above all others. model: all prims, parents first. looks: by path of a geom. joint_paths:
    path and degree of freedom by name of a joint; signs: of that against the joint. lifts: share of its gravity that
    does not pull a body, by path, if there is any. places: path of each body; sites: by name. geoms: by path.
    bases: indices of the bodies that fixed joints hold to the world, by path of the joint. issues: what the file says
    and the prims do not. keyframe: name of the one that gives the pose, if any.
    """

    source: Model
    root: str
    model: PhysicsModel
    looks: dict[str, values.Look] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    joint_paths: dict[str, tuple[str, str]] = field(default_factory=dict)
    signs: dict[str, float] = field(default_factory=dict)
    lifts: dict[str, float] = field(default_factory=dict)
    places: list[str] = field(default_factory=list)
    sites: dict[str, str] = field(default_factory=dict)
    geoms: dict[str, Geom] = field(default_factory=dict)
    bases: dict[str, int] = field(default_factory=dict)
    keyframe: str = ""


def plan(source: Model, root: str = "", keyframe: str = "") -> Layout:
    """The prims of a model. root: path of the uppermost; its name by default. Raises InputError without any.

    keyframe: whose pose bodies have, and whose controls servos; "" is that of the bodies and joints themselves.
    """
    pose = poses.choose(source, keyframe) if keyframe else None
    planner = _Planner(source, root or f"/{identifier(source.name)}")
    planner.layout.keyframe = keyframe
    if pose is not None:
        planner.move(poses.worlds_at(source, pose))
    return planner.layout


def worlds_of(source: Model) -> list[Floats]:
    """The pose (4, 4) of each body in the world."""
    return [steps[-1] for steps in poses.worlds_at(source, poses.REST)]


def mesh_reader(source: Model) -> matter.Meshes:
    """Gives points (n, 3) and triangles (m, 3) of a mesh by its name, and reads each once.

    None for one that cannot be read, which is reported to the issues of the model.
    """

    @cache
    def mesh(name: str) -> tuple[Floats, Any] | None:
        asset = source.meshes.get(name)
        if asset is None:
            tell(f"No mesh is named '{name}'; its geoms are left out.", "Declare it as an asset.")
            return None
        points, triangles = asset.points, asset.faces
        if asset.file is not None:
            try:
                points, triangles = _read_mesh(asset.file)
            except InputError as error:
                is_pointer = isinstance(error, PointerError)
                tell(str(error), pointers.FIX if is_pointer else "Repair the file, or remove its geoms.")
                return None
        if not len(points):
            return None
        if len(triangles) and not 0 <= triangles.min() <= triangles.max() < len(points):
            tell(f"The faces of the mesh '{name}' name points that it has not; its geoms are left out.",
                 "Correct its faces.")  # fmt: skip
            return None
        # Its own frame is taken out, then it is scaled.
        points = (points - asset.pose[:3, 3]) @ asset.pose[:3, :3] * np.array(asset.scale, float)
        if not np.abs(points).max() <= values.FARTHEST:  # also NaN
            tell(
                f"The mesh '{name}' is larger than {values.FARTHEST:g} m; its geoms are left out.", "Correct its scale."
            )
            return None
        if np.prod(asset.scale) < 0.0:
            triangles = triangles[:, ::-1]
        if not len(triangles) or asset.inertia == "convex":
            hull = convex_hull(points)
            triangles = hull if hull is not None else triangles
        return (points, np.asarray(triangles)) if len(triangles) else None

    def tell(message: str, fix: str) -> None:
        source.issues.append(Issue("MjcfMeshMissing", "warning", "", source.name, message, fix))

    return mesh


class _Planner:
    def __init__(self, source: Model, root: str) -> None:
        self.source = source
        self.taken: set[str] = set()
        self.layout = Layout(source, root, PhysicsModel(SI, source=str(source.path)), issues=source.issues)
        self.model, self.root = self.layout.model, root
        self.mesh = mesh_reader(source)
        matter.fit(source, self.mesh)
        self.worlds = worlds_of(source)
        self.weights = matter.inertials(source, self.mesh)
        self.moves = self._moving()
        self.relatives = Relatives(source)
        #: Path of the prim of each body, and of the body that carries it; empty for what stands still.
        self.places = self.layout.places
        self.carriers: list[str] = []
        self.carrier_worlds: list[Floats] = []
        self.materials: dict[tuple[float, ...], str] = {}
        self.groups: dict[tuple[int, int], list[str]] = {}
        self.sites = self.layout.sites
        self.joint_paths = self.layout.joint_paths
        #: Links between joints of one body, by path: its index, and how many of its joints are before the link.
        self.links: dict[str, tuple[int, int]] = {}
        self.servos = values.by_target(source.actuators)
        #: The first body of each name, and all joints by name.
        self.indices = {body.name: index for index, body in reversed(list(enumerate(source.bodies)))}
        self.by_name = {joint.name: (index, joint) for index, body in enumerate(source.bodies) for joint in body.joints}
        self.told = set(source.issues)
        self.corners = 0
        matter.damp(source, self.worlds, self.weights)
        self.build()

    # ------------------------------------------------------------------ what moves

    def _moving(self) -> list[bool]:
        """Whether each body is one of the prims, too: it can move, or it stands still and has a mass of its own, as
        the base of a robot has. The mass of its geoms alone makes no body of a floor."""
        moving: list[bool] = []
        for body, weight in zip(self.source.bodies, self.weights, strict=True):
            above = body.parent >= 0 and moving[body.parent]
            is_base = body.parent >= 0 and body.inertial is not None and weight is not None and weight.mass > 0.0
            moving.append(above or bool(body.joints) or body.is_mocap or is_base)
        return moving

    def issue(self, code: str, message: str, fix: str, severity: Any = "warning") -> None:
        one_issue = Issue(code, severity, "", self.source.name, message, fix)
        if one_issue not in self.told:
            self.told.add(one_issue)
            self.layout.issues.append(one_issue)

    # ------------------------------------------------------------------ prims

    def add(self, prim: Prim) -> Prim:
        self.taken.add(prim.path)
        return self.model.add(prim)

    def free(self, above: str, name: str) -> str:
        return paths.free(f"{above}/{identifier(name)}", self.taken.__contains__)

    def build(self) -> None:
        if len(self.source.bodies) < 2 and not self.source.bodies[0].geoms:
            raise InputError(f"'{self.source.path.name}' holds no body and no geom.")
        root = self.add(Prim(self.root, "Xform", label=self.source.name))
        self.scene()
        trees = []
        parents = {body.parent for body in self.source.bodies}
        for index, body in enumerate(self.source.bodies):
            self.body(index, body)
            is_joined = index in parents or any(joint.type != "free" for joint in body.joints)
            if self.moves[index] and not self.moves[max(body.parent, 0)] and is_joined:
                trees.append(index)
        for index, body in enumerate(self.source.bodies):
            self.join(index, body)
        self.finish_articulations(root, trees)
        for equality in self.source.equalities:
            if equality.kind == "joint":
                self.mimic(equality)
        for loop in loops.loops_of(self.source, self.worlds, self.indices):
            self.close(loop)
        self.exclude()
        self.collision_groups()
        for actuator in self.source.actuators:
            self.actuator(actuator)

    def scene(self) -> None:
        prim = self.add(Prim(self.free(self.root, "PhysicsScene"), "PhysicsScene", is_xformable=False))
        size = float(np.linalg.norm(self.source.gravity))
        way = self.source.gravity / size if size else np.array([0.0, 0.0, -1.0])
        prim.add(usd_physics.PhysicsScene(
            gravity_direction=tuple(way.tolist()), gravity_magnitude=size
        ))  # fmt: skip
        scene: Any = vendor_schemas.declared("MjcSceneAPI")
        known = {attribute.usd: attribute for attribute in scene.attributes}
        values: dict[str, Any] = {}
        for prefix, given in (("option", self.source.options), ("flag", self.source.flags)):
            for name, text in given.items():
                attribute = known.get(f"mjc:{prefix}:{name}")
                value = None if attribute is None else _value(attribute.type, text)
                if attribute is not None and value is not None:
                    values[attribute.usd] = value
        if values:
            prim.add(vendor_schemas.made("MjcSceneAPI", values))

    def body(self, index: int, body: Body) -> None:
        weight, above = self.weights[index], body.parent
        carrier = self.carriers[above] if above >= 0 else ""
        pose: Any
        is_frame = not body.joints and not body.is_mocap and weight is None and bool(carrier)
        world = self.worlds[index]
        if index == 0:
            path, pose = self.root, np.eye(4)
        elif is_frame:
            # A frame of the body that carries it.
            path = self.free(carrier, body.name)
            pose = np.linalg.solve(self.carrier_worlds[above], world)
        else:
            path, pose = self.free(self.root, body.name), world
        self.places.append(path)
        own = self.moves[index] and not is_frame
        self.carriers.append(path if own else carrier)
        self.carrier_worlds.append(world if own else self.carrier_worlds[above] if above >= 0 else np.eye(4))
        if index:
            prim = self.add(Prim(path, "Xform", world, local=pose, label=body.name))
            if own:
                self.make_body(prim, body, weight)
        for geom in body.geoms:
            self.geom(path, world, geom)
        for site in body.sites:
            own_path = self.sites[site.name] = self.free(path, site.name)
            self.add(Prim(own_path, "Xform", world @ site.pose, local=site.pose, label=site.name))

    def make_body(self, prim: Prim, body: Body, weight: Inertial | None) -> None:
        prim.add(usd_physics.RigidBodyAPI(kinematic_enabled=True) if body.is_mocap else usd_physics.RigidBodyAPI())
        if body.gravity_compensation:
            self.layout.lifts[prim.path] = body.gravity_compensation
        if weight is None:
            if not body.is_mocap:
                self.issue(
                    "MjcfNoMass", f"The body '{body.name}' moves and has no mass.", "Give it a geom or an inertial."
                )
            return
        moments, axes = mass.diagonalized(weight.inertia)
        one, two, three = (max(float(part), 1e-12) for part in moments)
        prim.add(usd_physics.MassAPI(
            mass=weight.mass, center_of_mass=tuple(weight.center.tolist()),
            diagonal_inertia=(one, two, three), principal_axes=axes,
        ))  # fmt: skip

    def move(self, worlds: list[list[Floats]]) -> None:
        """Put bodies where they are at other values of their joints. worlds: of each, see `poses.worlds_at`."""
        places = {path: worlds[index][-1] for index, path in enumerate(self.places)}
        places |= {path: worlds[index][number] for path, (index, number) in self.links.items()}
        for path, prim in self.model.prims.items():
            above = paths.parent_of(path)
            if path in places and above == self.root:
                prim.local = prim.world = places[path]
            elif prim.local is not None and above in self.model.prims:
                prim.world = self.model.prims[above].world @ prim.local

    # ------------------------------------------------------------------ geoms

    def geom(self, above: str, world: Floats, geom: Geom) -> None:
        made = self.shape(geom)
        if made is None:
            return
        type_name, gprim, scale, mesh = made
        unnamed = geom.name.startswith("geom") and (geom.name == "geom" or geom.name[5:].isdigit())
        path = self.free(above, (geom.mesh or geom.type) if unnamed else geom.name)
        pose = geom.pose @ np.diag((*scale, 1.0))
        prim = self.add(Prim(path, type_name, world @ pose, local=pose, label=geom.name))
        self.layout.geoms[path] = geom
        if gprim is not None:
            prim.add(gprim)
        if mesh is not None:
            prim.mesh = lambda: mesh
        look = self.source.looks.get(geom.look)
        if geom.rgba is not None or look is not None:
            rgba = geom.rgba if geom.rgba is not None else look.rgba if look is not None else ()
            name = look.name if look is not None and geom.rgba is None else f"{geom.look or 'color'}"
            texture = look.texture if look is not None and geom.rgba is None else None
            self.layout.looks[path] = values.Look(name, (*rgba, 1.0, 1.0, 1.0, 1.0)[:4], texture)
        if geom.collides:
            self.collider(prim, geom)

    def shape(self, geom: Geom) -> tuple[str, Schema | None, tuple[float, float, float], Mesh | None] | None:
        """(type of the prim, gprim, scale (3,), mesh) of a geom; None if it has no shape here."""
        size = (*geom.size, 0.0, 0.0, 0.0)
        one = (1.0, 1.0, 1.0)
        if geom.type == "sphere":
            return "Sphere", usd_geom.Sphere(radius=size[0]), one, None
        if geom.type == "capsule":
            return "Capsule", usd_geom.Capsule(radius=size[0], height=2.0 * size[1], axis="Z"), one, None
        if geom.type == "cylinder":
            return "Cylinder", usd_geom.Cylinder(radius=size[0], height=2.0 * size[1], axis="Z"), one, None
        if geom.type == "box":
            return "Cube", usd_geom.Cube(size=2.0), (size[0], size[1], size[2]), None
        if geom.type == "plane":
            edges = [2.0 * part or _PLANE for part in size[:2]]
            return "Plane", usd_geom.Plane(width=edges[0], length=edges[1], axis="Z"), one, None
        surface = self.mesh_of(geom)
        if surface is None:
            if geom.type == "hfield":
                self.issue("MjcfUnread", f"The height field '{geom.field}' has no heights or no size and is not read.",
                           "Write its heights.")  # fmt: skip
            return None
        return "Mesh", None, one, Mesh(*surface)

    def mesh_of(self, geom: Geom) -> tuple[Floats, Any] | None:
        """Points (n, 3) and triangles (m, 3) of an ellipsoid or a mesh; None without."""
        surface = None
        if geom.type == "ellipsoid" and min(size := _filled(geom.size, 3)) > 0.0:
            points, triangles = _ball()
            surface = (points * np.array(size), triangles)
        elif geom.type == "mesh":
            surface = self.mesh(geom.mesh)
        elif geom.type == "hfield" and geom.field in self.source.fields:
            surface = height_fields.surface(self.source.fields[geom.field])
        if surface is not None:
            self.corners += len(surface[0]) + len(surface[1])
            if self.corners > _MOST_CORNERS:
                raise InputError(f"'{self.source.path.name}' has geoms whose meshes have more than {_MOST_CORNERS} "
                                 "points and triangles together.")  # fmt: skip
        return surface

    def collider(self, prim: Prim, geom: Geom) -> None:
        prim.add(usd_physics.CollisionAPI())
        if prim.type_name == "Mesh":
            word = "none" if geom.type == "hfield" else "convexHull"
            prim.add(usd_physics.MeshCollisionAPI(approximation=word))
        if geom.group >= _HIDDEN:
            prim.purpose = "guide"
        own: dict[str, Any] = {}
        own_words = (("condim", geom.condim, 3), ("priority", geom.priority, 0), ("group", geom.group, 0))
        for name, value, usual in own_words:
            if value != usual:
                own[f"mjc:{name}"] = value
        if own:
            prim.add(vendor_schemas.made("MjcCollisionAPI", own))
        prim.physics_binding = self.material(geom.friction)
        self.groups.setdefault(geom.contact, []).append(prim.path)

    def material(self, friction: tuple[float, ...]) -> str:
        if friction in self.materials:
            return self.materials[friction]
        above = f"{self.root}/physics_materials"
        if not self.materials:
            self.add(Prim(above, "Scope", is_xformable=False))
        prim = self.add(Prim(self.free(above, f"friction_{friction[0]:g}"), "Material", is_xformable=False))
        prim.add(usd_physics.MaterialAPI(static_friction=friction[0], dynamic_friction=friction[0], restitution=0.0))
        # MuJoCo takes the larger one of two frictions.
        prim.add(vendor_schemas.made("PhysxMaterialAPI", {"physxMaterial:frictionCombineMode": "max"}))
        prim.add(vendor_schemas.made("NewtonMaterialAPI", {
            "newton:torsionalFriction": friction[1], "newton:rollingFriction": friction[2]
        }))  # fmt: skip
        self.materials[friction] = prim.path
        return prim.path

    # ------------------------------------------------------------------ joints

    def join(self, index: int, body: Body) -> None:
        """The joints between a body and what carries its parent."""
        if index == 0 or not self.moves[index] or self.carriers[index] != self.places[index]:
            return
        parent, kinds = body.parent, [joint for joint in body.joints if joint.type != "free"]
        if body.is_mocap or (body.joints and not kinds):
            return
        base, base_world = self.carriers[parent], self.carrier_worlds[parent]
        ends = joints.Ends(base, base_world, self.places[index], self.worlds[index])
        if not kinds:
            prim = self.joint_prim(f"{body.name}_fixed", joints.fixed(ends))
            if not base:
                self.layout.bases[prim.path] = index
            return
        joint_schemas = joints.as_one(kinds, ends)
        if joint_schemas is None:
            self.chain(body, index, kinds, ends)
            return
        if base and self.meets_base(index, parent):
            joint_schemas.schema.collision_enabled = True
        prim = self.joint_prim(kinds[0].name, joint_schemas.schema)
        for schema, instance in joint_schemas.parts:
            prim.add(schema, instance)
        self.dynamics(prim, kinds, joint_schemas.dofs)

    def chain(self, body: Body, index: int, kinds: list[values.Joint], ends: joints.Ends) -> None:
        """Joints of one body that no joint of USD can be: light links between them."""
        self.issue(
            "MjcfLightLinks", f"The joints of '{body.name}' have axes that one joint cannot have: light links are "
            "between them.", "Use joints with axes at right angles through one point.", "info",
        )  # fmt: skip
        weight, before = self.weights[index], ends
        for number, joint in enumerate(kinds):
            is_last = number == len(kinds) - 1
            path, world = ends.path, ends.world
            if not is_last:
                link = self.add(Prim(self.free(self.root, f"{body.name}_{joint.name}"), "Xform", world, local=world))
                self.links[link.path] = (index, number)
                link.add(usd_physics.RigidBodyAPI())
                part = LINK * (weight.mass if weight is not None else 1.0)
                moment = LINK * (float(np.trace(weight.inertia)) / 3.0 if weight is not None else 1.0)
                link.add(usd_physics.MassAPI(
                    mass=part, center_of_mass=tuple(joint.place.tolist()), diagonal_inertia=(moment,) * 3,
                    principal_axes=(1.0, 0.0, 0.0, 0.0),
                ))  # fmt: skip
                path = link.path
            joint_schemas = joints.as_one([joint], joints.Ends(before.base, before.base_world, path, world))
            assert joint_schemas is not None
            prim = self.joint_prim(joint.name, joint_schemas.schema)
            for schema, instance in joint_schemas.parts:
                prim.add(schema, instance)
            self.dynamics(prim, [joint], joint_schemas.dofs)
            before = joints.Ends(path, world, ends.path, ends.world)

    def joint_prim(self, name: str, schema: usd_physics.Joint) -> Prim:
        above = f"{self.root}/joints"
        if above not in self.model.prims:
            self.add(Prim(above, "Scope", is_xformable=False))
        prim = self.add(Prim(self.free(above, name), schema.usd_name, is_xformable=False, label=name))
        prim.add(schema)
        return prim

    def dynamics(self, prim: Prim, kinds: list[values.Joint], dofs: dict[str, tuple[str, float]]) -> None:
        """Drives, damping, friction and armature. dofs: (instance, sign) by name of a joint."""
        for joint in kinds:
            dof, sign = dofs[joint.name]
            self.joint_paths[joint.name] = (prim.path, dof)
            self.layout.signs[joint.name] = sign
            drive = joints.drive_of(joint, self.servos.get(joint.name, ()), sign, is_shared=len(kinds) > 1)
            if drive is not None and dof:
                prim.add(drive, dof)
                self.tell_servos(joint, drive)
            if joint.type == "ball" and joint.range is not None:
                self.issue("MjcfUnread", f"The range of the ball joint '{joint.name}' limits its twist as well, and "
                           "the cone that it becomes does not.", "Keep the file for MuJoCo.", "info")  # fmt: skip
            if joint.type == "ball" and joint.stiffness:
                self.issue("MjcfUnread", f"The spring of the ball joint '{joint.name}' is not read.",
                           "Use three hinges.", "info")  # fmt: skip
        own: dict[str, Any] = {}
        for usd, name in (("armature", "armature"), ("friction", "friction"), ("damping", "damping")):
            if usd == "damping" and len(kinds) > 1:
                continue
            most = max(getattr(joint, name) for joint in kinds)
            if most > 0.0:
                # As the table has it: per degree, where the attribute is.
                own[f"newton:{usd}"] = most
        if own:
            prim.add(vendor_schemas.made("NewtonJointAPI", own))

    def tell_servos(self, joint: values.Joint, drive: usd_physics.DriveAPI) -> None:
        """Name what the servos of a joint do and its one drive does not."""
        servos = [one for one in self.servos.get(joint.name, ()) if one.is_servo]
        forces = [one for one in servos if one.force is not None]
        if drive.max_force is None and (forces or (servos and joint.force_range)):
            reason = "joint has a spring as well" if joint.stiffness else "other servos of the joint have none"
            self.issue("MjcfUnread", f"The largest force of the servo of '{joint.name}' is not read, as the {reason}.",
                       "Keep the file for MuJoCo.", "info")  # fmt: skip
        elif len(servos) > 1 and forces:
            self.issue("MjcfUnread", f"The {len(servos)} servos of '{joint.name}' are one drive, whose largest force "
                       "is that of all of them.", "Keep the file for MuJoCo.", "info")  # fmt: skip
        for one in servos:
            if one.dynamics_type in values.FILTERS:
                self.issue("MjcfUnread", f"The actuator '{one.name}' follows its control late by a filter, and its "
                           "drive does so at once.", "Keep the file for MuJoCo.", "info")  # fmt: skip

    def finish_articulations(self, root: Prim, trees: list[int]) -> None:
        for index in trees:
            target = root if len(trees) == 1 else self.model.prims[self.places[index]]
            target.add(usd_physics.ArticulationRootAPI())

    # ------------------------------------------------------------------ what holds between bodies

    def at(self, name: str) -> int | None:
        """The body of a name; the world without one; None if there is none."""
        return self.indices.get(name) if name else 0

    def close(self, loop: loops.Loop | str) -> None:
        """A joint that closes a loop. loop: the name of an equality or a tendon where a part of it is not there."""
        if isinstance(loop, str) or not any(self.carriers[side.body] for side in (loop.first, loop.second)):
            name = loop if isinstance(loop, str) else loop.name
            self.issue("MjcfUnread", f"The equality or tendon '{name}' names a part that is not there or stands still.",
                       "Correct its names.", "info")  # fmt: skip
            return
        one, other = loop.first.body, loop.second.body
        ends = joints.Ends(*self.carrier_of(other), *self.carrier_of(one))
        schema = loop.schema(ends)
        schema.exclude_from_articulation = True
        if not self.is_excluded(one, other) and not self.relatives.pass_each_other(one, other):
            schema.collision_enabled = True  # an equality of MuJoCo says nothing of contacts
        if loop.given is not None and not loop.given.is_active:
            schema.joint_enabled = False
        prim = self.joint_prim(loop.name, schema)
        if loop.given is not None:
            self.soften(prim, loop.given)

    def meets_base(self, index: int, parent: int) -> bool:
        """True for a body that collides with the one above it because that stands still: MuJoCo lets pass only what is
        on a joint of two bodies that move."""
        if self.relatives.fixed[parent] or self.is_excluded(index, parent):
            return False
        own, theirs = (
            [kind for kind, geoms in self.groups.items() if self.places[side] in map(paths.parent_of, geoms)]
            for side in (index, parent)
        )
        return any(meet(one, other) for one, other in product(own, theirs))

    def is_excluded(self, one: int, other: int) -> bool:
        """True where the file says that two bodies do not collide."""
        return any({self.at(name) for name in names} == {one, other} for names in self.source.excludes)

    def carrier_of(self, body: int) -> tuple[str, Floats]:
        """The body that carries one, with its pose (4, 4): nothing and the origin of what stands still."""
        path = self.carriers[body]
        return path, self.carrier_worlds[body] if path else np.eye(4)

    def soften(self, prim: Prim, given: Equality) -> None:
        """Say how the solver holds an equality, where the file does."""
        own = {SOFT_ATTRIBUTES[word]: numbers for word, numbers in given.softness.items() if word != "torquescale"}
        if own:
            prim.add(vendor_schemas.made("MjcEqualityJointAPI" if given.kind == "joint" else "MjcEqualityAPI", own))
        if given.kind == "weld" and "torquescale" in given.softness:
            scale = given.softness["torquescale"][0]
            prim.add(vendor_schemas.made("MjcEqualityWeldAPI", {SOFT_ATTRIBUTES["torquescale"]: scale}))

    def mimic(self, given: Equality) -> None:
        follower, leader = (self.joint_paths.get(name) for name in (given.one, given.other))
        if follower is None or leader is None or any(given.polynomial[2:]):
            self.issue("MjcfUnread", f"The equality '{given.name}' of joints is more than a ratio of two joints.",
                       "Keep the file for MuJoCo.", "info")  # fmt: skip
            return
        first, second = (self.by_name[name][1].reference for name in (given.one, given.other))
        offset, ratio = given.polynomial[:2]
        self.model.prims[follower[0]].add(vendor_schemas.made("NewtonMimicAPI", {
            "newton:mimicJoint": (leader[0],), "newton:mimicCoef0": first + offset - ratio * second,
            "newton:mimicCoef1": ratio, **({} if given.is_active else {"newton:mimicEnabled": False}),
        }))  # fmt: skip
        self.soften(self.model.prims[follower[0]], given)

    def exclude(self) -> None:
        """Filtered pairs: those of the file, and those that MuJoCo leaves out without a word."""
        pairs: dict[str, list[str]] = {}
        named = [(self.at(one), self.at(other)) for one, other in self.source.excludes]
        for first, second in [*named, *self.related()]:
            if first is None or second is None:
                continue
            ends = [self.places[first], self.places[second]]
            if ends[0] == ends[1]:
                continue
            for path in self.filterable(first):
                pairs.setdefault(path, []).extend(self.filterable(second))
        for path, others in pairs.items():
            self.model.prims[path].add(usd_physics.FilteredPairsAPI(filtered_pairs=tuple(dict.fromkeys(others))))

    def related(self) -> Iterator[tuple[int, int]]:
        """Pairs of bodies that MuJoCo lets pass because of where they are in the tree. Not those that a joint of USD
        connects, which says it."""
        carriers = dict(zip(self.places, self.carriers, strict=True))
        owners = {path: index for index, path in enumerate(self.places) if index and carriers[path] == path}
        kinds: dict[int, set[tuple[int, int]]] = {}
        for kind, geoms in self.groups.items():
            for carrier in (carriers[paths.parent_of(geom)] for geom in geoms):
                if carrier:
                    kinds.setdefault(owners[carrier], set()).add(kind)
        jointed = {frozenset(ends) for ends in self.ends_of_joints()}
        for first, second in self.relatives.pairs(kinds):
            if frozenset((self.places[first], self.places[second])) not in jointed:
                yield first, second
        yield from self.bases_and_what_stands(kinds)

    def bases_and_what_stands(self, kinds: dict[int, set[tuple[int, int]]]) -> Iterator[tuple[int, int]]:
        """Pairs of a body that is held to the world and of what stands still without being one."""
        held = {index: kinds[index] for index in kinds if not self.relatives.fixed[index]}
        if not held:
            return
        numbers = {path: index for index, path in enumerate(self.places)}
        standing: dict[int, set[tuple[int, int]]] = {}
        for kind, geoms in self.groups.items():
            for index in (numbers[paths.parent_of(geom)] for geom in geoms):
                if not self.carriers[index]:
                    standing.setdefault(index, set()).add(kind)
        for (base, own), (other, theirs) in product(held.items(), standing.items()):
            if any(meet(one, two) for one in own for two in theirs):
                yield base, other

    def ends_of_joints(self) -> Iterator[tuple[str, ...]]:
        """The bodies of each joint whose two sides do not collide."""
        for prim in self.model.joints.values():
            joint: Any = prim.get(usd_physics.Joint)
            if not joint.collision_enabled and joint.joint_enabled is not False:
                yield (*(joint.body0 or ()), *(joint.body1 or ()))

    def filterable(self, index: int) -> list[str]:
        """The prims of a link that may filter pairs: the body, or what collides of a link that is none. UsdPhysics has
        pairs of bodies, colliders and articulations, and simulators ignore those of a mere Xform."""
        path = self.places[index]
        if self.carriers[index] == path:
            return [path]
        return [geom for geoms in self.groups.values() for geom in geoms if paths.parent_of(geom) == path]

    def collision_groups(self) -> None:
        """Groups by the masks of the geoms, where not all collide with all."""
        kinds = list(self.groups)
        if len(kinds) > _MOST_KINDS:
            self.issue("MjcfUnread", f"The geoms have {len(kinds)} kinds of contype and conaffinity, more than "
                       f"{_MOST_KINDS}, which are not read: all collide.", "Use fewer kinds.")  # fmt: skip
            return

        if all(meet(one, other) for one in kinds for other in kinds):
            return
        above = f"{self.root}/collision_groups"
        self.add(Prim(above, "Scope", is_xformable=False))
        made = {kind: self.free(above, f"group_{kind[0]}_{kind[1]}") for kind in kinds}
        for kind, path in made.items():
            prim = self.add(Prim(path, "PhysicsCollisionGroup", is_xformable=False))
            prim.add(usd_physics.CollisionGroup(
                includes=tuple(self.groups[kind]),
                filtered_groups=tuple(made[other] for other in kinds if not meet(kind, other)),
            ))  # fmt: skip

    def actuator(self, given: values.Actuator) -> None:
        target = self.target_of(given)
        if target is None:
            self.issue("MjcfUnread", f"The actuator '{given.name}' names a {given.kind} that is not there.",
                       "Correct its name.", "info")  # fmt: skip
            return
        if not given.is_affine or given.kind != "joint":
            self.issue("MjcfUnread", f"The actuator '{given.name}' is no servo or motor of a joint, and moves nothing "
                       "here.", "Keep the file for MuJoCo.", "info")  # fmt: skip
        above = f"{self.root}/actuators"
        if above not in self.model.prims:
            self.add(Prim(above, "Scope", is_xformable=False))
        own: dict[str, Any] = {
            "mjc:target": (target,), "mjc:gainPrm": _filled(given.gains, 10), "mjc:gear": _filled(given.gears, 6),
            "mjc:biasPrm": _filled(given.biases, 10),
        }  # fmt: skip
        for name, word, usual in (("gainType", given.gain_type, "fixed"), ("biasType", given.bias_type, "none"),
                                  ("dynType", given.dynamics_type, "none")):  # fmt: skip
            if word != usual:
                own[f"mjc:{name}"] = word
        if given.dynamics_type != "none":
            own["mjc:dynPrm"] = _filled(given.dynamics, 10)
        for name, pair in (("ctrl", given.control), ("force", given.force), ("act", given.activity)):
            if pair is not None:
                own |= {f"mjc:{name}Range:min": pair[0], f"mjc:{name}Range:max": pair[1], f"mjc:{name}Limited": "true"}
        if given.group:
            own["mjc:group"] = given.group
        if given.reference in self.sites:
            own["mjc:refSite"] = (self.sites[given.reference],)
        prim = self.add(Prim(self.free(above, given.name), "MjcActuator", is_xformable=False, label=given.name))
        prim.add(vendor_schemas.made("MjcActuator", own))

    def target_of(self, given: values.Actuator) -> str | None:
        """Path of what an actuator moves; None if it is not there."""
        if given.kind == "joint":
            return self.joint_paths.get(given.target, (None,))[0]
        if given.kind == "site":
            return self.sites.get(given.target)
        index = self.at(given.target)
        return self.places[index] if index else None


def _filled(numbers: tuple[float, ...], size: int) -> tuple[float, ...]:
    return (*numbers, *[0.0] * size)[:size]


def identifier(name: str) -> str:
    """A name as USD takes it."""
    return paths.ascii_name(name or "unnamed")


def _read_mesh(file: Path) -> tuple[Floats, Any]:
    """Points (n, 3) and triangles (m, 3) of a mesh file. Raises InputError."""
    if file.suffix.lower() != ".msh":
        data = mesh_files.read_mesh(file, is_bare=True)
        return data.points, triangles_of(data.points, data.counts, data.corners)
    # MuJoCo's own: four counts, then points, normals, texture coordinates, and triangles, all of 32 bits.
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InputError(f"'{file.name}' cannot be read ({error.strerror}).") from error
    pointers.refuse(content, file.name)
    counts = np.frombuffer(content[:16] if len(content) >= 16 else bytes(16), "<i4").astype(np.int64)
    sizes = counts * (3, 3, 2, 3)
    if (sizes < 0).any() or len(content) != 16 + 4 * sizes.sum() or not counts[0]:
        raise InputError(f"'{file.name}' is no mesh of MuJoCo: its length does not fit its counts.")
    points = np.frombuffer(content, "<f4", int(sizes[0]), 16).astype(float).reshape(-1, 3)
    triangles = np.frombuffer(content, "<i4", int(sizes[3]), 16 + 4 * int(sizes[:3].sum())).reshape(-1, 3)
    if not np.isfinite(points).all() or (len(triangles) and not 0 <= triangles.min() <= triangles.max() < len(points)):
        raise InputError(f"'{file.name}' is no mesh of MuJoCo: its triangles name points that it has not.")
    return points, triangles.astype(np.int64)


def triangles_of(points: Floats, counts: Any, corners: Any) -> Any:
    """Triangles (m, 3) of faces. As in MuJoCo, a quadrilateral is split along its shorter diagonal; others are fans.

    It makes a difference to the "legacy" volume of faces that are not flat.
    """
    starts = np.cumsum(counts) - counts
    triangles = []
    for size in np.unique(counts):
        at = starts[counts == size]
        own = corners[at[:, None] + np.arange(size)]
        if size == 4:
            # MuJoCo compares 32-bit floats.
            sides = points.astype(np.float32)[own]
            lengths = [((sides[:, end] - sides[:, end - 2]) ** 2).sum(axis=1) for end in (2, 3)]
            own = np.where((lengths[0] < lengths[1])[:, None], own, np.roll(own, -1, axis=1))
        triangles += [np.stack((own[:, 0], own[:, k], own[:, k + 1]), axis=1) for k in range(1, size - 1)]
    return np.concatenate(triangles) if triangles else np.zeros((0, 3), np.int64)


@cache
def _ball() -> tuple[Floats, Any]:
    """A mesh of a sphere of radius 1."""
    turns, rings = 24, 12
    rows = [(0.0, 0.0, 1.0)]
    for ring in range(1, rings):
        height, radius = math.cos(math.pi * ring / rings), math.sin(math.pi * ring / rings)
        angles = 2.0 * math.pi * np.arange(turns) / turns
        rows += [(radius * math.cos(angle), radius * math.sin(angle), height) for angle in angles.tolist()]
    points = np.array([*rows, (0.0, 0.0, -1.0)])
    hull = convex_hull(points)
    assert hull is not None
    return points, hull


def _value(type_: str, text: str) -> Any:
    """A value of the table from the text of MJCF; None if it is none."""
    kind = value_type(type_)
    try:
        if kind.base == "bool":
            return {"enable": True, "true": True, "disable": False, "false": False}.get(text)
        if kind.base == "text":
            return text.lower()
        numbers = tuple(int(part) if kind.base == "int" else float(part) for part in text.split())
    except ValueError:
        return None
    if kind.is_array or kind.size > 1:
        return numbers if kind.is_array or len(numbers) == kind.size else None
    return numbers[0] if numbers else None
