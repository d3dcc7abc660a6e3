"""A mistyped name of a property raises, in every property group of the add-on: a script must not lose a value."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from usdphys_ext.usdphys_addon.bridge import props

PACKAGE = "usdphys_ext"


def groups() -> list[type]:
    found = []
    todo = list(bpy.types.PropertyGroup.__subclasses__())
    while todo:
        cls = todo.pop()
        todo += cls.__subclasses__()
        if cls.__module__.split(".")[0] == PACKAGE and getattr(cls, "is_registered", False):
            found.append(cls)
    return found


@pytest.fixture
def instance_of():
    """A group of any registered class, on the window manager."""

    def make(cls: type) -> Any:
        bpy.types.WindowManager.usdphys_probe = bpy.props.PointerProperty(type=cls)
        return bpy.context.window_manager.usdphys_probe

    yield make
    del bpy.types.WindowManager.usdphys_probe


def test_every_group_refuses_an_unknown_name(instance_of) -> None:
    found = groups()
    assert set(props.CLASSES) <= set(found)
    assert {"USDPHYS_OverlaySettings", "USDPHYS_PG_inspected", "USDPHYS_PG_variant", "USDPHYS_PG_batch"} <= {
        cls.__name__ for cls in found
    }
    for cls in found:
        group = instance_of(cls)
        assert not hasattr(group, "__dict__"), f"{cls.__name__}, or a base of it, has no __slots__ = ()"
        with pytest.raises(AttributeError, match=f"{cls.__name__} has no property 'no_such_name'"):
            group.no_such_name = 1.0
        with pytest.raises(AttributeError, match="no_such_name"):
            _ = group.no_such_name


def test_known_names_are_set_as_before(instance_of) -> None:
    for cls in groups():
        group = instance_of(cls)
        group.name = "A name that every group has"
        assert group.name == "A name that every group has", cls.__name__


@pytest.mark.parametrize(
    ("of", "typo", "meant"),
    [
        (lambda obj: obj.usdphys.rigid_body, "kinematic", "kinematic_enabled"),
        (lambda obj: obj.usdphys.mass, "Mass", "mass"),
        (lambda obj: obj.usdphys.mass, "densty", "density"),
        (lambda obj: obj.usdphys, "rigidbody", "rigid_body"),
        (lambda obj: obj.usdphys.joint.drives.angular, "max_torque", "max_force"),
    ],
)
def test_the_message_names_the_nearest_name(of, typo: str, meant: str) -> None:
    obj = bpy.data.objects.new("Crate", None)
    with pytest.raises(AttributeError, match=rf"no property '{typo}'; did you mean '{meant}'\?"):
        setattr(of(obj), typo, 1.0)


def test_a_property_one_group_deeper_is_named_with_its_path() -> None:
    material = bpy.data.materials.new("Steel")
    for typo in ("density", "densty"):
        with pytest.raises(AttributeError, match=f"no property '{typo}'; did you mean 'physics_material.density'"):
            setattr(material.usdphys, typo, 7850.0)
    assert material.usdphys.physics_material.density == 0.0


def test_nothing_is_proposed_for_a_name_that_is_like_none() -> None:
    with pytest.raises(AttributeError, match=r"MaterialPhysicsProperties has no property 'colour'$"):
        bpy.data.materials.new("Steel").usdphys.colour = 1.0


def test_what_blender_says_of_known_names_stays() -> None:
    group = bpy.data.objects.new("Crate", None).usdphys
    with pytest.raises(AttributeError, match="read-only"):
        group.rigid_body = None
    with pytest.raises(TypeError):
        group.mass.mass = "heavy"
