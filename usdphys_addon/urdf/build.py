# SPDX-License-Identifier: GPL-3.0-or-later
"""A model with its shapes -> the text of a URDF, for robots that no URDF was imported for.

The frame of a link is at its joint, along the axes of its body. Numbers are the shortest decimals of 32-bit floats.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..core import frames, gprims, joint_settings, mass, paths, primitives
from ..core.frames import Matrix
from ..core.model import Mesh, PhysicsModel, Prim, SpherePoints
from ..core.schemas import usd_geom, usd_physics
from ..core.validate import Issue
from ..core.words import counted
from . import standing, tree
from .edit import number_text
from .markup import Element, to_text
from .mesh_data import MeshData, MeshMaterial, srgb
from .mesh_files import MeshFiles
from .tree import WORLD, Branch, Freedom, Tree
from .verify import Names

#: rad, m, rad/s, m/s, N, Nm: written where URDF demands a number and there is no limit, and read as none.
UNLIMITED = 1e9
#: Parts of 1 below which a component of a direction, and metres or radians below which a number is rounding.
_NOISE = 2e-7


@dataclass(slots=True)
class Part:
    """Something visible. world: (4, 4) of its prim, with scale. One of gprim and mesh is there."""

    path: str
    world: Matrix
    gprim: usd_geom.Gprim | None = None
    mesh: MeshData | None = None
    material: MeshMaterial | None = None


class Frame(NamedTuple):
    """A link without a body, on a fixed joint. world: (4, 4) without scale. joint: name of the joint."""

    path: str
    world: Matrix
    joint: str


@dataclass(slots=True)
class Kept:
    """What is beside the bodies and joints. frames: links without a body, parents first. others: further elements of
    the robot. implied: paths of joints that an earlier text did not have, because a base without a joint means them.

    efforts: largest force or torque by path of a joint, where no drive has one. notes: further numbers of joints by
    path and "element:attribute".
    """

    frames: list[Frame] = field(default_factory=list)
    others: list[Element] = field(default_factory=list)
    implied: frozenset[str] = frozenset()
    efforts: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(slots=True)
class Built:
    """links, joints: numbers of those that are written. names: what the text calls the prims of the model."""

    text: str
    issues: list[Issue]
    links: int
    joints: int
    #: Frame (4, 4) of each link of a body in that of the root, by name, where all joints are at zero.
    worlds: dict[str, Matrix] = field(default_factory=dict)
    names: Names = field(default_factory=lambda: Names({}, {}, {}))


def build(
    model: PhysicsModel, parts: Iterable[Part], files: MeshFiles, name: str, names: dict[str, str],
    chosen: Collection[str] = (), kept: Kept | None = None,
) -> Built:  # fmt: skip
    """Write the robot of a model.

    names: for paths whose own name is not to be used. chosen: see `tree.tree_of`. Raises InputError.
    """
    return _Builder(model, list(parts), files, name, names, chosen, kept or Kept()).result


class _Builder:
    def __init__(
        self, model: PhysicsModel, parts: list[Part], files: MeshFiles, name: str, names: dict[str, str],
        chosen: Collection[str], kept: Kept,
    ) -> None:  # fmt: skip
        self.model, self.parts, self.files, self.kept = model, parts, files, kept
        self.tree: Tree = tree.tree_of(model, chosen, kept.implied)
        self.issues = self.tree.issues
        self.names, self.taken = names, ({"world"} if self.tree.root == WORLD else set[str]())
        self.materials: dict[tuple[float, ...], str] = {}
        self.gains: list[str] = []
        self.unlimited: list[str] = []
        self.root = Element("robot", {"name": name})
        self.links: list[Element] = []
        self.joints: list[Element] = []
        self.joints_taken: set[str] = set()
        #: Names of the joints that are one of URDF's, by path.
        self.whole_joints: dict[str, str] = {}
        self.link_names = {path: self.link_name(path) for path in self.tree.links}
        self.joint_names = {
            branch.joint.path: self.unique(self.wanted(branch.joint), self.joints_taken)
            for branch in self.tree.branches.values()
        }  # fmt: skip
        self.ends = {path: self.joint_frames(branch) for path, branch in self.tree.branches.items()}
        #: The frame of each link in the rigid frame of its body.
        self.places = {path: np.eye(4) for path in self.tree.links}
        for path, (_, frame) in self.ends.items():
            self.places[path] = frames.transform(frame[:3, 3])
        self.write_links()
        #: Name and frame in the world (4, 4) of each link that others can be below, by path.
        self.frames = {
            path: (self.link_names[path], self.rigid(path) @ self.places[path]) for path in self.tree.links
        }  # fmt: skip
        for one in kept.frames:
            self.frame(one)
        self.write_joints()
        self.root.children += [*self.links, *self.joints, *map(self.loop, self.tree.loops), *kept.others]
        self.tell_gaps()
        text = '<?xml version="1.0" encoding="UTF-8"?>\n' + to_text(self.root)
        said = Names(
            {path: name for path, name in self.link_names.items() if path != WORLD}, self.whole_joints,
            {path: self.rigid(path) @ self.places[path] for path in self.tree.links},
            frozenset(branch.joint.path for branch in self.tree.branches.values() if branch.reversed),
        )  # fmt: skip
        self.result = Built(text, self.issues, len(self.links), len(self.joints), self.worlds(), said)

    def tell(self, code: str, severity: Any, prim: Prim, message: str, fix: str) -> None:
        self.issues.append(Issue(code, severity, prim.path, prim.label, message, fix))

    # ------------------------------------------------------------------ names

    def wanted(self, prim: Prim) -> str:
        return self.names.get(prim.path) or prim.label or paths.name_of(prim.path)

    @staticmethod
    def unique(name: str, taken: set[str]) -> str:
        made = paths.free(name, taken.__contains__)
        taken.add(made)
        return made

    def link_name(self, path: str) -> str:
        return "world" if path == WORLD else self.unique(self.wanted(self.model.prims[path]), self.taken)

    # ------------------------------------------------------------------ frames

    def rigid(self, path: str) -> Matrix:
        """World matrix (4, 4) of a body without its scale."""
        if path == WORLD:
            return np.eye(4)
        world = self.model.prims[path].world
        return frames.unscaled(world)

    def joint_frames(self, branch: Branch) -> tuple[Matrix, Matrix]:
        """The joint frame (4, 4) in the rigid frames of parent and child."""
        frames_of_sides = []
        for side, world in enumerate(self.frames_of(branch.joint)):
            body = branch.child if (side == 1) != branch.reversed else branch.parent
            frames_of_sides.append(np.linalg.inv(self.rigid(body)) @ world)
        return (frames_of_sides[1], frames_of_sides[0]) if branch.reversed else (frames_of_sides[0], frames_of_sides[1])

    def worlds(self) -> dict[str, Matrix]:
        by_link = {self.tree.root: np.eye(4)}
        for path in self.tree.links[1:]:
            above, below = self.ends[path]
            by_link[path] = by_link[self.tree.branches[path].parent] @ above @ np.linalg.inv(below)
        return {self.link_names[path]: world @ self.places[path] for path, world in by_link.items()}

    # ------------------------------------------------------------------ links

    def write_links(self) -> None:
        bodies = mass.colliders_by_body(self.model)
        visuals: dict[str, list[Part]] = {}
        known = set(self.tree.links)
        for part in self.parts:
            visuals.setdefault(paths.nearest(part.path, known), []).append(part)
        for path in self.tree.links:
            link = Element("link", {"name": self.link_names[path]})
            self.links.append(link)
            if path == WORLD:
                continue
            space = np.asarray(np.linalg.inv(self.rigid(path) @ self.places[path]), float)
            inertial = self.inertial(path, bodies[path])
            if inertial is not None:
                link.children.append(inertial)
            for part in visuals.get(path, []):
                self.visual(link, part, space)
            for prim in bodies[path]:
                self.collision(link, prim, space)

    def inertial(self, path: str, colliders: list[Prim]) -> Element | None:
        properties = mass.mass_properties(self.model, path, colliders)
        if properties.mass_source.kind == "fallback":
            self.tell("UrdfNoMass", "warning", self.model.prims[path],
                      f"'{self.link_names[path]}' has neither a mass nor a collider with a volume, so it gets no "
                      "inertial.", "Set a mass.")  # fmt: skip
            return None
        pose = np.linalg.inv(self.places[path]) @ frames.transform(properties.center_of_mass)
        tensor = properties.inertia
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        size = float(np.abs(tensor).max()) * 1e-9
        values = [0.0 if abs(value) <= size else float(value) for value in tensor[np.triu_indices(3)]]
        return Element("inertial", children=[
            _origin(pose), Element("mass", {"value": number_text(properties.mass)}),
            Element("inertia", dict(zip(keys, map(number_text, values), strict=True))),
        ])  # fmt: skip

    # ------------------------------------------------------------------ shapes

    def visual(self, link: Element, part: Part, space: Matrix) -> None:
        place = space @ part.world
        made = None
        if part.gprim is not None:
            made = self.primitive(part.path, part.gprim, place)
        elif part.mesh is not None:
            made = self.box_of(part, place) or self.mesh(part.mesh, place, paths.name_of(part.path), "visual")
        if made is None:
            return
        for pose, geometry in made:
            element = Element("visual", {"name": paths.name_of(part.path)}, [_origin(pose), geometry])
            if part.material is not None and part.material.color is not None:
                element.children.append(self.material(part.material))
            link.children.append(element)

    def collision(self, link: Element, prim: Prim, space: Matrix) -> None:
        place = space @ prim.world
        gprim = prim.get(usd_geom.Gprim)
        if gprim is not None:
            made = self.primitive(prim.path, gprim, place)
        else:
            data = prim.mesh() if prim.mesh is not None else None
            made = self.collider_mesh(prim, data, place)
        for pose, geometry in made or ():
            link.children.append(
                Element("collision", {"name": paths.name_of(prim.path)}, [_origin(pose), geometry])
            )  # fmt: skip

    def collider_mesh(
        self, prim: Prim, data: Mesh | SpherePoints | None, place: Matrix
    ) -> list[tuple[Matrix, Element]] | None:  # fmt: skip
        if isinstance(data, SpherePoints):
            factor = float(np.abs(frames.scale_of(place)).max())
            return [
                (frames.transform((place @ (*center, 1.0))[:3]), _geometry("sphere", radius=radius * factor))
                for center, radius in zip(data.centers, data.radii, strict=True)
            ]
        if data is None or not len(data.triangles):
            self.tell("UrdfShapeLeftOut", "warning", prim, f"'{prim.name}' is left out: it has no faces.",
                      "Remove the collider, or give it faces.")  # fmt: skip
            return None
        api = prim.get(usd_physics.MeshCollisionAPI)
        approximation = api.resolved("approximation") if api is not None else "none"
        if approximation in ("boundingCube", "boundingSphere"):
            low, high = data.points.min(axis=0), data.points.max(axis=0)
            kind = usd_geom.Cube if approximation == "boundingCube" else usd_geom.Sphere
            if kind is usd_geom.Cube:
                return self.primitive(
                    prim.path, usd_geom.Cube(1.0), place @ frames.transform((low + high) / 2, None, high - low)
                )
            radius = float(np.linalg.norm(data.points - (low + high) / 2, axis=1).max())
            return self.primitive(prim.path, usd_geom.Sphere(radius), place @ frames.transform((low + high) / 2))
        count = len(data.triangles)
        mesh = MeshData(data.points, np.full(count, 3), data.triangles.reshape(-1))
        return self.mesh(mesh, place, paths.name_of(prim.path), "collision")

    def primitive(self, path: str, gprim: usd_geom.Gprim, place: Matrix) -> list[tuple[Matrix, Element]] | None:
        """Pose and geometry of a gprim; None, and an issue, for a plane."""
        scale, turn = frames.scale_of(place), frames.rotation_of(place)
        sizes = gprims.sizes(gprim, scale)
        pose = frames.transform(place[:3, 3], turn)
        if sizes.kind is usd_geom.Cube:
            if frames.is_sheared(place, 1e-5):
                return self.mesh(_box_mesh(gprim.resolved("size")), place, paths.name_of(path), "collision")
            return [(pose, _geometry("box", size=sizes.edges))]
        if sizes.kind is usd_geom.Sphere:
            return [(pose, _geometry("sphere", radius=sizes.radius))]
        if sizes.kind not in (usd_geom.Cylinder, usd_geom.Capsule, usd_geom.Cone):
            word = sizes.kind.usd_name.lower()
            self.issues.append(Issue("UrdfShapeLeftOut", "warning", path, "",
                                     f"'{paths.name_of(path)}' is left out: URDF has no {word}.",
                                     "Use a box."))  # fmt: skip
            return None
        # URDF's axis is Z.
        pose = pose @ _TO_AXIS[sizes.axis]
        if sizes.kind is usd_geom.Cone:
            return self.mesh(_cone_mesh(sizes.radius, sizes.height), pose, paths.name_of(path), "collision")
        if sizes.kind is usd_geom.Capsule:
            self.root.attributes["version"] = "1.1"
        word = "capsule" if sizes.kind is usd_geom.Capsule else "cylinder"
        return [(pose, _geometry(word, radius=sizes.radius, length=sizes.height))]

    def box_of(self, part: Part, place: Matrix) -> list[tuple[Matrix, Element]] | None:
        """A mesh that is a box without a texture as a box."""
        mesh = part.mesh
        if mesh is None or len(mesh.points) > 64 or len(set(mesh.faces.tolist() if mesh.faces is not None else ())) > 1:
            return None
        textured = [part.material, *mesh.materials]
        if any(one is not None and one.texture is not None for one in textured):
            return None
        primitive = primitives.recognise(mesh.points)
        if primitive is None or primitive.kind is not usd_geom.Cube or not primitive.survives(place):
            return None
        if not primitives.is_closed(mesh.points, mesh.corners.astype(np.int32), mesh.counts.astype(np.int32)):
            return None
        if part.material is None and mesh.materials:
            part.material = mesh.materials[0]
        box = frames.transform(primitive.center, primitive.rotation, primitive.size)
        return self.primitive(part.path, usd_geom.Cube(1.0), place @ box)

    def mesh(self, mesh: MeshData, place: Matrix, name: str, kind: str) -> list[tuple[Matrix, Element]]:
        """A mesh as a file; a place with shear is applied to its points."""
        if frames.is_sheared(place, 1e-5):
            mesh, place = mesh.transformed(place[:3, :3]), frames.transform(place[:3, 3])
        scale = np.linalg.norm(place[:3, :3], axis=0)
        turn = place[:3, :3] / np.where(scale > 0, scale, 1.0)
        if np.linalg.det(turn) < 0:
            turn[:, 0] *= -1
            scale = scale * (-1.0, 1.0, 1.0)
        values = {"filename": self.files.uri(mesh, name, kind)}
        if np.abs(scale - 1.0).max() > _NOISE:
            values["scale"] = _numbers(scale)
        geometry = Element("geometry", children=[Element("mesh", values)])
        return [(frames.transform(place[:3, 3], frames.rotation_of(turn)), geometry)]

    def material(self, material: MeshMaterial) -> Element:
        color = material.color
        assert color is not None
        name = self.materials.get(color)
        rgba = " ".join(f"{value:.6g}" for value in srgb(color))
        if name is None:
            name = paths.free(material.name or "material", set(self.materials.values()).__contains__)
            self.materials[color] = name
        return Element("material", {"name": name}, [Element("color", {"rgba": rgba})])

    # ------------------------------------------------------------------ joints

    def write_joints(self) -> None:
        order = self.model.joints
        child_of = {branch.joint.path: child for child, branch in self.tree.branches.items()}
        for path in order:
            if path in child_of:
                self.joint(self.tree.branches[child_of[path]])

    def loop(self, edge: tree.Edge) -> Element:
        """A joint beside the tree, with its place in both links; see `read`."""
        prim = edge.joint
        joint = prim.get(usd_physics.Joint)
        name = self.unique(self.wanted(prim), self.joints_taken)
        element = Element("loop_joint", {"name": name, "type": tree.LOOP_KINDS[prim.type_name]})
        for side, (path, frame) in enumerate(zip(edge.ends, self.frames_of(prim), strict=True)):
            pose = np.linalg.inv(self.rigid(path) @ self.places[path]) @ frame
            place = _origin(pose).attributes
            element.children.append(Element(f"link{side + 1}", {"link": self.link_names[path], **place}))
        if isinstance(joint, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
            free = tree.freedoms(prim)[0]
            element.children.append(Element("axis", {"xyz": _numbers(np.eye(3)[free.axis])}))
            if free.is_limited:
                limits = {"lower": number_text(free.low), "upper": number_text(free.high)}
                element.children.append(Element("limit", limits))
        return element

    def frames_of(self, prim: Prim) -> list[Matrix]:
        """The frames (4, 4) of a joint in the world, as its two bodies have them."""
        joint: Any = prim.get(usd_physics.Joint)
        frames_found = []
        for side, targets in enumerate((joint.body0, joint.body1)):
            target = self.model.prims.get(targets[0]) if targets else None
            frames_found.append(frames.world_frame(
                None if target is None else target.world,
                joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"),
            ))  # fmt: skip
        return frames_found

    def joint(self, branch: Branch) -> None:
        """One joint, or several with links without mass between them where URDF has no type for it."""
        name = self.joint_names[branch.joint.path]
        above, below = self.ends[branch.child]
        child, (parent, place) = self.link_names[branch.child], self.frames[self.above(branch)]
        before = np.linalg.inv(place) @ self.rigid(branch.parent) @ above
        after = np.linalg.inv(below) @ self.places[branch.child]
        sign = -1.0 if branch.reversed else 1.0
        free = tree.freedoms(branch.joint)
        free = free[::-1] if branch.reversed else free
        kind = _kind(free)
        distance = any(key == "distance" for key, _ in branch.joint.instances(usd_physics.LimitAPI))
        if distance:
            self.tell("UrdfLimitLeftOut", "warning", branch.joint,
                      f"The limit of the distance of '{name}' is left out: URDF has none.",
                      "Use another joint.")  # fmt: skip
        if kind is not None:
            self.whole_joints[branch.joint.path] = name
            element = self.start_joint(name, kind, parent, child, before @ after)
            if kind == "planar":
                normal = ({0, 1, 2} - {one.axis for one in free if not one.is_angular}).pop()
                element.children.append(_axis(below[:3, normal] * sign))
            elif free and kind != "floating":
                self.freedom(element, branch, free[0], below[:3, free[0].axis] * sign)
                self.mimic(element, branch)
            return
        self.tell("UrdfJointChain", "info", branch.joint,
                  f"'{name}' is written as {len(free)} joints with links without mass between them: URDF's joints have "
                  "one axis.", "Give these massless links a small mass if a simulator requires it.")  # fmt: skip
        last = len(free) - 1
        above_link = parent
        for index, freedom in enumerate(free):
            suffix = f"_{'r' if freedom.is_angular else 't'}{'xyz'[freedom.axis]}"
            if index < last:
                below_link = self.unique(f"{child}{suffix}", self.taken)
                self.links.append(Element("link", {"name": below_link}))
            else:
                below_link = child
            pose = (before if index == 0 else np.eye(4)) @ (after if index == last else np.eye(4))
            kind = _kind([freedom]) or "continuous"
            one = self.start_joint(
                self.unique(f"{name}{suffix}", self.joints_taken), kind, above_link, below_link, pose
            )
            axis = below[:3, freedom.axis] if index == last else np.eye(3)[freedom.axis]
            self.freedom(one, branch, freedom, axis * sign)
            above_link = below_link

    def above(self, branch: Branch) -> str:
        """Path of the link that a joint hangs on: a frame of the parent if the child is below that, else the parent."""
        frame = paths.nearest(paths.parent_of(branch.child), self.frames)
        bodies = set(self.tree.links) - {WORLD}
        is_of_parent = frame not in bodies and frame and paths.nearest(frame, bodies) == branch.parent
        return frame if is_of_parent else branch.parent

    def start_joint(self, name: str, kind: str, parent: str, child: str, pose: Matrix) -> Element:
        element = Element("joint", {"name": name, "type": kind}, [
            _origin(pose), Element("parent", {"link": parent}), Element("child", {"link": child}),
        ])  # fmt: skip
        self.joints.append(element)
        return element

    def freedom(self, element: Element, branch: Branch, free: Freedom, axis: Matrix) -> None:
        """Axis, limits and dynamics of a joint with one degree of freedom."""
        prim = branch.joint
        element.children.append(_axis(axis))
        drive = next((drive for name, drive in prim.instances(usd_physics.DriveAPI) if name == free.name), None)
        effort = self.kept.efforts.get(prim.path, 0.0)
        damping = joint_settings.joint_damping(prim, free.name)
        if drive is not None:
            force = drive.resolved("max_force")
            effort = force if math.isfinite(force) else effort or UNLIMITED
            stiffness, gain = drive.resolved("stiffness"), drive.resolved("damping")
            if not stiffness and gain and drive.resolved("type") == "force" and not drive.resolved("target_velocity"):
                damping += gain
            elif stiffness or gain:
                self.gains.append(element.attributes["name"])
        limit = {}
        kind = element.attributes["type"]
        if kind in ("revolute", "prismatic"):
            if not (math.isfinite(free.low) and math.isfinite(free.high)):
                self.unlimited.append(element.attributes["name"])
            if free.low > free.high:
                self.tell("UrdfLimitsSwapped", "warning", prim,
                          f"The lower limit of '{element.attributes['name']}' is above its upper one: readers of URDF "
                          "swap them, hold the joint, or refuse the file.", "Swap its limits.")  # fmt: skip
            limit["lower"] = number_text(max(free.low, -UNLIMITED))
            limit["upper"] = number_text(min(free.high, UNLIMITED))
        speed = joint_settings.joint_speed(prim, free.name)
        limit["effort"] = number_text(effort)
        limit["velocity"] = number_text(min(speed, UNLIMITED) if speed else UNLIMITED)
        if len(limit) > 2 or effort or speed:
            element.children.append(Element("limit", limit))
        for key, text in self.kept.notes.get(prim.path, {}).items():
            tag, _, attribute = key.partition(":")
            home = element.find(tag)
            if home is None:
                home = Element(tag)
                element.children.append(home)
            home.attributes[attribute] = text
        dynamics = {"damping": damping, "friction": joint_settings.joint_friction(prim, free.name)}
        if any(dynamics.values()):
            element.children.append(
                Element("dynamics", {key: number_text(value) for key, value in dynamics.items() if value})
            )

    def mimic(self, element: Element, branch: Branch) -> None:
        rule = joint_settings.following(branch.joint)
        if rule is None:
            return
        leader = self.joint_names.get(rule.leader)
        if leader is None:
            self.tell("UrdfMimicLeftOut", "warning", branch.joint,
                      f"'{element.attributes['name']}' does not follow '{paths.name_of(rule.leader)}', which is not "
                      "a joint of the robot.", "Choose another joint to follow.")  # fmt: skip
            return
        values = {"joint": leader, "multiplier": number_text(rule.ratio)}
        if rule.offset:
            values["offset"] = number_text(rule.offset)
        element.children.append(Element("mimic", values))

    def frame(self, frame: Frame) -> None:
        """A link without a body, below the frame or the body that it is below; above the bodies, below the world."""
        above = paths.nearest(frame.path, self.frames)
        if above not in self.frames:
            return
        child = self.unique(self.wanted(Prim(frame.path)), self.taken)
        self.links.append(Element("link", {"name": child}))
        pose = np.asarray(np.linalg.inv(self.frames[above][1]) @ frame.world, float)
        name = self.unique(frame.joint, self.joints_taken)
        self.start_joint(name, "fixed", self.frames[above][0], child, pose)
        self.frames[frame.path] = (child, frame.world)

    # ------------------------------------------------------------------ what URDF cannot say

    def tell_gaps(self) -> None:
        root = self.tree.root
        if root != WORLD and self.tree.branches:
            self.tell("UrdfFreeBase", "info", self.model.prims[root],
                      f"No joint holds '{self.link_names[root]}'; most programs that read URDF fix such a link to the "
                      "world by default.",
                      "Choose a free base in the program that reads it.")  # fmt: skip
        if root != WORLD:
            self.issues += standing.left_out(root, self.link_names[root], self.rigid(root) @ self.places[root])
        for names, code, message, fix in (
            (self.gains, "UrdfGainsNotWritten",
             "URDF has no gains of drives: those of {} are left out.", "Set the gains in the simulator or controller."),
            (self.unlimited, "UrdfLimitsNeeded", "URDF demands limits: those of {} are 1e9 where there is none.",
             "Set limits."),
        ):  # fmt: skip
            if names:
                listed = ", ".join(f"'{name}'" for name in names[:3])
                text = listed if len(names) <= 3 else f"{listed} and {counted(len(names) - 3, 'other joint')}"
                self.issues.append(Issue(code, "info", "", "", message.format(text), fix))


def _kind(free: list[Freedom]) -> str | None:
    """The type of URDF for degrees of freedom; None if it takes several joints."""
    if not free:
        return "fixed"
    if len(free) == 1:
        one = free[0]
        return "prismatic" if not one.is_angular else "revolute" if one.is_limited else "continuous"
    if any(one.is_limited for one in free):
        return None
    if len(free) == 6:
        return "floating"
    turns = [one.axis for one in free if one.is_angular]
    moves = {one.axis for one in free if not one.is_angular}
    return "planar" if len(turns) == 1 and len(moves) == 2 and turns[0] not in moves else None


def _origin(pose: Matrix) -> Element:
    size = max(1.0, float(np.abs(pose[:3, 3]).max()))
    place = np.where(np.abs(pose[:3, 3]) < _NOISE * size * 0.1, 0.0, pose[:3, 3])
    turn = np.array(frames.euler_angles(pose))
    turn = np.where(np.abs(turn) < _NOISE, 0.0, turn)
    return Element("origin", {"xyz": _numbers(place), "rpy": " ".join(_angle_text(value) for value in turn)})


def _angle_text(value: float) -> str:
    """Nine digits: 32 bits would turn a chain of joints near pi by parts of a millionth."""
    return "0" if not value else f"{value:.9g}"


def _numbers(values: Iterable[float]) -> str:
    return " ".join(number_text(float(value)) for value in values)


def _axis(direction: Matrix) -> Element:
    values = np.asarray(direction, float)
    values = np.where(np.abs(values) < _NOISE, 0.0, values)
    values = np.where(np.abs(np.abs(values) - 1.0) < _NOISE, np.sign(values), values)
    return Element("axis", {"xyz": _numbers(values)})


def _geometry(word: str, **values: Any) -> Element:
    texts = {
        name: _numbers(value) if isinstance(value, tuple) else number_text(float(value))
        for name, value in values.items()
    }
    return Element("geometry", children=[Element(word, texts)])


#: Turns Z to the axis of a gprim.
_TO_AXIS = {
    "X": frames.transform((0, 0, 0), frames.matrix_of((math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0))),
    "Y": frames.transform((0, 0, 0), frames.matrix_of((math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0))),
    "Z": np.eye(4),
}
#: Segments of a cone.
_SEGMENTS = 32


def _cone_mesh(radius: float, height: float) -> MeshData:
    """A cone about Z, its tip up, with the origin at half its height."""
    around = np.arange(_SEGMENTS) * (2.0 * math.pi / _SEGMENTS)
    rim = np.stack([radius * np.cos(around), radius * np.sin(around), np.full(_SEGMENTS, -height / 2)], axis=1)
    points = np.concatenate([rim, [[0.0, 0.0, height / 2]]])
    following = (np.arange(_SEGMENTS) + 1) % _SEGMENTS
    sides = np.stack([np.arange(_SEGMENTS), following, np.full(_SEGMENTS, _SEGMENTS)], axis=1).reshape(-1)
    counts = np.array([3] * _SEGMENTS + [_SEGMENTS])
    return MeshData(points, counts, np.concatenate([sides, np.arange(_SEGMENTS)[::-1]]).astype(np.int64))


def _box_mesh(size: float) -> MeshData:
    points = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) * size / 2
    corners = np.array([0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1, 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3], np.int64)
    return MeshData(points, np.full(6, 4), corners)
