"""Numbers of joints that UsdPhysics has no words for: which are taken, and from whom."""

import math

import pytest
from usdphys_ext.usdphys_addon.core import joint_settings, vendor_schemas
from usdphys_ext.usdphys_addon.core.model import Prim


def hinge(**fields):
    """A hinge with values of Newton."""
    prim = Prim("/Joint", "PhysicsRevoluteJoint")
    prim.schemas["NewtonJointAPI"] = vendor_schemas.find("NewtonJointAPI")(**fields)
    return prim


@pytest.mark.parametrize("value", [1e-6, 0.5, 1.0, 30.0])
def test_a_positive_number_is_taken_as_it_is(value):
    assert joint_settings.joint_damping(hinge(damping=value), "angular") == value


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan, None])
def test_what_is_no_positive_number_is_none(value):
    assert joint_settings.joint_damping(hinge(damping=value), "angular") == 0.0
    assert joint_settings.axis_settings(hinge(damping=value), "angular") is joint_settings.PLAIN_AXIS
