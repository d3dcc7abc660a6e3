# SPDX-License-Identifier: GPL-3.0-or-later
"""What the names of bones say: the part of the body, its side, and whether it is a finger or a helper."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

#: Fingers, parts of the face, clothes and helpers: words of a name, and parts of words that are in no other word.
_DROPPED = re.compile(
    r"ball|(eye)?brows?|bust|chin|ears?|fac(e|ial).*|heel|ik.*|.+ik|lat|(eye)?lids?|(upper|lower)?lips?|"
    r"mch|pole|prop|roll|skin"
)
_DROPPED_PARTS = re.compile(
    r"breast|breath|buttock|cheek|cloth|control|corrective|ctrl|eye|finger|forehead|glute|hair|helper|jaw|metacarpal|"
    r"muscle|nose|nub$|palm|pectoral|pinky|skirt|socket|teeth|temple|thumb|toe|tongue|tweak|twist|weapon"
)
#: Words for fingers, which a spine may have, too.
_FINGERS = frozenset({"index", "middle", "ring", "little"})
#: Words that drop a bone as the last of its name.
_LAST = frozenset({"root", "end"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SIDES = (
    re.compile(r"(?:^|[ ._:-])(?P<side>l|r|left|right)(?:[ ._-]|$)", re.IGNORECASE),
    re.compile(r"^(?P<side>left|right)", re.IGNORECASE), re.compile(r"(?P<side>Left|Right)"),
    re.compile(r"^(?P<side>[lr])(?=[A-Z])"), re.compile(r"^(?P<side>[LR])(?=[A-Z][a-z])"),
    # MikuMikuDance.
    re.compile(r"^(?P<side>[左右])"),
    # Poser and Daz, in files without capitals.
    re.compile(r"^(?P<side>[lr])(?=(?:collar|shldr|forearm|hand|buttock|thigh|shin|foot)$)"),
)  # fmt: skip
_SEGMENTS = (
    ("front", re.compile(r"front")),
    ("tail", re.compile(r"tail")),
    ("forearm", re.compile(r"fore_?arm|low(er)?_?arm|arm_?lower|elbow|^ulna|^radius")),
    ("upper_arm", re.compile(r"up(per)?_?arm|arm_?upper|^arm$|shoulderjoint|bicep|shldr|^humerus")),
    ("shoulder", re.compile(r"shoulder|clavicle|collar")),
    ("hand", re.compile(r"hand|wrist")),
    ("thigh", re.compile(r"thigh|up(per)?_?leg|leg_?upper|^femur")),
    ("shank", re.compile(r"shin|calf|low(er)?_?leg|leg_?lower|knee|^leg$|^tibia")),
    ("foot", re.compile(r"foot|ankle")),
    ("head", re.compile(r"head|^skull")),
    ("neck", re.compile(r"neck")),
    ("hips", re.compile(r"^hips?$|^pelvis$|^hip_?s?$|^lower_?body$")),
    ("spine", re.compile(r"upper_?body|spine|chest|torso|abdomen|ribcage|^trunk$|waist|back$")),
)  # fmt: skip


#: Of models for MikuMikuDance, in Japanese. Their feet, knees and ankles are called by the joint at their start.
_JAPANESE = {
    "下半身": "hips", "上半身": "spine", "首": "neck", "頭": "head", "肩": "shoulder", "腕": "upper_arm",
    "ひじ": "forearm", "肘": "forearm", "手首": "hand", "足": "thigh", "ひざ": "shank", "膝": "shank", "足首": "foot",
    "しっぽ": "tail", "尻尾": "tail",
}  # fmt: skip
#: Parents of all, helpers, twists, fingers, faces, hair and clothes there; D, P, C and EX are copies of bones.
_JAPANESE_DROPPED = re.compile(
    r"親|センター|グルーブ|腰|IK|捩|指|目|瞳|髪|毛|スカート|胸|乳|先|[DPCS]$|EX|調整|補助|ダミー|操作|舌|歯|顎|あご|眉|耳|リボン|"
    r"ネクタイ|袖|裾|帽|眼鏡|メガネ|もみあげ|キャンセル"
)
_IS_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


class Named(NamedTuple):
    """segment: a key of the tables, or hips, spine, neck, shoulder, front (of a quadruped), tail, "" for unknown.

    side: L, R or "". is_dropped: the bone is a finger, a part of the face or a helper.
    """

    segment: str
    side: str
    is_dropped: bool


def named(name: str) -> Named:
    """What the name of a bone says: names of Rigify, Mixamo, VRM, Unreal, Daz, MikuMikuDance and the like."""
    # Japanese models have letters and digits of full width.
    plain = unicodedata.normalize("NFKC", name).split(":")[-1]
    plain = re.sub(r"^(DEF|ORG|MCH|J_Bip|Bip0*1|CC_Base|valvebiped|b|jnt)[-_ .]+", "", plain, flags=re.IGNORECASE)
    side = ""
    for pattern in _SIDES:
        match = pattern.search(plain)
        if match:
            side = {"左": "L", "右": "R"}.get(match["side"], match["side"][0].upper())
            plain = plain[: match.start("side")] + plain[match.end("side") :]
            break
    word = re.sub(r"^[cC][ ._-]", "", plain).strip(" ._-")
    word = re.sub(r"[ ._-]*\d+$", "", word).strip(" ._-")
    if _IS_JAPANESE.search(word):
        segment = _JAPANESE.get(word, "")
        return Named(segment, side, not segment and bool(_JAPANESE_DROPPED.search(word)))
    joined = re.sub(r"[ .-]", "_", word.lower())
    if joined == "pelvis" and side:
        return Named("", side, True)
    segment = next((segment for segment, pattern in _SEGMENTS if pattern.search(joined)), "")
    return Named(segment, side, _is_dropped([part.lower() for part in _WORD.findall(word)], segment))


def _is_dropped(words: Sequence[str], segment: str) -> bool:
    """True for the words in the name of a finger, a part of the face or a helper."""
    return (
        any(_DROPPED.fullmatch(word) or _DROPPED_PARTS.search(word) for word in words)
        or (segment != "spine" and not _FINGERS.isdisjoint(words))
        or (bool(words) and words[-1] in _LAST)
    )
