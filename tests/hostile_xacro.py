# SPDX-License-Identifier: GPL-3.0-or-later
"""Small robot descriptions that ask for endless work or memory, each of which must end with one sentence or a robot.

Run as a script, it reads each in a process of its own with limits, and prints the seconds, megabytes and outcome of
each as lines of JSON: python hostile_xacro.py ROOT_OF_THE_REPOSITORY FOLDER [NAME ...]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import limited_child

_HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
#: Bytes of address space and seconds of the processor of a case.
MEMORY, SECONDS = 1 << 30, 60
_CHAIN = '<xacro:property name="p0" value="${%s}"/>'


def _nested(first: str, step: str, levels: int, last: str) -> str:
    """Properties p0, p1, ... each of which is made of the one before it; then an expression with the last one."""
    text = _CHAIN % first
    for level in range(1, levels):
        text += f'<xacro:property name="p{level}" value="${{{step.replace("p", f"p{level - 1}")}}}"/>'
    return f'{text}<link name="${{{last.replace("p", f"p{levels - 1}")}}}"/>'


#: Expressions, by name.
EXPRESSIONS = {
    "range in a comprehension": "[range(100000) for i in range(100000)]",
    "ranges of ranges": "[[range(90000) for i in range(90000)] for j in range(90000)]",
    "texts in a comprehension": "['x' * 100000 for i in range(100000)]",
    "repeated texts added": "['x' * 99999 + str(i) for i in range(100000)]",
    "zip of ranges": "zip(*[range(100000)] * 1000)",
    "zip again and again": "[zip(range(90000), range(90000)) for i in range(90000)]",
    "enumerate again and again": "[enumerate(range(90000)) for i in range(90000)]",
    "sum of lists": "len(sum([[0] * 10000] * 10000, []))",
    "sum of nested lists": "sum([sum([[0] * 1000] * 100, []) for i in range(1000)], [])",
    "sum of tuples": "sum([(1, 2, 3)] * 100000, ())",
    "join of long texts": "','.join(['x' * 100000] * 100000)",
    "joins in a comprehension": "[','.join(['x' * 1000] * 100) for i in range(100000)]",
    "replace": "('a' * 100000).replace('a', 'b' * 100000)",
    "replace in steps": "('a' * 1000).replace('a', 'b' * 900).replace('b', 'c' * 900)",
    "upper again and again": "[('a' * 100000).upper() for i in range(100000)]",
    "splits again and again": "[('a ' * 50000).split() for i in range(100000)]",
    "power": "9 ** 9 ** 9", "power of pow": "pow(9, pow(9, 9))", "powers": "[3 ** 2000 for i in range(1000000)]",
    "products": "[10 ** 1000 * 10 ** 200 for i in range(100000)]",
    "round to many places": "round(5, -1000000000)", "round with a name": "round(7, ndigits=-2000000000)",
    "keys that are ranges": "sorted([100000] * 100000, key=range)",
    "largest of ranges": "max([99999] * 99999, key=range)",
    "sort of equal lists": "len(sorted([[0] * 10000] * 10000))",
    "list in lists": "[0] * 10000 + [1] in [[0] * 10000 + [2]] * 10000",
    "index of a list": "([[0] * 10000 + [2]] * 10000).index([0] * 10000 + [1])",
    "equal lists": "[[0] * 10000] * 10000 == [[0] * 10000 + []] * 10000",
    "equal texts": "['x' * 99999] * 99999 == ['x' * 99998 + 'x'] * 99999",
    "texts of lists": "str([[[['x' * 1000] * 100] * 100] * 100] * 100)",
    "set of colliding numbers": "len(set(range(0, 90000 * (2 ** 61 - 1), 2 ** 61 - 1)))",
    "dict of colliding numbers": "len({i * (2 ** 61 - 1): 0 for i in range(90000)})",
    "dicts in a comprehension": "[{i: dict(a=i, b={}) for i in range(300)} for j in range(100000)]",
    "lists by stars": "[[*[0] * 100000] for i in range(100000)]",
    "arguments by stars": "max(*[0] * 100000, *[0] * 100000, *[0] * 100000)",
    "slices": "[('x' * 100000)[1:] for i in range(100000)]",
    "tuple again and again": "[tuple(range(100000)) for i in range(100000)]",
    "conditions": "[i for i in range(90000) for j in range(90000) for k in range(90000) if i < 0]",
    "any over loops": "any(0 for i in range(90000) for j in range(90000))",
    "signs": "-" * 9000 + "1", "negations": "not " * 2400 + "1", "brackets": "[" * 4000 + "]" * 4000,
    "sums in a row": "1" + "+1" * 4900, "attributes": "math" + ".a" * 4000, "subscripts": "p" + "[0]" * 3000,
    "tokens": "[xacro.tokenize('a,' * 50000) for i in range(100000)]",
    "text from a base": "[int('f' * 100000, 16) for i in range(100000)]",
    "widths of formats": "'%999999999d' % 1", "format": "'{:999999999}'.format(1)",
    "formatted text": "f'{1:999999999}'",
}  # fmt: skip


def _followers(number: int, last: int) -> str:
    """Joints of which each follows the next, and the last one that with a number, which there need not be."""
    return '<link name="b"/>' + "".join(
        f'<link name="l{n}"/><joint name="j{n}" type="continuous"><parent link="b"/><child link="l{n}"/>'
        f'<mimic joint="j{n + 1 if n + 1 < number else last}"/></joint>' for n in range(number)
    )  # fmt: skip


#: Insides of files, by name.
INSIDES = {
    "texts of nested lists": _nested("['x' * 9] * 9", "[p] * 9", 20, "p"),
    "equal nested lists": _nested("([0], [0])", "([p[0]] * 9, [p[1]] * 9)", 20, "p[0] == p[1]"),
    "nested tuples as keys": _nested("(0, 0)", "(p, p, p, p)", 30, "{p: 1}"),
    "nested tuples in a set": _nested("(0, 0)", "(p, p, p, p)", 30, "len(set([p]))"),
    "nested tuple as an index": _nested("(0, 0)", "(p, p, p, p)", 30, "{}[p]"),
    "texts doubled": _nested("'x' * 1000", "p + p", 40, "p"),
    "texts beside each other": '<xacro:property name="a" value="${\'x\' * 100000}"/><link name="' + "${a}" * 20000
    + '"/>',
    "texts of many elements": '<xacro:property name="a" value="${\'x\' * 100000}"/>'
    '<xacro:macro name="m" params="n"><link name="${a}${n}"/><xacro:if value="${n}"><xacro:m n="${n - 1}"/>'
    '<xacro:m n="${n - 1}"/></xacro:if></xacro:macro><xacro:m n="30"/>',
    "macros that call themselves twice": '<xacro:macro name="m" params=""><xacro:m/><xacro:m/></xacro:macro>'
    "<xacro:m/>",
    "macros in macros": "".join(
        f'<xacro:macro name="m{level}" params="">{f"<xacro:m{level + 1}/>" * 10}<link name="l"/></xacro:macro>'
        for level in range(30)
    ) + "<xacro:m0/>",
    "macros with many attributes": '<xacro:macro name="m" params=""><link name="l" '
    + " ".join(f'a{number}="x"' for number in range(5000)) + "/><xacro:m/><xacro:m/></xacro:macro><xacro:m/>",
    "macros with many parameters": '<xacro:macro name="m" params="'
    + " ".join(f"p{number}:=0" for number in range(5000)) + '"><xacro:if value="${len([1])}">'
    + "<xacro:n/>" * 2 + '</xacro:if></xacro:macro><xacro:macro name="n" params="">' + "<xacro:m/>" * 2
    + "</xacro:macro><xacro:m/>",
    "a block that inserts itself": '<xacro:property name="b"><xacro:insert_block name="b"/>'
    '<xacro:insert_block name="b"/></xacro:property><xacro:insert_block name="b"/>',
    "text of blocks": f'<xacro:property name="b">{"x" * 1000}</xacro:property><xacro:macro name="m" params="n">'
    '<xacro:insert_block name="b"/><xacro:if value="${n}"><xacro:m n="${n - 1}"/><xacro:m n="${n - 1}"/></xacro:if>'
    '</xacro:macro><link name="l"><xacro:m n="30"/></link>',
    "a file that includes itself": '<xacro:include filename="r.xacro"/>' * 3,
    "a file that includes itself in namespaces": "".join(
        f'<xacro:include filename="r.xacro" ns="n{number}"/>' for number in range(3)
    ) + '<xacro:macro name="m" params=""/>',
    "long expressions in macros": '<xacro:macro name="m" params="n"><link name="${n if n == n else '
    + "+".join(["1"] * 2000) + '}"/><xacro:if value="${n}"><xacro:m n="${n - 1}"/><xacro:m n="${n - 1}"/></xacro:if>'
    "</xacro:macro><xacro:m n='30'/>",
    "a parameter without end": f'<xacro:macro name="m" params="{"a" * 400_000}:"/>',
    "yaml again and again": "${[xacro.load_yaml('big.yaml') for i in range(100000)]}",
    "aliases of yaml": "${xacro.load_yaml('bomb.yaml')}", "open brackets of yaml": "${xacro.load_yaml('open.yaml')}",
    "spaces of yaml": "${xacro.load_yaml('spaces.yaml')}",
    "properties of properties": _nested("1", "p + p", 900, "p"),
    "joints that follow each other": _followers(8000, 8000),
    "joints that follow each other in a loop": _followers(8000, 0),
    "links below each other": "".join(
        f'<link name="l{n}"/><joint name="j{n}" type="fixed"><parent link="l{n}"/><child link="l{n + 1}"/></joint>'
        for n in range(20_000)
    ) + '<link name="l20000"/>',
}  # fmt: skip
_YAML = {
    "big.yaml": "a:\n" + "  - [1, 2, 3]\n" * 5000, "open.yaml": "a: [\n" + "[\n" * 90_000,
    "spaces.yaml": "a: 1\nb" + " " * 200_000 + "c\n",
    "bomb.yaml": "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name}\n" + "".join(f"  k{number}: *{before}\n" for number in range(9))
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ),
}  # fmt: skip


def cases() -> dict[str, str]:
    """Texts of files, by name."""
    quoted = {name: text.replace("<", "&lt;") for name, text in EXPRESSIONS.items()}
    found = {name: f'<link name="a"/><link name="${{{text}}}"/>' for name, text in quoted.items()}
    found |= {name: f'<link name="{text}"/>' if text.startswith("$") else text for name, text in INSIDES.items()}
    return {name: f"{_HEAD}{text}</robot>" for name, text in found.items()}


def _read(path: Path) -> str:
    """What became of a file: a sentence, or the number of links."""
    from usdphys_addon.core.errors import InputError
    from usdphys_addon.urdf import read
    from usdphys_addon.urdf.packages import Packages

    try:
        return f"{len(read.read_file(path, Packages(path.parent), {}).links)} links"
    except InputError as error:
        return str(error)


def write(text: str, folder: Path) -> Path:
    """The file of a case, with those beside it that cases load."""
    for name, content in {"r.xacro": text, **_YAML}.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder / "r.xacro"


def run(folder: Path, text: str) -> dict[str, object]:
    """Read a text in a child with limits. Returns status, seconds, megabytes, sentence."""
    path = write(text, folder)
    return limited_child.run(lambda: _read(path), folder, MEMORY, SECONDS)


def main(root: str, folder: str, *names: str) -> Iterator[dict[str, object]]:
    sys.path.insert(0, root)
    _read(Path(folder, "none.xacro"))  # imports, which the children need not make again
    for name, text in cases().items():
        if not names or name in names:
            yield {"name": name, "bytes": len(text), **run(Path(folder), text)}


if __name__ == "__main__":
    for line in main(*sys.argv[1:]):
        print(json.dumps(line), flush=True)
