# SPDX-License-Identifier: GPL-3.0-or-later
"""Small USD files whose arcs multiply are refused before USD composes them; honest ones are not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.usd import importable, read
from usdphys_ext.usdphys_addon.usd.files import composed_size

ROOT = Path(__file__).resolve().parents[2]
HEAD = '#usda 1.0\n(\n    defaultPrim = "World"\n)\n'


def levels(count: int, width: int, arc: str, more: str = "") -> str:
    """A layer in which each prim of a level has an arc to all of the next: width ** count prims."""
    text = HEAD
    for level in range(count, 0, -1):
        text += f'class "L{level}"\n{{\n'
        below = f" (\n    {more}\n    {arc} = </L{level + 1}>\n)" if level < count else ""
        text += "".join(f'def Xform "c{index}"{below}\n{{\n}}\n' for index in range(width)) + "}\n"
    return f'{text}def Xform "World" (\n    {arc} = </L1>\n)\n{{\n}}\n'


def _variants() -> str:
    text = levels(8, 10, "references")
    for level in range(1, 9):
        text = text.replace(
            f'class "L{level}"\n{{',
            f'class "L{level}" (\n    variants = {{ string v = "a" }}\n    prepend variantSets = "v"\n)\n{{\n'
            'variantSet "v" = {\n"a" {',
        )
    return text.replace('}\nclass "', '}\n}\n}\nclass "').replace('}\ndef Xform "World"', '}\n}\n}\ndef Xform "World"')


def _through() -> str:
    """Each level refers to a prim that is there only by another reference."""
    text = HEAD + 'class "Y0"\n{\ndef "k"\n{\n' + "".join(f'def "c{index}"\n{{\n}}\n' for index in range(10)) + "}\n}\n"
    for level in range(1, 9):
        text += f'class "A{level}" (\n    references = </Y{level - 1}>\n)\n{{\n}}\nclass "Y{level}"\n{{\ndef "k"\n{{\n'
        text += (
            "".join(f'def "c{index}" (\n    references = </A{level}/k>\n)\n{{\n}}\n' for index in range(10)) + "}\n}\n"
        )
    return f'{text}def "World" (\n    references = </Y8>\n)\n{{\n}}\n'


def _circles() -> str:
    """References that lead back to where they came from beside those that multiply."""
    back = 'def "back" (\n    references = </L1>\n)\n{\n}\n'
    return levels(8, 10, "references").replace('class "L5"\n{\n', f'class "L5"\n{{\n{back}')


TEXTS = {
    **{arc: levels(8, 10, arc) for arc in ("references", "payload", "inherits", "specializes")},
    "instances": levels(8, 10, "references", "instanceable = true"), "variants": _variants(), "through": _through(),
    "circles": _circles(),
    "sublayers": levels(8, 10, "references").replace("(\n", "(\n    subLayers = [@a.usda@, @b.usda@]\n", 1),
}  # fmt: skip


@pytest.mark.parametrize("kind", TEXTS)
def test_arcs_that_multiply_are_refused_before_usd_composes_them(tmp_path, kind):
    file = tmp_path / "small.usda"
    file.write_text(TEXTS[kind])
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.usda").write_text(f"#usda 1.0\n(\n    subLayers = [@{other}.usda@]\n)\n")
    with pytest.raises(InputError, match=r"small.usda.*multiply to more than 1,500,000 prims.*USDPHYS_MOST_PRIMS"):
        read.open_stage(file)


def test_a_file_that_is_accepted_is_opened_until_it_changes(tmp_path, monkeypatch):
    monkeypatch.setenv(composed_size.VARIABLE, "100")
    file = tmp_path / "small.usda"
    file.write_text(levels(3, 10, "references"))
    with pytest.raises(composed_size.TooManyPrimsError, match=r"small\.usda"):
        read.open_stage(file)
    composed_size.accept(str(file))
    assert read.open_stage(file).GetPrimAtPath("/World/c3/c3")
    file.write_text(levels(3, 11, "references"))
    with pytest.raises(composed_size.TooManyPrimsError):
        read.open_stage(file)


def test_files_that_refer_to_files_multiply_too(tmp_path):
    for level in range(8):
        below = f" (\n    references = @f{level + 1}.usda@\n)" if level < 7 else ""
        inside = "".join(f'def "c{index}"{below}\n{{\n}}\n' for index in range(10))
        (tmp_path / f"f{level}.usda").write_text(f'{HEAD}def "World"\n{{\n{inside}}}\n')
    with pytest.raises(InputError, match="multiply"):
        read.open_stage(tmp_path / "f0.usda")


def test_references_in_a_long_row_are_refused(tmp_path):
    rows = "".join(f'def "C{index}" (\n    references = </C{index + 1}>\n)\n{{\n}}\n' for index in reversed(range(400)))
    (tmp_path / "row.usda").write_text(HEAD + rows)
    with pytest.raises(InputError, match="leads to a reference"):
        read.open_stage(tmp_path / "row.usda")


@pytest.mark.parametrize("arc", ["references", "payload", "inherits", "specializes"])
def test_the_estimate_counts_what_usd_composes(tmp_path, monkeypatch, arc):
    file = tmp_path / "honest.usda"
    file.write_text(levels(3, 10, arc))
    third = 1 + 10
    second = third + 10 * third
    first = third + 10 * second
    # A prim counts once for each place that is composed into it: its own, and that of the arc.
    sites = 1 + 1 + 3 * third + 10 * third + 10 * second + first
    stage = read.open_stage(file)
    assert sites / 1.2 < sum(1 for _ in stage.TraverseAll()) < sites
    del stage
    monkeypatch.setenv(composed_size.VARIABLE, str(sites))
    read.open_stage(file)
    monkeypatch.setenv(composed_size.VARIABLE, str(sites - 1))
    with pytest.raises(InputError, match=f"more than {sites - 1:,} prims.*USDPHYS_MOST_PRIMS"):
        read.open_stage(file)


# --------------------------------------------------------------------------- instances


def instancers(counts: list[int], *, circle: bool = False, kind: str = "int[]", value: str = "") -> str:
    """Point instancers, each the prototype of the one above it; the last one shows a cube, or the first one."""
    text, above = "", "/World"
    for level, count in enumerate(counts):
        above += f"/p{level}"
        is_last = level == len(counts) - 1
        target = "/World/p0" if is_last and circle else f"{above}/cube" if is_last else f"{above}/p{level + 1}"
        text += f'def PointInstancer "p{level}"\n{{\n{kind} protoIndices = {value or [0] * count}\n'
        text += f"point3f[] positions = {[(0, 0, 0)] * count}\nrel prototypes = <{target}>\n"
    return f'{HEAD}def Xform "World"\n{{\n{text}def Cube "cube"\n{{\n}}\n{"}" + chr(10)}' + "}\n" * len(counts)


def refusal_of(tmp_path, text: str) -> str:
    file = tmp_path / "small.usda"
    file.write_text(text)
    try:
        importable.check(read.open_stage(file), file)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("counts", "is_refused"),
    [([1000], False), ([1000, 1000], False), ([300, 300, 100], False), ([300, 300, 300], True), ([20] * 6, True),
     ([2] * 9, False), ([1] * 40, False), ([0, 5000, 5000], False), ([5000, 5000], True)],
)  # fmt: skip
def test_instancers_among_prototypes_multiply(tmp_path, counts, is_refused):
    found = refusal_of(tmp_path, instancers(counts))
    assert bool(found) == is_refused
    assert not found or ("small.usda" in found and "'/World/p" in found and "10,000,000" in found)


def test_an_instancer_that_shows_itself_is_counted_as_often_as_blender_shows_it(tmp_path):
    assert refusal_of(tmp_path, instancers([10], circle=True))
    assert not refusal_of(tmp_path, instancers([1], circle=True))


def chain(targets: dict[str, list[str]]) -> str:
    """Point instancers side by side, and what is among the prototypes of each."""
    text = "".join(
        f'def PointInstancer "{name}"\n{{\nint[] protoIndices = [0]\npoint3f[] positions = [(0, 0, 0)]\n'
        f"rel prototypes = [{', '.join(f'</World/{one}>' for one in several)}]\n}}\n"
        for name, several in targets.items()
    )
    return f'{HEAD}def Xform "World"\n{{\n{text}def Cube "cube"\n{{\n}}\n}}\n'


CHAINS = {
    "itself": ({"p0": ["p0"]}, {"p0"}),
    "itself among others": ({"p0": ["cube", "p0"], "p1": ["cube"]}, {"p0"}),
    "circle": ({"p0": ["p1"], "p1": ["p2", "cube"], "p2": ["p0"]}, {"p0", "p1", "p2"}),
    "leads to a circle": ({"p0": ["p1"], "p1": ["p1"]}, {"p0", "p1"}),
    "many levels": (
        {f"p{level}": [f"p{level + 1}" if level < 4999 else "cube"] for level in range(5000)},
        {f"p{level}" for level in range(4949)},
    ),
    "doubles at each level": (
        {
            f"{side}{level}": [f"a{level + 1}", f"b{level + 1}"] if level < 39 else ["cube"]
            for level in range(40)
            for side in "ab"
        },
        {f"{side}{level}" for level in range(27) for side in "ab"},
    ),
    "a parent": ({"p0": ["../World"]}, {"p0"}),
    "honest": ({"p0": ["p1", "p2"], "p1": ["p2", "cube"], "p2": ["cube"]}, set()),
}


@pytest.mark.parametrize(("targets", "endless"), CHAINS.values(), ids=CHAINS)
def test_bounds_are_told_of_all_but_instancers_that_never_end(tmp_path, targets, endless):
    """USD asks for the bounds of prototypes by recursion, at whose end a process is gone without a word."""
    file = tmp_path / "small.usda"
    file.write_text(chain(targets).replace("/World/../World", "/World"))
    script = (
        "import sys; from usdphys_addon.usd import read; print(*read.read_stage(read.open_stage(sys.argv[1])).seen())"
    )
    done = subprocess.run([sys.executable, "-c", script, file], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {path.rpartition("/")[2] for path in done.stdout.split()}
    assert found == {"World", "cube"} | set(targets) - endless


@pytest.mark.parametrize(("kind", "value"), [("float", "3"), ("string", '"text"'), ("t", "3"), ("float[]", "[1, 2]")])
def test_indices_of_another_type_show_nothing(tmp_path, kind, value):
    assert not refusal_of(tmp_path, instancers([3], kind=kind, value=value))
