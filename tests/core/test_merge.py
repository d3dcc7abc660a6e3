"""Merging two edits of a layer: rules of lists, random edits, what excludes each other, and git."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from pxr import Sdf

from usdphys_addon import cli
from usdphys_addon.core.errors import InputError
from usdphys_addon.core.three_way import merged_list, merged_order
from usdphys_addon.usd import merge, merge_text

HOUSE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    customLayerData = {
        int version = 1
    }
    subLayers = [
        @materials.usda@ (offset = 10)
    ]
)

def Xform "World"
{
    def Scope "Parts"
    {
    }
    def Cube "Frame" (
        prepend apiSchemas = ["PhysicsCollisionAPI"]
    )
    {
        double size = 2
    }
    def Cube "Door" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]
        variants = {
            string weight = "light"
        }
        prepend variantSets = "weight"
    )
    {
        bool physics:rigidBodyEnabled = 1
        double size = 1
        double3 xformOp:translate.timeSamples = {
            1: (0, 0, 0),
            2: (0, 0, 1),
        }
        uniform token[] xformOpOrder = ["xformOp:translate"]
        variantSet "weight" = {
            "heavy" {
                float physics:mass = 30
            }
            "light" {
                float physics:mass = 3
            }
        }
    }
    def PhysicsRevoluteJoint "Hinge"
    {
        rel physics:body0 = </World/Frame>
        rel physics:body1 = </World/Door>
        float physics:lowerLimit = 0
        float physics:upperLimit = 90
    }
    def PhysicsCollisionGroup "Group"
    {
        rel collection:colliders:includes = [</World/Frame>]
    }
}
"""
OLD = "upperLimit = 90"


def layer_of(text):
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(text)
    return layer


def edited(*changes):
    text = HOUSE
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def merged(ours, theirs, base=HOUSE, **more):
    layer, conflicts = merge.merge_layers(*map(layer_of, (base, ours, theirs)), **more)
    return layer, [str(conflict) for conflict in conflicts]


def content(layer):
    """All that a layer says, without the order of its prims."""
    found = {}
    paths = []
    layer.Traverse("/", paths.append)
    for path in paths:
        if not path.IsTargetPath():
            spec = layer.GetObjectAtPath(path)
            names = [name for name in spec.ListInfoKeys() if "subLayer" not in name]
            found[str(path)] = {name: repr(spec.GetInfo(name)) for name in names}
    found["sublayers"] = [(p, repr(o)) for p, o in zip(layer.subLayerPaths, layer.subLayerOffsets, strict=True)]
    return found


#: Edits that can be made together, in any order: (what stood there, what stands there then).
EDITS = {
    "value": (OLD, "upperLimit = 110"), "other value": ("lowerLimit = 0", "lowerLimit = -20"),
    "schema": ('["PhysicsCollisionAPI"]', '["PhysicsCollisionAPI", "PhysicsMassAPI"]'),
    "schema gone": ('["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]', '["PhysicsRigidBodyAPI"]'),
    "sample": ("2: (0, 0, 1)", "2: (0, 0, 1), 3: (0, 0, 2)"), "other sample": ("1: (0, 0, 0)", "1: (0, 0, 5)"),
    "variant value": ("physics:mass = 30", "physics:mass = 40"),
    "variant": ('"light" {', '"medium" { float physics:mass = 9\n} "light" {'),
    "choice": ('string weight = "light"', 'string weight = "heavy"'),
    "metadata": ("metersPerUnit = 1\n", "metersPerUnit = 0.01\n"), "layer data": ("int version = 1", "int version = 2"),
    "new layer data": ("int version", 'string author = "A"\nint version'),
    "sublayer": ("(offset = 10)", "(offset = 10), @more.usda@"),
    "target": ("includes = [</World/Frame>]", "includes = [</World/Frame>, </World/Door>]"),
    "type": ('Scope "Parts"', 'Xform "Parts"'),
    "new prim": ('def Cube "Frame"', 'def Sphere "Ball" {\ndouble radius = 3\n}\n def Cube "Frame"'),
    "new property": ("bool physics:rigidBodyEnabled = 1", "bool physics:rigidBodyEnabled = 1\nfloat physics:mass = 7"),
    "property gone": ("        double size = 2\n", ""),
    "doc": ('PhysicsCollisionGroup "Group"\n', 'PhysicsCollisionGroup "Group" (doc = "All")\n'),
}  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_edits_of_different_things_are_all_in_the_result(seed):
    chance = random.Random(seed)
    names = chance.sample(sorted(EDITS), chance.randint(2, len(EDITS)))
    cut = chance.randint(0, len(names))
    # An edit that both have made is there once.
    both = [names.pop()]
    sides = [edited(*(EDITS[name] for name in [*part, *both])) for part in (names[:cut], names[cut:])]
    layer, conflicts = merged(*sides)
    swapped, others = merged(*sides[::-1])
    assert conflicts == others == []
    assert content(layer) == content(swapped) == content(layer_of(edited(*(EDITS[name] for name in names + both))))


@pytest.mark.parametrize("name", sorted(EDITS))
def test_the_same_edit_is_made_once_and_an_edit_of_one_is_that_edit(name):
    side = edited(EDITS[name])
    for ours, theirs in ((side, side), (side, HOUSE), (HOUSE, side)):
        layer, conflicts = merged(ours, theirs)
        assert (content(layer), conflicts) == (content(layer_of(side)), [])


CLASHES = {
    "/World/Hinge.physics:upperLimit: 90.0 in the base, 110.0 in ours, 100.0 in theirs; that of ours is kept.": (
        (OLD, "upperLimit = 110"), (OLD, "upperLimit = 100"),
    ),
    "/World/Door.xformOp:translate at time 2: (0, 0, 1) in the base, (0, 0, 3) in ours, (0, 0, 4) in theirs; that of "
    "ours is kept.": (("2: (0, 0, 1)", "2: (0, 0, 3)"), ("2: (0, 0, 1)", "2: (0, 0, 4)")),
    "/World/Door (variantSelection:weight): light in the base, heavy in ours, nothing in theirs; that of ours is kept.":
        (('string weight = "light"', 'string weight = "heavy"'), ('string weight = "light"', "")),
    "/ (customLayerData:version): 1 in the base, 2 in ours, 3 in theirs; that of ours is kept.": (
        ("int version = 1", "int version = 2"), ("int version = 1", "int version = 3"),
    ),
    "/World/Hinge.physics:body0: ['/World/Frame'] in the base, ['/World/Door'] in ours, ['/World/Parts'] in theirs; "
    "that of ours is kept.": (("body0 = </World/Frame>", "body0 = </World/Door>"),
                              ("body0 = </World/Frame>", "body0 = </World/Parts>")),
    "/World/Frame.size (type): double in the base, float in ours, double in theirs; that of ours is kept.": (
        ("double size = 2", "float size = 2"), ("double size = 2", "double size = 3"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("sentence", CLASHES)
def test_what_both_have_changed_is_named_by_its_property(sentence):
    ours, theirs = (edited(change) for change in CLASHES[sentence])
    layer, conflicts = merged(ours, theirs)
    assert conflicts == [sentence]
    assert content(layer) == content(layer_of(ours))
    for favor, side in (("ours", ours), ("theirs", theirs)):
        assert content(merged(ours, theirs, favor=favor)[0]) == content(layer_of(side))
    # Each side says the same of the other.
    assert len(merged(theirs, ours)[1]) == 1


GROUP = HOUSE[HOUSE.index('    def PhysicsCollisionGroup "Group"') : HOUSE.rindex("}")]
DOOR = HOUSE[HOUSE.index('    def Cube "Door"') : HOUSE.index("    def PhysicsRevoluteJoint")]
HINGE = HOUSE[HOUSE.index("    def PhysicsRevoluteJoint") : HOUSE.index("    def PhysicsCollisionGroup")]


@pytest.mark.parametrize("is_ours", [True, False])
def test_an_edit_of_what_the_other_has_removed_is_kept_and_named(is_ours):
    sides = [edited((GROUP, "")), edited(EDITS["target"])][:: -1 if is_ours else 1]
    layer, conflicts = merged(*sides)
    assert len(conflicts) == 1 and conflicts[0].startswith("/World/Group: ")
    assert content(layer) == content(layer_of(edited(EDITS["target"])))
    gone, _ = merged(*sides, favor="theirs" if is_ours else "ours")
    assert not gone.GetPrimAtPath("/World/Group")
    # What nobody has edited goes without a word.
    assert merged(edited((GROUP, "")), edited(EDITS["value"]))[1] == []


def test_a_joint_of_one_edit_to_a_body_that_the_other_has_removed_is_named():
    ours = edited((HINGE, ""), (DOOR, ""))
    theirs = edited((HINGE, HINGE + HINGE.replace("Hinge", "Second")))
    layer, conflicts = merged(ours, theirs)
    assert [line.partition(":body1")[0] for line in conflicts] == ["/World/Second.physics"]
    assert "points to /World/Door: there in the base, removed in ours, there in theirs" in conflicts[0]
    assert layer.GetPrimAtPath("/World/Second") and not layer.GetPrimAtPath("/World/Door")


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.parametrize("where", ["/World/Parts/Door", "/World/Gate"])
def test_edits_follow_a_prim_that_the_other_has_moved_or_renamed(is_ours, where):
    moved = layer_of(HOUSE)
    merge.move_prims(moved, {"/World/Door": where})
    edit = (("physics:mass = 30", "physics:mass = 40"), ("includes = [<", "includes = [</World/Door>, <"))
    sides = [moved.ExportToString(), edited(*edit)][:: 1 if is_ours else -1]
    layer, conflicts = merged(*sides)
    expected = layer_of(edited(*edit))
    merge.move_prims(expected, {"/World/Door": where})
    assert (content(layer), conflicts) == (content(expected), [])


def test_a_prim_that_both_have_moved_elsewhere_is_named():
    sides = [layer_of(HOUSE), layer_of(HOUSE)]
    for side, where in zip(sides, ("/World/Gate", "/World/Parts/Door"), strict=True):
        merge.move_prims(side, {"/World/Door": where})
    layer, conflicts = merge.merge_layers(layer_of(HOUSE), *sides)
    assert len(conflicts) == 1 and "path of /World/Door" in str(conflicts[0])
    assert layer.GetPrimAtPath("/World/Gate") and not layer.GetPrimAtPath("/World/Parts/Door")


def test_a_new_prim_where_the_other_has_moved_one_is_named():
    ours = edited(('def Scope "Parts"', 'def Sphere "Gate" {\ndouble radius = 3\n}\ndef Scope "Parts"'))
    theirs = layer_of(HOUSE)
    merge.move_prims(theirs, {"/World/Door": "/World/Gate"})
    layer, conflicts = merged(ours, theirs.ExportToString())
    named = "/World/Gate (typeName): nothing in the base, Sphere in ours, Cube in theirs; that of ours is kept."
    assert conflicts == [named]
    names = layer.GetPrimAtPath("/World/Gate").properties.keys()
    assert {"radius", "size", "xformOp:translate"} <= set(names) and not layer.GetPrimAtPath("/World/Door")


@pytest.mark.parametrize("seed", range(50))
def test_a_merged_list_has_what_either_has_added_and_nothing_that_either_has_removed(seed):
    chance = random.Random(seed)
    base = chance.sample("abcdefgh", 5)

    def edit(new):
        found = [item for item in base if chance.random() < 0.7]
        for item in chance.sample(new, 2):
            found.insert(chance.randint(0, len(found)), item)
        return found

    ours, theirs = edit("ijkm"), edit("klmn")
    found = merged_list(base, ours, theirs)
    assert found == merged_list(base, theirs, ours)
    stays = (set(ours) & set(theirs)) | (set(ours) - set(base)) | (set(theirs) - set(base))
    assert set(found) == stays and len(found) == len(stays)
    assert [item for item in found if item in base] == [item for item in base if item in stays]
    assert merged_list(base, ours, ours) == ours and merged_list(base, ours, base) == ours


def write(folder, name, text):
    (folder / name).write_text(text)
    return str(folder / name)


def test_the_command_writes_both_and_ends_with_1_for_conflicts(tmp_path, capsys):
    base = write(tmp_path, "base.usda", HOUSE)
    ours = write(tmp_path, "ours.usda", edited(EDITS["value"], EDITS["schema"]))
    theirs = write(tmp_path, "theirs.usda", edited((OLD, "upperLimit = 100"), EDITS["new prim"]))
    out = str(tmp_path / "new" / "out.usda")
    assert cli.main(["merge", base, ours, theirs, "-o", out]) == 1
    assert "usdphys: conflict: /World/Hinge.physics:upperLimit: 90.0 in the base" in capsys.readouterr().err
    layer = Sdf.Layer.FindOrOpen(out)
    assert layer.GetAttributeAtPath("/World/Hinge.physics:upperLimit").default == 110
    schemas = layer.GetPrimAtPath("/World/Frame").GetInfo("apiSchemas")
    assert layer.GetPrimAtPath("/World/Ball") and "PhysicsMassAPI" in str(schemas)
    assert list(layer.subLayerPaths) == ["materials.usda"]
    assert cli.main(["merge", base, ours, theirs, "-o", str(tmp_path / "out.usdc"), "--favor", "theirs", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])["conflicts"]
    assert [row["where"] for row in found] == ["/World/Hinge.physics:upperLimit"]
    assert cli.main(["merge", base, ours, theirs, "-o", out, "--base", "free"]) == 2, "an option for robots"
    layer = Sdf.Layer.FindOrOpen(str(tmp_path / "out.usdc"))
    assert layer.GetFileFormat().formatId == "usdc"
    assert layer.GetAttributeAtPath("/World/Hinge.physics:upperLimit").default == 100


def test_files_as_git_names_them_are_read_as_what_they_are(tmp_path):
    """An empty base, where both branches have added the file; a crate whose name has no suffix."""
    base, theirs = write(tmp_path, ".merge_file_a1", ""), write(tmp_path, ".merge_file_c.3", edited(EDITS["doc"]))
    layer_of(HOUSE).Export(str(tmp_path / "ours.usdc"))
    ours = tmp_path / ".merge_file_b2"
    (tmp_path / "ours.usdc").rename(ours)
    assert cli.main(["merge", base, str(ours), theirs, "-o", str(ours), "--quiet"]) == 0
    assert ours.read_bytes().startswith(b"PXR-USDC")
    assert content(merge.read_layer(ours)) == content(layer_of(edited(EDITS["doc"])))


@pytest.mark.parametrize(("name", "text", "says"), [
    ("broken.usda", "#usda 1.0\ndef {", "is not a USD file that can be read"), ("text.usda", "hello", "no USD layer"),
    ("a.blend", "BLENDER", "no USD layer"),
])  # fmt: skip
def test_what_is_no_layer_is_refused_in_a_sentence(tmp_path, capsys, name, text, says):
    base = write(tmp_path, "base.usda", HOUSE)
    other = write(tmp_path, name, text)
    assert cli.main(["merge", base, base, other, "-o", str(tmp_path / "out.usda")]) == 1
    error = capsys.readouterr().err
    assert says in error and "Traceback" not in error
    assert not (tmp_path / "out.usda").exists()


# --------------------------------------------------------------------------- order and comments


def children(layer, path="/World"):
    return [child.name for child in layer.GetPrimAtPath(path).nameChildren]


NEW = 'def Sphere "Ball" {\n}\n    def Cube "Frame"'


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_new_prim_stands_where_it_was_put(is_ours):
    sides = edited(('def Cube "Frame"', NEW)), edited(EDITS["value"])
    layer, conflicts = merged(*(sides if is_ours else sides[::-1]))
    assert conflicts == []
    names = children(layer)
    assert names.index("Ball") + 1 == names.index("Frame")


@pytest.mark.parametrize("seed", range(40))
def test_the_order_of_one_edit_holds_and_the_new_ones_of_the_other_stand_behind_their_neighbour(seed):
    draw = random.Random(seed)
    base = list("abcdefgh")
    ours = draw.sample(base, len(base))
    theirs = list(base)
    for name in "xyz":
        theirs.insert(draw.randrange(len(theirs) + 1), name)
    gone = draw.choice(base)
    theirs.remove(gone)
    items = [one for one in dict.fromkeys([*ours, *theirs]) if one != gone]
    for first, second in ((ours, theirs), (theirs, ours)):
        found = merged_order(items, base, first, second)
        assert sorted(found) == sorted(items)
        assert [one for one in found if one in base] == [one for one in ours if one != gone]
        for name in "xyz":
            at = theirs.index(name)
            above = theirs[at - 1] if at else None
            assert above in (None, *"xyz") or found.index(above) < found.index(name)


def test_two_orders_that_exclude_each_other_are_named():
    parts, frame = '    def Scope "Parts"\n    {\n    }\n', '    def Scope "Other"\n    {\n    }\n'
    third = '    def Scope "Third"\n    {\n    }\n'
    base = HOUSE.replace(parts, parts + frame + third)
    ours, theirs = HOUSE.replace(parts, frame + parts + third), HOUSE.replace(parts, third + parts + frame)
    layer, conflicts = merged(ours, theirs, base)
    assert [text.partition(":")[0] for text in conflicts] == ["/World (order of prims)"]
    assert children(layer)[:3] == ["Other", "Parts", "Third"]
    layer, _ = merged(ours, theirs, base, favor="theirs")
    assert children(layer)[:3] == ["Third", "Parts", "Other"]


def commented(text):
    """A comment above each statement, and one behind each value."""
    lines, inside = [], False
    for number, line in enumerate(text.splitlines()):
        is_statement = line.startswith(("def", "    ")) and line.strip()[:1].isalpha()
        if is_statement:
            lines.append(f"{line[: len(line) - len(line.lstrip())]}# above {number}")
        inside = is_statement and " = " in line and line.rstrip()[-1] not in "([{"
        lines.append(f"{line}  # behind {number}" if inside else line)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(30))
def test_comments_and_layout_of_both_edits_stay(seed):
    """Edits of single lines, in any number on both sides: no comment is lost, and the merged layer is what it says."""
    draw = random.Random(seed)
    base = commented(HOUSE)
    lines = [("upperLimit = 90", "upperLimit = 110"), ("lowerLimit = 0", "lowerLimit = -20"),
             ("physics:mass = 30", "physics:mass = 40"), ("metersPerUnit = 1", "metersPerUnit = 0.01"),
             ("int version = 1", "int version = 2"), ("double size = 2", "double size = 3")]  # fmt: skip
    draw.shuffle(lines)
    texts = []
    for number, side in enumerate((lines[:3], lines[3:])):
        text = base
        for old, new in side[: draw.randrange(1, 4)]:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        before, after = (text.partition if number == 0 else text.rpartition)("# above")[::2]
        texts.append(f"{before}# written by {number}\n        # above{after}")
    layer, conflicts = merge.merge_layers(*map(layer_of, (base, *texts)))
    assert conflicts == []
    text = merge_text.text_of(layer, base, *texts)
    assert content(layer_of(text)) == content(layer)
    assert merge_text.lost_comments(text, base, *texts) == []
    assert text.count("# above") == base.count("# above") and text.count("# behind") == base.count("# behind")


def test_where_both_edit_the_same_line_the_comments_of_ours_stay(tmp_path, capsys):
    base = commented(HOUSE)
    ours = base.replace("upperLimit = 90", "upperLimit = 110").replace("# above", "# door opens wide\n# above", 1)
    theirs = base.replace("upperLimit = 90", "upperLimit = 100").replace("lowerLimit = 0", "lowerLimit = -5")
    files = [write(tmp_path, f"{name}.usda", text) for name, text in (("b", base), ("o", ours), ("t", theirs))]
    assert cli.main(["merge", *files, "-o", str(tmp_path / "out.usda")]) == 1
    text = (tmp_path / "out.usda").read_text()
    assert "upperLimit = 110" in text and "lowerLimit = -5" in text and "# door opens wide" in text
    assert text.count("# above") == base.count("# above")
    assert "A comment is not" not in capsys.readouterr().err


def test_a_comment_that_cannot_be_kept_is_named(tmp_path, capsys):
    """Both have written another comment at one place."""
    base = commented(HOUSE)
    ours, theirs = (base.replace("# above", f"# {name} says so\n# above", 1) for name in ("Anna", "Bert"))
    files = [write(tmp_path, f"{name}.usda", text) for name, text in (("b", base), ("o", ours), ("t", theirs))]
    assert cli.main(["merge", *files, "-o", str(tmp_path / "out.usda")]) == 0
    assert "# Anna says so" in (tmp_path / "out.usda").read_text()
    assert "A comment is not in" in (said := capsys.readouterr().err) and "# Bert says so" in said


def test_signs_in_texts_and_paths_are_no_comments():
    text = '#usda 1.0\ndef "A" (doc = "# no")\n{\n    asset a = @b#c.usd@ # yes\n    string b = """x\n# no"""\n}\n'
    assert merge_text.lost_comments("", text, text, text) == ["# yes"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_merges_branches_with_it(tmp_path):
    environment = {
        **os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
        "PYTHONPATH": str(Path(cli.__file__).parents[2]),
        **{f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }  # fmt: skip

    def git(*arguments, status=0):
        done = subprocess.run(
            ["git", *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def commit(text):
        write(tmp_path, "house.usda", text)
        git("add", ".")
        git("commit", "-q", "-m", "house")

    git("init", "-q", "-b", "main")
    git("config", "merge.usdphys.driver", f'"{sys.executable}" -m usdphys_addon merge %O %A %B -o %A')
    write(tmp_path, ".gitattributes", "*.usda merge=usdphys\n")
    commit(HOUSE)
    git("checkout", "-q", "-b", "other")
    commit(edited(EDITS["other value"], EDITS["new prim"]))
    git("checkout", "-q", "main")
    # Beside the other edit, which merges by lines take for one.
    commit(edited(EDITS["value"]))
    git("merge", "-q", "other", "-m", "both")
    expected = layer_of(edited(EDITS["other value"], EDITS["new prim"], EDITS["value"]))
    assert content(merge.read_layer(tmp_path / "house.usda")) == content(expected)

    git("checkout", "-q", "other")
    commit((tmp_path / "house.usda").read_text().replace("lowerLimit = -20", "lowerLimit = -30"))
    git("checkout", "-q", "main")
    commit((tmp_path / "house.usda").read_text().replace("lowerLimit = -20", "lowerLimit = -40"))
    said = git("merge", "other", status=1)
    assert "/World/Hinge.physics:lowerLimit: -20.0 in the base, -40.0 in ours, -30.0 in theirs" in said
    assert "house.usda" in git("diff", "--name-only", "--diff-filter=U")


@pytest.mark.parametrize("depth", [150, 800])
def test_prims_far_below_each_other_are_merged(tmp_path, depth, capsys):
    def nested(value):
        above = "".join(f'def Xform "a{n}"\n{{\n' for n in range(depth))
        return f"#usda 1.0\n# of the user\n{above}custom double x = {value}\n" + "}\n" * depth

    base, ours = write(tmp_path, "base.usda", nested(1)), write(tmp_path, "ours.usda", nested(2))
    target = tmp_path / "out.usda"
    assert cli.main(["merge", str(base), str(ours), str(base), "-o", str(target)]) == 0, capsys.readouterr().err
    path = "".join(f"/a{n}" for n in range(depth)) + ".x"
    assert Sdf.Layer.FindOrOpen(str(target)).GetAttributeAtPath(path).default == 2.0
    assert "# of the user" in target.read_text()


def test_a_crate_that_names_properties_which_are_not_in_it_is_damaged(tmp_path, monkeypatch):
    """USD opens such a file, and gives None for the property."""
    base = write(tmp_path, "base.usda", HOUSE)
    monkeypatch.setattr(
        merge, "prims_of", lambda layer: [("/World", SimpleNamespace(properties=[None], nameChildren=[]))]
    )
    with pytest.raises(InputError, match=r"base.usda' says that /World has parts which are not in it; it is damaged"):
        merge.read_layer(Path(base))


def test_a_time_that_is_no_number_is_refused_before_usd_crashes_on_it(tmp_path, capsys):
    base = write(tmp_path, "base.usda", HOUSE)
    moved = edited((OLD, OLD + "\n        custom double x.timeSamples = { nan: 1 }"))
    assert cli.main(["merge", base, base, write(tmp_path, "odd.usda", moved), "-o", str(tmp_path / "out.usdc")]) == 1
    assert "odd.usda' has a time sample of /World/Hinge.x at a time that is no number" in capsys.readouterr().err


def test_values_nested_a_thousand_times_are_refused_in_a_sentence(tmp_path, capsys):
    def nested(value):
        start, end = "dictionary a = {\n" * 900, "}\n" * 900
        return f"#usda 1.0\n(\n    customLayerData = {{\n{start}int x = {value}\n{end}}}\n)\n"

    files = [write(tmp_path, f"{value}.usda", nested(value)) for value in (1, 2, 3)]
    assert cli.main(["merge", *files, "-o", str(tmp_path / "out.usda")]) == 1
    assert "nested too deeply" in capsys.readouterr().err


def test_what_both_have_added_behind_an_equal_item_of_another_object_stays():
    sides = [["PhysicsRigidBodyAPI"], ["PhysicsRigidBodyAPI", "PhysicsMassAPI"], ["PhysicsRigidBodyAPI", "PhysxAPI"]]
    base, ours, theirs = ([str(item.encode(), "ascii") for item in side] for side in sides)
    assert merged_list(base, ours, theirs) == ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysxAPI"]
