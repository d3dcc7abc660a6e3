"""The attributes of simulators that matter most to artists: how many clicks each is away from the object."""

from typing import Any

import bpy
import pytest
from usdphys_ext.operators.edit_lists import owner_of
from usdphys_ext.panels import CLASSES
from usdphys_ext.usdphys_addon.authoring import vendor_edits, vendor_prims
from usdphys_ext.usdphys_addon.bridge import vendor_rows
from usdphys_ext.usdphys_addon.core import concepts, schema

from . import layout_recorder, scenes
from .wanted_attributes import WANTED

MOST = 3


class Everything:
    """All folding parts are open: each thing then lies in the folds that a person would open."""

    def __contains__(self, _name: object) -> bool:
        return True


def show(place: str) -> None:
    """A scene with an active object that has what the place is about."""
    body = scenes.solid("Body")
    body.data.materials.append(scenes.physics_material("Rubber"))
    bpy.context.view_layer.objects.active = body
    if place in ("joint", "distance"):
        kind = "REVOLUTE" if place == "joint" else "DISTANCE"
        bpy.context.view_layer.objects.active = scenes.add_joint("Joint", kind, body)
    elif place.startswith("Physx"):
        vendor_prims.add_prim(bpy.context, place)


def clicks() -> dict[str, int]:
    """Clicks from the tab of the Properties editor to each attribute, by name, where it has or gets a field."""
    panels = {
        cls.__name__: cls
        for cls in CLASSES
        if getattr(cls, "bl_space_type", "") == "PROPERTIES" and cls.__module__.endswith("_physics")
    }
    context = layout_recorder.ContextRecorder(area=layout_recorder.ContextRecorder(type="PROPERTIES"))
    found: dict[str, int] = {}
    for cls in panels.values():
        above, closed = cls, 0
        is_shown = True
        while above is not None:
            closed += "DEFAULT_CLOSED" in getattr(above, "bl_options", ())
            is_shown = is_shown and layout_recorder.is_shown(above, context)
            above = panels.get(getattr(above, "bl_parent_id", ""))
        if not is_shown:
            continue
        for one in layout_recorder.draw(cls, context, opened=Everything()).all():
            folds = [layout for layout in one.layout.chain() if layout.kind == "panel"]
            before = closed + sum(bool(layout.arguments.get("default_closed")) for layout in folds)
            for name, more in reached(one).items():
                found[name] = min(found.get(name, 99), before + more)
    return found


def reached(one: Any) -> dict[str, int]:
    """Attributes that a thing on the screen leads to, and by how many clicks on it."""
    idname = one.arguments.get("operator", "")
    if idname == "usdphys.approximation_add":
        # The arrow, and the word in the menu.
        offered = layout_recorder.operator_type(idname).properties["word"].enum_items
        return {f"physics:approximation={item.identifier}": 2 for item in offered}
    if one.kind == "prop" and one.data.bl_rna.identifier == "VendorRow":
        return {one.data.name: 0}
    if idname == "usdphys.concept_add":
        concept, dof = concepts.concepts()[one.values["concept"]], one.values["dof"]
        dofs = (dof,) if dof else ("angular",)
        places = [place for twin in concept.twins for place in concepts.placed(twin, dofs)]
        return {name or applied: 1 for applied, name in places}
    if idname == "usdphys.vendor_add":
        # The button, and the attribute in the list.
        return {
            attribute.usd_name(schema.split_applied(applied)[1]): 2
            for applied, attribute in offered_by(one)
            if attribute is not None
        }
    return {}


@pytest.mark.parametrize("place", WANTED)
def test_what_matters_most_is_three_clicks_away(place):
    """Open a panel, open its settings, and add one; or open a panel, search a simulator, and choose."""
    bpy.context.scene.usdphys.targets = {"NEWTON", "PHYSX"}
    show(place)
    found = clicks()
    names = [name.format("angular") for name in WANTED[place].split()]
    assert {name: found.get(name, 99) for name in names if found.get(name, 99) > MOST} == {}


@pytest.mark.parametrize(("name", "wanted"), [("rigid_body", {"body"}), ("articulation_root", {"articulation"})])
def test_the_search_of_a_panel_offers_what_the_panel_shows(name, wanted):
    """What another panel would show looks lost. A script that names no places may add anything."""
    show("body")
    panel = next(cls for cls in CLASSES if cls.__name__ == f"USDPHYS_PT_{name}")
    for button in layout_recorder.draw(panel).buttons("usdphys.vendor_add"):
        offered = offered_by(button)
        assert {vendor_rows.place_of(applied) for applied, _ in offered} <= wanted
    assert offered
    values = {"data_path": "object.usdphys", "attribute": "PhysxArticulationAPI physxArticulation:sleepThreshold"}
    assert bpy.ops.usdphys.vendor_add(**values) == {"FINISHED"}


def offered_by(button: Any) -> Any:
    """(applied schema, attribute) of all that the search of a button lists."""
    thing = owner_of(bpy.context, button.values["data_path"])
    places = tuple(button.values["places"].split()) or vendor_rows.PLACES[button.values["owner"]]
    return vendor_edits.choices(places, button.values["runtime"], thing)


def test_an_approximation_of_a_simulator_is_chosen_from_the_menu(tmp_path):
    """Whatever was chosen before; a target that has no such word does not offer it."""
    show("collider")
    body = bpy.context.object
    collider = body.usdphys.colliders[0]
    collider.approximation = "convexHull"
    panel = next(cls for cls in CLASSES if cls.__name__ == "USDPHYS_PT_colliders")
    (button,) = layout_recorder.draw(panel).buttons("usdphys.approximation_add")
    assert bpy.ops.usdphys.approximation_add(word="sdf", **button.values) == {"FINISHED"}
    assert collider.other_approximation == "sdf" and not collider.is_property_set("approximation")
    assert "other_approximation" in layout_recorder.draw(panel).props(collider)
    stage, _ = scenes.export(tmp_path / "out.usda")
    assert "sdf" in [prim.GetAttribute("physics:approximation").Get() for prim in stage.Traverse()]
    bpy.context.scene.usdphys.targets = {"NEWTON"}
    (shown,) = layout_recorder.draw(panel).buttons("usdphys.approximation_add")
    assert shown.text == "Other: sdf", "what is chosen is shown, whoever reads it"
    collider.other_approximation = ""
    assert not layout_recorder.draw(panel).buttons("usdphys.approximation_add")


def test_the_first_setting_of_a_scene_makes_its_physics_scene():
    bpy.context.scene.usdphys.targets = {"PHYSX"}
    show("scene")
    items = bpy.context.scene.usdphys.physics_scenes
    assert len(items) == 0
    path = "scene.usdphys.physics_scenes[0]"
    assert bpy.ops.usdphys.concept_add(data_path=path, concept="scene_ccd") == {"FINISHED"}
    assert [item.name for item in items] == ["PhysicsScene"]
    assert vendor_rows.row_of(items[0], "physxScene:enableCCD") is not None
    assert bpy.ops.usdphys.vendor_add(
        data_path=path, owner="scene", runtime="PhysX", attribute="PhysxSceneAPI physxScene:solverType"
    ) == {"FINISHED"}
    assert len(items) == 1
