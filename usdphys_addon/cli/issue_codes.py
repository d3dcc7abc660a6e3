# SPDX-License-Identifier: GPL-3.0-or-later
"""Codes of issues, and which of them a command reports."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from ..core.errors import UsageError

#: What `usd`, `gltf`, `urdf`, `mjcf`, `sdf`, `bridge` and `exchange` report. A test compares it with their code.
FILE_CODES = frozenset({
    "AnimationLeftOut",
    "AssetMissing", "BindingNotApplied", "BlenderSimulatesToo", "CableHolderMissing", "CableNotALine",
    "ColliderDeforms", "ColliderLacksInstances", "ColliderWithoutGeometry", "ColorsUnreadable",
    "DefaultPrimMissing", "FilesNotPacked",
    "FilesPacked", "GeometryUnreadable", "GltfCombineUnwritten", "GltfForeign", "GltfGodotTaper",
    "GltfGravityVolume", "GltfInertiaUnwritten", "GltfJointDamaged", "GltfJointKept", "GltfJointSkipped",
    "GltfMassIgnored", "GltfMeshCompressed", "GltfMirrored", "GltfMotionKept", "GltfMotionUnknown", "GltfNested",
    "GltfNotExported", "GltfNotSaid", "GltfOldForm", "GltfOtherScenes", "GltfPlaneAsMesh", "GltfShapeUnknown",
    "GltfSheared", "GltfSkinned", "GltfTapered", "GltfTriggerKept", "GltfUnread", "GltfVehicleKept",
    "GroupTargetMissing", "GroupUndefined", "InstanceEdited", "IsaacRobotMissing", "JointBodyMissing",
    "JointLeftBehind",
    "LabelsMissing", "LayerUnits", "MaterialOtherPurpose",
    "MeshColliderTwice", "MjcfClassMissing", "MjcfKeyframePart", "MjcfKeyframes", "MjcfLightLinks",
    "MjcfMeshMissing", "MjcfNoMass", "MjcfNotSaid", "MjcfUnread", "MjcfWrittenAnew",
    "NameChanged", "NameClash", "NewerVersion", "NotExported", "NotShown", "OwnerMissing", "PreviewExported",
    "RosInertialIncomplete", "RosLimitMissing", "RosMimicMissing", "RosNameTwice", "RosSeveralRoots",
    "SdfAxisZero", "SdfFrameMissing", "SdfGravity", "SdfIncludeMissing", "SdfJointLeftOut", "SdfLeftOut",
    "SdfLimitsSwapped", "SdfMassAutomatic", "SdfMassNegative", "SdfMeshMissing", "SdfMimicBroken",
    "SdfNameTwice", "SdfNumber", "SdfShapeFlat", "SdfSubmesh",
    "ScriptsNotRun", "SrdfLinkMissing", "StageTimes", "StageUpAxis", "TetMeshEdited", "TetMeshValuesLeftOut",
    "UrdfAxisZero", "UrdfBodyLeftOut", "UrdfCycle", "UrdfFreeBase", "UrdfInertiaIncomplete", "UrdfInertiaUnphysical",
    "UrdfInertiaZero", "UrdfJointChain", "UrdfJointLeftOut", "UrdfLimitLeftOut", "UrdfLimitMissing",
    "UrdfLimitsSwapped", "UrdfLoop", "UrdfMassMissing",
    "UrdfMassNegative", "UrdfMeshMissing", "UrdfMeshUnread", "UrdfMimicBroken", "UrdfMimicLeftOut",
    "UrdfMimicMixed", "UrdfNameTwice", "UrdfNameless", "UrdfNoMass", "UrdfNotWritten", "UrdfNumber",
    "UrdfPlaceLeftOut",
    "UrdfSecondParent", "UrdfSeveralRoots", "UrdfShapeFlat", "UrdfShapeLeftOut", "UrdfShapeUnknown",
    "UrdfTextureMissing", "UrdfTextureUnused", "UrdfXacroLeft", "ValueUnreadable", "WrongValueType",
})  # fmt: skip


def known_codes() -> frozenset[str]:
    """The codes of all issues that `validate` can find."""
    from ..core import validate

    return FILE_CODES | {row.code for row in validate.issue_table()}


@dataclass(frozen=True, slots=True)
class Selection:
    """Which codes are reported. selected: all others are left out; empty: none is. ignored: left out in any case."""

    selected: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()

    def has(self, code: str) -> bool:
        return code not in self.ignored and (not self.selected or code in self.selected)


def selection(selected: Iterable[str], ignored: Iterable[str]) -> Selection:
    """The selection of two options, each a list of texts with codes between commas. Raises UsageError."""
    return Selection(_codes("--select", selected), _codes("--ignore", ignored))


def _codes(option: str, texts: Iterable[str]) -> frozenset[str]:
    codes = {part.strip() for text in texts for part in text.split(",")} - {""}
    known = known_codes()
    by_small = {code.lower(): code for code in known}
    for code in sorted(codes - known):
        near = difflib.get_close_matches(code.lower(), by_small, 1, 0.0)
        raise UsageError(f"{option} {code}: there is no such code; the nearest one is {by_small[near[0]]}.")
    if not codes and list(texts):
        raise UsageError(f"{option} names no code; write one such as MassInvalidValues.")
    return frozenset(codes)
