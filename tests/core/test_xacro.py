# SPDX-License-Identifier: GPL-3.0-or-later
"""Xacro: what files expand to, and that expressions reach nothing but the properties of the file."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.urdf import expressions, read, yaml_subset
from usdphys_ext.usdphys_addon.urdf.packages import Packages

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


@pytest.fixture
def expanded(tmp_path):
    folder = tmp_path / "robo" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "robo" / "package.xml").write_text("<package><name>robo</name></package>")

    def expand(inside: str, **arguments: str):
        (folder / "r.xacro").write_text(f"{HEAD}{inside}</robot>")
        return read.read_file(folder / "r.xacro", Packages(folder), arguments)

    expand.folder = folder
    return expand


def names(robot) -> list[str]:
    return list(robot.links)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("${1 + 2}", "3"), ("${7 / 2}", "3.5"), ("a${'b'}c", "abc"), ("$${x}", "${x}"), ("${pi}", str(math.pi)),
     ("${n * 2}", "6"), ("${t}", "text"), ("${[i * i for i in range(4)][-1]}", "9"), ("${'x' if n > 2 else 'y'}", "x"),
     ("${d['k']}${d.k}", "55"), ("${radians(180)}", str(math.pi)), ("${'a_b'.split('_')[1]}", "b"),
     ("${n == 3 and not flag}", "True"), ("$(eval 2 ** 5)", "32"), ("${later}", "4"), ("${dict(a=1)['a']}", "1"),
     ("${math.sqrt(16)}", "4.0"),
     ("${sorted(python.set('c a b a'.split()) - python.set(['c']))}", "['a', 'b']"),
     ("${python.isinstance([1], list)}", "True"), ("${xacro.tokenize('a=b, c')}", "['a=b', 'c']"),
     ("${xacro.dotify({'k': 3}).k}", "3"), ("${xacro.warning('old')}a", "a"),
     ("${max([1, 5, 2])}", "5"), ("${quoted}", "007")],
)  # fmt: skip
def test_expressions_are_those_of_python(expanded, text, wanted):
    properties = "".join(
        f'<xacro:property name="{name}" value="{value}"/>'
        for name, value in (("n", "3"), ("t", "text"), ("flag", "false"), ("d", "${dict(k=5)}"),
                            ("later", "${n + one}"), ("one", "1"), ("quoted", "'007'"))
    )  # fmt: skip
    assert names(expanded(f'{properties}<link name="{text}"/>')) == [wanted]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("$(eval kind == 'none')", "False"), ("$(eval kind + '_' + str(count + 1))", "hand_3"),
     ("$(eval arg('count') * 2)", "4"), ("$(eval wide and count > 1)", "True"), ("$(eval n)", "5"),
     ("$(eval twice)", "argument"), ("${twice}", "property"), ("$(eval optenv('HOME', 'nobody'))", "nobody"),
     ("$(eval 'robo' in find('robo'))", "True")],
)  # fmt: skip
def test_eval_takes_arguments_by_name_and_commands_as_functions(expanded, text, wanted):
    declared = "".join(
        f'<xacro:arg name="{name}" default="{value}"/>'
        for name, value in (("kind", "hand"), ("count", "2"), ("wide", "true"), ("twice", "argument"))
    ) + '<xacro:property name="n" value="5"/><xacro:property name="twice" value="property"/>'  # fmt: skip
    assert names(expanded(f'{declared}<link name="{text}"/>')) == [wanted]
    with pytest.raises(InputError, match="'nobody' is not defined"):
        expanded(f'{declared}<link name="$(eval nobody)"/>')


LEFT = ('<xacro:nothing_here a="1"/>', '<xacro:include filename="$(find no_such_package)/x.xacro"/>',
        '<gazebo reference="${prefix}arm"/>', '<xacro:if value="${unknown}"><link name="c"/></xacro:if>')  # fmt: skip


@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("inside", [True, False])
def test_what_xacro_has_left_in_a_urdf_is_unknown_and_no_refusal(tmp_path, left, inside):
    inner, outer = (left, "") if inside else ("", left)
    text = f'{HEAD}<link name="a">{inner}</link>{outer}</robot>'
    for suffix in ("urdf", "xacro"):
        (tmp_path / f"r.{suffix}").write_text(text)
    robot = read.read_file(tmp_path / "r.urdf")
    assert (names(robot), robot.text) == (["a"], text)
    assert [(issue.code, issue.severity) for issue in robot.issues] == [("UrdfXacroLeft", "warning")]
    with pytest.raises(InputError, match=r"r\.xacro:\d"):
        read.read_file(tmp_path / "r.xacro")


def test_a_xacro_that_is_called_urdf_is_not_read_with_half_of_its_numbers(tmp_path):
    (tmp_path / "r.urdf").write_text(f'{HEAD}<link name="${{prefix}}a"/><xacro:nothing/></robot>')
    with pytest.raises(InputError, match="'prefix' is not defined"):
        read.read_file(tmp_path / "r.urdf")


def test_macros_take_parameters_defaults_and_blocks(expanded):
    robot = expanded("""
      <xacro:property name="outer" value="o"/>
      <xacro:macro name="leg" params="name mass:=2 outer:=^ tail:=^|t *origin **more">
        <link name="${name}_${outer}_${tail}"><inertial><xacro:insert_block name="origin"/><mass value="${mass}"/>
        </inertial><xacro:insert_block name="more"/></link></xacro:macro>
      <xacro:leg name="a"><origin xyz="1 2 3"/><more/></xacro:leg>
      <xacro:leg name="b" mass="${2 * 3}" tail="z"><origin xyz="0 0 0"/>
        <more><collision><geometry><sphere radius="1"/></geometry></collision></more></xacro:leg>
      <xacro:call macro="leg" name="c"><origin/><more/></xacro:call>
    """)
    assert names(robot) == ["a_o_t", "b_o_z", "c_o_t"]
    assert [link.mass for link in robot.links.values()] == [2, 6, 2]
    assert robot.links["a_o_t"].inertial.pose[:3, 3].tolist() == [1, 2, 3]
    assert [len(link.collisions) for link in robot.links.values()] == [0, 1, 0]


def test_a_default_can_be_an_expression_with_spaces_in_quotes(expanded):
    robot = expanded("""
      <xacro:macro name="fingers" params="names:=^|${'th ff'.split()} end:='a b' "><link name="${names[1]}_${end}"/>
      </xacro:macro><xacro:fingers/>""")
    assert names(robot) == ["ff_a b"]


def test_conditions_arguments_elements_and_attributes(expanded):
    inside = """<xacro:arg name="side" default="left"/><xacro:property name="side" value="$(arg side)"/>
      <xacro:if value="${side == 'left'}"><link name="l"/></xacro:if>
      <xacro:unless value="${side == 'left'}"><link name="not_l"/></xacro:unless>
      <xacro:element xacro:name="link"><xacro:attribute name="name" value="made_${side}"/></xacro:element>"""
    assert names(expanded(inside)) == ["l", "made_left"]
    assert names(expanded(inside, side="right")) == ["not_l", "made_right"]


def test_included_files_and_yaml_are_read_inside_the_package(expanded):
    (expanded.folder / "part.xacro").write_text(
        f'{HEAD}<xacro:macro name="part" params="n"><link name="part_${{n}}"/></xacro:macro></robot>'
    )
    (expanded.folder.parent / "limits.yaml").write_text(
        "joints:\n  - {name: a, max: !degrees 180}\n  - name: b\n    max: 2\n"
    )
    robot = expanded("""<xacro:include filename="$(find robo)/urdf/part.xacro"/>
      <xacro:include filename="nowhere.xacro" optional="true"/>
      <xacro:property name="l" value="${xacro.load_yaml('$(find robo)/limits.yaml')}"/>
      <xacro:part n="${l['joints'][0].name}"/><xacro:part n="${l.joints[1]['max']}"/>
      <link name="${l['joints'][0]['max']}"/>""")
    assert names(robot) == ["part_a", "part_2", str(math.pi)]


def test_names_of_an_included_file_can_have_a_namespace(expanded):
    (expanded.folder / "part.xacro").write_text(
        f'{HEAD}<xacro:property name="x" value="5"/>'
        '<xacro:macro name="m" params=""><link name="m${x}"/></xacro:macro></robot>'
    )
    robot = expanded('<xacro:include filename="part.xacro" ns="p"/><xacro:p.m/><link name="l${p.x}"/>')
    assert names(robot) == ["m5", "l5"]


@pytest.mark.parametrize(
    "inside",
    ['<link name="${nowhere}"/>', '<xacro:nowhere/>', '<link name="${1 +}"/>', '<link name="${"/>',
     '<link name="$(find no_such_package)"/>', '<link name="$(arg nowhere)"/>', '<link name="$(env HOME)"/>',
     '<xacro:include filename="nowhere.xacro"/>', '<xacro:if value="maybe"><link name="a"/></xacro:if>',
     '<xacro:property name="a" value="${a}"/><link name="${a}"/>',
     '<xacro:macro name="m" params="x"><xacro:m x="1"/></xacro:macro><xacro:m x="1"/>',
     '<xacro:macro name="m" params="x"/><xacro:m/>', '<xacro:macro name="m" params=""/><xacro:m y="1"/>',
     '<xacro:insert_block name="b"/>', '<link name="${1 / 0}"/>', '<xacro:property name="__class__" value="1"/>'],
)  # fmt: skip
def test_a_mistake_is_one_sentence_with_file_and_line(expanded, inside):
    with pytest.raises(InputError, match=r"r\.xacro:\d+: ") as caught:
        expanded(f'<link name="first"/>{inside}')
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "expression",
    ["().__class__", "[x.__class__.__base__ for x in [()]][0]", "__import__('os')", "open('/etc/passwd')",
     "'{0.__class__}'.format(1)", "(lambda: 1)()", "str.mro()", "getattr('', 'upper')", "eval('1')", "exec('1')",
     "dict.__subclasses__()", "f'{().__class__}'", "'%s' % 1", "(x := 1)", "[y for y in ''.__doc__]", "xacro.__class__",
     "9 ** 9 ** 9", "'a' * 10 ** 9", "[0] * 10 ** 9", "range(10 ** 9)", "10 ** 5000",
     "[i for i in range(9999) for j in range(9999)]", "('a' * 90000).replace('a', 'b' * 90000)", "factorial(99999)",
     "(" * 500 + "1" + ")" * 500, "1" * 20000],
)  # fmt: skip
def test_expressions_reach_nothing_and_end(expression):
    with pytest.raises(expressions.ExpressionError):
        expressions.evaluate(expression, {}, expressions.Budget())


def test_files_outside_the_packages_are_not_read(expanded, tmp_path):
    (tmp_path / "secret.yaml").write_text("a: 1")
    (tmp_path / "secret.xacro").write_text(f"{HEAD}</robot>")
    (expanded.folder / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    for inside in (
        f'<xacro:include filename="{tmp_path}/secret.xacro"/>', '<xacro:include filename="../../secret.xacro"/>',
        f"<link name=\"${{xacro.load_yaml('{tmp_path}/secret.yaml')['a']}}\"/>",
        "<link name=\"${xacro.load_yaml('link.yaml')['a']}\"/>",
    ):  # fmt: skip
        with pytest.raises(InputError, match="outside the packages"):
            expanded(inside)


def test_files_that_include_each_other_end(expanded):
    (expanded.folder / "a.xacro").write_text(f'{HEAD}<xacro:include filename="a.xacro"/></robot>')
    with pytest.raises(InputError, match="without end"):
        expanded('<xacro:include filename="a.xacro"/>')


def test_issues_name_the_file_and_line_of_the_macro(expanded):
    (expanded.folder / "part.xacro").write_text(
        f'{HEAD}\n<xacro:macro name="m" params="">\n<link name="a"><inertial/></link></xacro:macro></robot>'
    )
    robot = expanded('<xacro:include filename="part.xacro"/><xacro:m/>')
    assert [issue.message.split(": ")[0] for issue in robot.issues] == ["part.xacro:3"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("a: 1\nb:\n  - 2\n  - 3.5\nc: {d: x, e: [1, 'y # z']}",
      {"a": 1, "b": [2, 3.5], "c": {"d": "x", "e": [1, "y # z"]}}),
     ("# c\n- a: 1  # d\n  b: true\n-\n  c: null", [{"a": 1, "b": True}, {"c": None}]),
     ("a: !degrees 90\nb: 1e-3\n'k y': \"v\\n\"", {"a": math.pi / 2, "b": 1e-3, "k y": "v\n"}), ("", None),
     ("a: &x\n  k: 1\nb: *x\nc:\n  <<: *x\n  l: 2", {"a": {"k": 1}, "b": {"k": 1}, "c": {"k": 1, "l": 2}})],
)  # fmt: skip
def test_the_yaml_of_packages_is_read(text, wanted):
    assert yaml_subset.load(text) == wanted


@pytest.mark.parametrize(
    "text", ["a: *x", "a: !!python/object:os.system 1", "a: |\n  text", "a: [1, 2", "a: 1\n  b: 2"]
)
def test_other_yaml_is_refused(text):
    with pytest.raises(ValueError, match="'"):
        yaml_subset.load(text)


def test_a_plain_urdf_takes_no_arguments(tmp_path):
    (tmp_path / "a.urdf").write_text('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(InputError, match="no xacro"):
        read.read_file(Path(tmp_path / "a.urdf"), None, {"a": "b"})


@pytest.mark.slow
def test_macros_see_and_set_the_properties_of_their_callers(expanded):
    robot = expanded("""
      <xacro:macro name="inner" params="x:=^">
        <xacro:property name="made" value="${x}_${seen}" scope="parent"/></xacro:macro>
      <xacro:macro name="outer" params="x"><xacro:property name="seen" value="s"/><xacro:inner/>
        <link name="${made}"/></xacro:macro>
      <xacro:outer x="1"/>""")
    assert names(robot) == ["1_s"]


@pytest.mark.parametrize(
    "text",
    ["[range(90000) for i in range(90000)]", "sum([[0] * 1000] * 10000, [])", "','.join(['x' * 90000] * 90000)",
     "[('x' * 90000).upper() for i in range(90000)]", "[[0] * 9000] * 9000 == [[0] * 9000 + []] * 9000",
     "sorted([100000] * 100000, key=range)", "set(range(0, 2 ** 66, 2 ** 61 - 1))", "-" * 9000 + "1"],
)  # fmt: skip
def test_the_budget_counts_the_size_of_results(text):
    with pytest.raises(expressions.ExpressionError):
        expressions.evaluate(text, {}, expressions.Budget())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("sum([[1], [2, 3]], [])", [1, 2, 3]), ("sum([1, 2.5])", 3.5), ("round(2.567, 2)", 2.57), ("round(2.5)", 2),
     ("sorted(['bb', 'a'], key=len)", ["a", "bb"]), ("sum(((1,), (2,)), ())", (1, 2))],
)  # fmt: skip
def test_functions_with_limits_answer_as_those_of_python(text, wanted):
    found = expressions.evaluate(text, {}, expressions.Budget())
    assert found == wanted
    assert type(found) is type(wanted)
