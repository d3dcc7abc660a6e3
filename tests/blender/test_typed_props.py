"""Properties that a class declares once, with the type of their values."""

import bpy
import pytest
from usdphys_ext.usdphys_addon.bridge.typed_props import FloatProperty, FloatVectorProperty, StringProperty, annotate


class _Named:
    text = StringProperty(name="Text", default="a")


class TypedSizes(_Named, bpy.types.PropertyGroup):
    size: tuple[float, float] = FloatVectorProperty(size=2, default=(1.0, 2.0))
    length = FloatProperty(name="Length", default=3.0)
    limit = 4


@pytest.fixture
def sizes():
    annotate(TypedSizes)
    bpy.utils.register_class(TypedSizes)
    bpy.types.Scene.typed_sizes = bpy.props.PointerProperty(type=TypedSizes)
    yield bpy.context.scene.typed_sizes
    del bpy.types.Scene.typed_sizes
    bpy.utils.unregister_class(TypedSizes)


@pytest.mark.parametrize("_again", range(2))
def test_a_class_and_its_mixins_have_their_properties_however_often_they_are_registered(sizes, _again):
    assert (sizes.text, tuple(sizes.size), sizes.length, sizes.limit) == ("a", (1.0, 2.0), 3.0, 4)
    assert [prop.identifier for prop in sizes.bl_rna.properties if prop.is_runtime] == ["text", "size", "length"]
    with pytest.raises(TypeError):
        sizes.length = "long"
