# SPDX-License-Identifier: GPL-3.0-or-later
"""Members of collision groups against the membership queries of USD."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import strategies as st
from pxr import Sdf, Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.core import collision_groups
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.usd import read as usd_read

PATHS = ("/a", "/a/x", "/a/x/deep", "/a/y", "/b", "/b/x", "/ab")


def both(**values: object) -> tuple[set[str], set[str]]:
    """What USD and what we say of one collection."""
    stage = Usd.Stage.CreateInMemory()
    for path in PATHS:
        UsdPhysics.CollisionAPI.Apply(UsdGeom.Cube.Define(stage, path).GetPrim())
    collection = UsdPhysics.CollisionGroup.Define(stage, "/g").GetCollidersCollectionAPI()
    for name, value in values.items():
        if name in ("Includes", "Excludes"):
            getattr(collection, f"Create{name}Rel")().SetTargets(value)
        else:
            getattr(collection, f"Create{name}Attr")(value)
    query = collection.ComputeMembershipQuery()
    group = usd_read.read_stage(stage).prims["/g"].schemas["PhysicsCollisionGroup"]
    assert isinstance(group, usd_physics.CollisionGroup)
    return {path for path in PATHS if query.IsPathIncluded(path)}, collision_groups.members(group, PATHS)


LISTS = st.lists(st.sampled_from(PATHS), unique=True, max_size=3)


@hypothesis.given(st.sampled_from(["explicitOnly", "expandPrims"]), LISTS, LISTS, st.booleans())
@hypothesis.example("explicitOnly", ["/a"], ["/a"], False)
@hypothesis.example("expandPrims", ["/a", "/a/x/deep"], ["/a/x"], False)
@hypothesis.example("expandPrims", [], ["/a", "/b/x"], True)
def test_lists_hold_what_usd_says(rule: str, includes: list[str], excludes: list[str], root: bool) -> None:
    """A prim that is in both lists is excluded by USD where nothing is expanded."""
    options = {"IncludeRoot": True} if root else {}
    theirs, ours = both(Includes=includes, Excludes=excludes, ExpansionRule=rule, **options)
    assert ours == theirs


EXPRESSIONS = [
    "/a", "/a//", "//", "//x", "/*", "/a*", "/a/?", "/a/x//", "/[ab]", "/a/[!x]", "/a/[x-y]", "/a /b", "/a + /b",
    "/a/* & ~/a/x", "~/a", "~ /a", "~/a & ~/b", "/a/*-/a/x",
    # Side by side binds more than +, that more than &, and that more than -.
    "/a/* - /a/x /b", "//* - /a/x + /b", "//* - /a/x - /b", "/a & /a + /b", "/a + /b & /b", "/b - /a & /a", "~/a /b",
    "/b & /a + /b - /b", "(/a + /b) & /b", "~(/a + /b)", "~(/a//)", "/a - (/a - /a)", "((/a))", "//* & /a// - /a/x",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_holds_what_usd_says(expression: str) -> None:
    theirs, ours = both(MembershipExpression=Sdf.PathExpression(expression))
    assert ours == theirs


@pytest.mark.parametrize(
    "expression", ["", "/a +", "+ /a", "(/a", "/a)", "~", "/a/[y-x]", "/a//{isa:Cube}", "%/g:other"]
)
def test_an_expression_that_is_not_understood_holds_nothing(expression: str) -> None:
    assert not any(collision_groups.matches(expression, path) for path in PATHS)
