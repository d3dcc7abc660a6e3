# SPDX-License-Identifier: GPL-3.0-or-later
"""Issues about physics that the preview simulates differently, or not at all."""

from __future__ import annotations

from typing import NamedTuple

from ..core.model import Prim
from ..core.rules.base import Issue, Severity


class NoticeKind(NamedTuple):
    """meaning: one sentence for the documentation. fix: one imperative sentence for the user."""

    severity: Severity
    meaning: str
    fix: str


#: By code, sorted.
NOTICE_KINDS: dict[str, NoticeKind] = {
    "AirSlows": NoticeKind(
        "info", "Bodies that author no damping are slowed down, as the simulator does that the scene is made for.",
        "Set Air and Rolling to Off to simulate them without, or set damping on the bodies.",
    ),
    "AnimatedStill": NoticeKind(
        "warning", "A value is animated that cannot change while the simulation runs.",
        "Animate a value that can (targets, gains and limits of joints, masses, materials, gravity, what is enabled), "
        "or remove the animation.",
    ),
    "ApproximationOther": NoticeKind(
        "info", "The approximation of a collider is a word of a simulator: the preview simulates the triangles.",
        "Run the exported file in that simulator, or choose another shape in Collides As.",
    ),
    "ArmatureLess": NoticeKind(
        "warning", "A joint in no articulation has far more armature than its bodies have inertia: a part of it acts.",
        "Make the armature smaller, make an articulation of its tree, or simulate with MuJoCo as the engine.",
    ),
    "ArticulationLoop": NoticeKind(
        "info", "A joint closes a loop of an articulation: it is simulated apart from it.",
        "Switch Not Articulated on for the joint of your choice to decide where the loop is cut.",
    ),
    "ArticulationNotReduced": NoticeKind(
        "info",
        "An articulation has a loop, wheels, or a cone or a distance on a link, or is too long or uneven in mass to "
        "use reduced coordinates.",
        "No action is needed: this is as accurate here. If links give way, make their masses more alike.",
    ),
    "ArticulationUnstable": NoticeKind(
        "warning",
        "Reduced coordinates are unstable for these masses or poses: the articulation uses maximal coordinates.",
        "Make the masses of the links more alike, and place the links within the limits of their joints.",
    ),
    "BodyTooHeavy": NoticeKind(
        "warning", "A body weighs more than 10,000,000 t: the solver loses its friction, and it slides freely.",
        "Correct its mass or its density, or simulate with MuJoCo as the engine.",
    ),
    "BouncesInRow": NoticeKind(
        "info",
        "Bodies that bounce touch each other in a row at the start: balls are simulated smaller by 0.3 %; of other "
        "shapes too little of a hit arrives at the end.",
        "No action is needed for balls; move other bodies apart by a hundredth of their size.",
    ),
    "ColliderWithoutGeometry": NoticeKind(
        "warning", "A collider has no geometry that can be simulated.", "Apply the collider to a mesh or a primitive."
    ),
    "CollisionGroupsTooMany": NoticeKind(
        "warning", "More kinds of collision groups than the solver has bits for: some filters do not act.",
        "Merge groups that filter the same.",
    ),
    "ContactJammed": NoticeKind(
        "info",
        "Parts of an articulation touch at the start where no joint can move them apart, or only by more than 0.02 rad "
        "or m: they do not collide.",
        "Make the shapes smaller, or filter the pair.",
    ),
    "Deformable": NoticeKind(
        "info", "Cloth, soft bodies and cables are not simulated, and nothing collides with them.",
        "Run the exported file in a simulator of deformables.",
    ),
    "DriveIgnored": NoticeKind(
        "warning", "A drive or limit names a degree of freedom that the joint does not have.",
        "Use a degree of freedom of the joint type, or a generic joint.",
    ),
    "EngineChosen": NoticeKind(
        "info", "The engine Automatic has chosen an engine for a physics scene.",
        "Choose an engine yourself to keep it.",
    ),
    "EngineLimits": NoticeKind(
        "warning", "The chosen engine does not simulate a part of the physics.", "Choose another engine."
    ),
    "FilteredPairTooFine": NoticeKind(
        "warning", "A filtered pair of single colliders of compound bodies does not fit into the solver's filters.",
        "Filter the whole bodies instead.",
    ),
    "FlatCollider": NoticeKind(
        "info", "A mesh without thickness has no convex shape: a thin one is simulated.",
        "Give the mesh some thickness.",
    ),
    "FrictionOfPairs": NoticeKind(
        "info", "A body slides and spins at once where friction brakes the two apart: it turns about half as far.",
        "Simulate fewer moving bodies at once where it matters how far they turn.",
    ),
    "InInstancer": NoticeKind(
        "warning", "A body or a collider is in a point instancer, where UsdPhysics reads nothing: it is not simulated.",
        "Make a prim with a reference to it for each instance, and leave the point instancer out.",
    ),
    "JointApart": NoticeKind(
        "warning",
        "The two frames of a joint are apart at the start, or outside of the limits of a slide or hinge: its bodies "
        "are moved together first.",
        "Align the frames of the joint (Joint Tools), or place the bodies where the joint holds them.",
    ),
    "JointFollows": NoticeKind(
        "info",
        "A joint follows another one by a drive: the other does not feel what it pushes against. Of two joints of "
        "which only the follower has a drive with a target, that one leads.",
        "No action is needed unless that load matters; in that case run the exported file in Newton or PhysX.",
    ),
    "JointNotReduced": NoticeKind(
        "info", "A joint of an articulation is of a kind that is simulated apart from it.",
        "Use hinges, slides or fixed joints where precision matters.",
    ),
    "JointUnusable": NoticeKind(
        "warning", "A joint cannot be simulated.",
        "Give the joint two different bodies, at least one of them dynamic, and frames of finite numbers.",
    ),
    "JointsStacked": NoticeKind(
        "info", "Hinges or slides of an articulation hold the same two bodies by different axes: they are simulated as "
        "one joint of several axes, in their order, as in MuJoCo and Newton.",
        "For PhysX, which holds all of them at once, make one generic joint with a limit for each axis.",
    ),
    "KinematicVelocity": NoticeKind(
        "info", "A kinematic body has an initial velocity; its animation alone moves it.",
        "Remove the velocity, or make the body dynamic.",
    ),
    "LimitBeyondTurn": NoticeKind(
        "warning", "Rotations of more than one axis are limited to less than half a turn.",
        "Keep the limit within 180 degrees, or leave one axis free.",
    ),
    "LoadUnknown": NoticeKind(
        "warning", "A joint in a loop can break, but is a slide, or has limits, a drive or a cone: it never breaks.",
        "Use a fixed joint, or a hinge, ball joint or rope without limits and drives, or open the loop.",
    ),
    "MassRatio": NoticeKind(
        "warning", "Far more mass hangs on a jointed body than its own: its joints give way.",
        "Make the light body heavier or the bodies that it holds lighter, or simulate with the quality Exact.",
    ),
    "MaterialPerFace": NoticeKind(
        "info", "A collider has several physics materials: that of the whole prim is used.",
        "Split the collider where the material changes.",
    ),
    "MeshUnusable": NoticeKind("warning", "The mesh of a collider cannot be simulated.", "Repair the mesh."),
    "MeshesMeet": NoticeKind(
        "warning",
        "Bodies that collide as their triangles, and are not convex, touch each other or static triangles: they stick, "
        "creep, or pass through each other.",
        "Let them collide as their convex decomposition, or run the exported file with SDF meshes in PhysX.",
    ),
    "MeshesTooMany": NoticeKind(
        "warning", "More than 100 moving colliders are triangles and not convex: they may leap, stop or slide too far.",
        "Let them collide as their convex hull or decomposition.",
    ),
    "PlaneMoves": NoticeKind(
        "warning", "An infinite plane cannot move: it is left out of its body.", "Use a box or a mesh on bodies."
    ),
    "SceneMissing": NoticeKind("info", "There is no physics scene: earth gravity is used.", "Add a physics scene."),
    "SceneMixed": NoticeKind(
        "warning", "A joint or filter ties bodies of different physics scenes: it does nothing.",
        "Give both bodies the same physics scene.",
    ),
    "SceneOwner": NoticeKind(
        "warning", "A simulation owner is no physics scene, or there are several: another scene is used.",
        "Choose one physics scene (physics:simulationOwner).",
    ),
    "ShearedCollider": NoticeKind(
        "warning", "A primitive is sheared or scaled unevenly: the nearest shape of its kind is simulated.",
        "Apply the scale, or use a mesh collider.",
    ),
    "SmallBoxes": NoticeKind(
        "warning",
        "Boxes or hulls with faces smaller than 5 cm2 lie on each other, and tilt or fall through.",
        "Simulate with MuJoCo as the engine, or a model that is larger.",
    ),
    "StaticFriction": NoticeKind(
        "info",
        "Bodies at rest get the dynamic friction, too: it is the larger one, or more than 100 bodies may touch the "
        "material.",
        "Make Static Friction no smaller than Dynamic Friction; with more than 100 bodies, set both to the same value "
        "or simulate fewer.",
    ),
    "Unstable": NoticeKind(
        "warning",
        "A body moves faster than anything sensible, gains energy from nowhere, or its pose is not a number any more.",
        "Look for huge forces, tiny masses, or shapes that begin inside each other.",
    ),
    "VelocityScaled": NoticeKind(
        "info",
        "The prim of a moving body is scaled. The initial velocity is not, as in PhysX and Newton, unless the scale "
        "converts length units; by the specification's text it is.",
        "Apply the scale, so that all simulators agree.",
    ),
    "VendorNotSimulated": NoticeKind(
        "info", "A body, joint or material has settings of PhysX, Newton or MuJoCo that the preview does not simulate.",
        "Run the exported file in Newton, PhysX or MuJoCo to see the effect.",
    ),
    "WheelsTooMany": NoticeKind(
        "info", "More than 100 driven wheels: robots that skid turn up to a quarter too fast.",
        "Simulate fewer robots at once where it matters how they turn.",
    ),
}  # fmt: skip


class Notices:
    """Collects issues while a world is built and runs, without duplicates."""

    def __init__(self) -> None:
        self.issues: list[Issue] = []
        self._seen: set[tuple[str, str, str]] = set()

    def add(self, code: str, prim: Prim | None, message: str) -> None:
        """message: one sentence that names the prim. Raises KeyError for an unknown code."""
        kind = NOTICE_KINDS[code]
        path = "/" if prim is None else prim.path
        if (code, path, message) in self._seen:
            return
        self._seen.add((code, path, message))
        self.issues.append(Issue(code, kind.severity, path, "" if prim is None else prim.label, message, kind.fix))

    def copy(self) -> Notices:
        """An independent copy."""
        other = Notices()
        other.issues, other._seen = list(self.issues), set(self._seen)
        return other
