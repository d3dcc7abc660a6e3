"""The panels in four languages, at the width that a sidebar has at first: nothing is cut, nothing is in English."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit

import panels

#: Language and what it calls a rigid body.
WORDS = (("de_DE", "Starrkörper"), ("fr_FR", "Corps rigide"), ("ja_JP", "リジッドボディ"), ("zh_HANS", "刚体"))


def steps():
    yield from kit.install()
    panels.open_all_panels()
    panels.build()
    kit.area().spaces.active.show_region_ui = True
    with bpy.context.temp_override(window=kit.window(), area=kit.area(), region=kit.region()):
        bpy.ops.screen.screen_full_area()
    yield 1.0
    view = kit.area()
    region = next(one for one in view.regions if one.type == "UI")
    region.active_panel_category = "USD Physics"
    for language, word in WORDS:
        bpy.context.preferences.view.language = language
        yield 0.5
        assert bpy.app.translations.pgettext_iface("Rigid Body") == word
        with bpy.context.temp_override(window=kit.window(), area=view, region=region):
            bpy.ops.view2d.reset()
        for part in range(5):
            view.tag_redraw()
            yield 0.5
            kit.shot(f"{language[:2]}-{part + 1}")
            with bpy.context.temp_override(window=kit.window(), area=view, region=region):
                for _ in range(22):
                    bpy.ops.view2d.scroll_down()


if __name__ == "__main__":
    kit.run(steps)
