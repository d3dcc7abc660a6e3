# SPDX-License-Identifier: GPL-3.0-or-later
"""The tuning of the preview in one table. Each row names the scene, a test, that fails without it.

A row without effect has its neutral value. `tests/simulation/test_tuning.py` gives each row that value in turn.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeVar

from ..ball_rows import GAP as _GAP
from ..hanging import BEARABLE_REDUCED as _BEARABLE_REDUCED

_Value = TypeVar("_Value")
#: More than any number of bodies or steps.
_ANY = 10**9


class Row(NamedTuple):
    """scene: what fails with the neutral value: `FILE::TEST` of `tests/simulation`, or `measures::NAME`."""

    value: Any
    neutral: Any
    what: str
    why: str
    scene: str


#: By the name of the constant.
ROWS: dict[str, Row] = {}


def tuned(name: str, value: _Value, neutral: _Value, what: str, why: str, scene: str) -> _Value:
    """Add a row to the table. Returns its value."""
    ROWS[name] = Row(value, neutral, what, why, scene)
    return value


# --------------------------------------------------------------------------- contacts

SMALL_STEPS = tuned(
    "SMALL_STEPS", 4, 1, "Small steps in each step of the solver, at least.",
    "Not proven: no scene is known that falls without it, because STIFFNESS asks for as many in Normal. In Exact "
    "it is what all accuracies were measured with.",
    "",
)  # fmt: skip
STIFFNESS = tuned(
    "STIFFNESS", 120.0, 30.0, "Frequency (Hz) of contacts as springs, at least.",
    "The solver's own 30 Hz is jelly: stacks sink into each other.",
    "test_tuning_scenes::test_a_stack_of_large_boxes_hardly_sinks",
)  # fmt: skip
STIFFEST = tuned(
    "STIFFEST", 0.25, math.inf, "Frequency (Hz) of contacts times the length (s) of a small step, at most.",
    "Stiffer contacts tremble.", "measures::eight cubes of 3 mm: top moves",
)  # fmt: skip
STATIC_STIFFNESS = tuned(
    "STATIC_STIFFNESS", 2.0, 1.0, "Frequency of contacts with what does not move, relative to that of the others.",
    "The lowest contact of a stack bears all of it.",
    "test_tuning_scenes::test_the_lowest_contact_of_a_stack_bears_all_of_it",
)  # fmt: skip
DAMPING_RATIO = tuned(
    "DAMPING_RATIO", 10.0, 1.0, "Damping ratio of contacts as springs.",
    "Not proven: with a ratio of 1 a cube of 20 g jumped out from below 2 kg, until columns went by the "
    "real masses. All accuracies were measured with it.",
    "",
)  # fmt: skip
IMPACT = tuned(
    "IMPACT", 0.1, math.inf, "Part of its size by which a fast body may enter another one on impact.",
    "A fast body is through a thin wall before the spring of its contact stops it.",
    "measures::0.5 cm at 300 m/s against a static wall of 1 cm: behind it",
)  # fmt: skip
CROWD = tuned(
    "CROWD", 200, _ANY,
    "Number of dynamic bodies from which contacts are softer, and from which columns are not looked for.",
    "A large pile with softer contacts comes to rest much sooner.",
    "test_quality::test_smaller_and_more_uneven_bodies_get_smaller_steps_and_stiffer_contacts",
)  # fmt: skip
SAG = tuned(
    "SAG", 0.001, math.inf, "How far a body may sink under its own weight, relative to its size.",
    "Contacts of one frequency let a body sink by a length, which for a small body is a large part of it.",
    "test_tuning_scenes::test_small_cubes_sink_by_a_part_of_their_size",
)  # fmt: skip
HEAVY_SAG = tuned(
    "HEAVY_SAG", 0.015, math.inf, "How far a body may sink under the heaviest of all bodies, relative to its size.",
    "A heavy body on a light one presses its contact by the ratio of their masses deeper.",
    "measures::chain of 10 links of 1 kg with 3000 kg: longest, of its length",
)  # fmt: skip
COLUMN_SAG = tuned(
    "COLUMN_SAG", 0.0022, math.inf, "How far the top of a column of bodies may sink, m.",
    "The sags of all contacts in a column add up at its top.", "measures::fifteen boxes of 15 cm: top moves",
)  # fmt: skip
HIGH_SAG = tuned(
    "HIGH_SAG", 0.005, math.inf, "The same, relative to the height of the column.",
    "For a column of small bodies 2 mm are much.",
    "test_tuning_scenes::test_a_column_of_small_cubes_sinks_by_a_part_of_its_height",
)  # fmt: skip
YIELD = tuned(
    "YIELD", 1.76, 1.0, "How many times as far as a spring a contact in a column yields.",
    "Measured: a column that is as stiff as a row of springs would ask for sinks further than it may.",
    "measures::fifteen boxes of 15 cm: top moves",
)  # fmt: skip
FEW = tuned(
    "FEW", 200, 0, "Bodies in a world of the solver, at most, with FEW_SWEEPS and FEW_RELAXATIONS.",
    "A box that falls flat lands 2 % of its size aside: one sweep does not share the impact among its corners.",
    "test_tuning_scenes::test_a_box_that_falls_flat_lands_where_it_falls",
)  # fmt: skip
FEW_SWEEPS = tuned(
    "FEW_SWEEPS", 4, 1, "So many times the sweeps of the quality.",
    "As above.", "test_tuning_scenes::test_a_box_that_falls_flat_lands_where_it_falls",
)  # fmt: skip
FEW_RELAXATIONS = tuned(
    "FEW_RELAXATIONS", 4, 1, "Sweeps that take out the velocities with which contacts are corrected.",
    "As above.", "test_tuning_scenes::test_a_box_that_falls_flat_lands_where_it_falls",
)  # fmt: skip
LANDING_SWEEPS = tuned(
    "LANDING_SWEEPS", 3.5, 0.0,
    "Sweeps where a slender body lands: times its largest moment over its mass and the square of half its width.",
    "The corner that is corrected last lifts the others: a column rocks by 4 degrees, and a domino topples.",
    "test_landing::test_what_is_slender_and_falls_flat_stands",
)  # fmt: skip
MOST_SLIDING = tuned(
    "MOST_SLIDING", 100, 0,
    "Bodies in a world of the solver, at most, that move while friction is that of each contact.",
    "The cheaper friction of pairs brakes spin and slide apart: what slides and spins turns half as far. Each contact "
    "takes 10 microseconds of Python in a step.",
    "test_friction::test_what_slides_and_spins_turns_as_far_as_its_corners_say",
)  # fmt: skip
SMALLEST = tuned(
    "SMALLEST", 0.005, 0.0, "Smallest length unit (m) to which the tolerances of the solver are scaled.",
    "With a smaller one grains of a millimetre never come to rest.",
    "test_tuning_scenes::test_grains_of_a_millimetre_come_to_rest",
)  # fmt: skip

# --------------------------------------------------------------------------- bodies that turn, roll and bounce

DRIFT = tuned(
    "DRIFT", 0.004, math.inf,
    "Part of its distance from the axis by which a turning platform may carry a body outwards in a second.",
    "A body on a platform moves along a tangent in each step of the solver.",
    "measures::box on a turntable of 4 rad/s at 0.15 m: radius after 5 s",
)  # fmt: skip
MOST_TURNING_STEPS = tuned(
    "MOST_TURNING_STEPS", 48, _ANY, "Steps of the solver in a time step for a turning platform, at most.",
    "Their number grows with the square of the speed: a fan of 3,000 turns a minute would take 200,000.",
    "test_tuning_scenes::test_what_turns_ever_faster_takes_no_more_steps_for_ever",
)  # fmt: skip
ROLL = tuned(
    "ROLL", 0.5, math.inf, "Angle (rad) by which a rolling body may turn in a step of the solver.",
    "The points of contact turn with the body during a step: it sinks into what it rolls on, and is slowed down.",
    "measures::ball of 10 mm rolls down 20 degrees for 1 s: way",
)  # fmt: skip
MOST_ROLLING_STEPS = tuned(
    "MOST_ROLLING_STEPS", 4, _ANY, "Steps that this makes of one, at most.",
    "A body that spins ever faster would take ever more.",
    "test_tuning_scenes::test_what_turns_ever_faster_takes_no_more_steps_for_ever",
)  # fmt: skip
LED = tuned(
    "LED", 0.03, math.inf,
    "Angle (rad) by which a surface may lead a body round in a step of the solver.",
    "A body goes along the tangent in each step, and what of its speed then points into the surface is lost: a half of "
    "this angle for each radian. With 0.11, a ball in a loop has 3.0 of 4.1 m/s at the top.",
    "test_led_round::test_a_loop_takes_no_more_speed_of_a_ball_than_its_edges",
)  # fmt: skip
LED_WAY = tuned(
    "LED_WAY", 0.25, math.inf,
    "Part of its size by which a body that a surface leads round moves in a step of the solver.",
    "A faster one is put back to where it first touches what is ahead, and is not turned: crates, hulls and bodies of "
    "several colliders came 10 to 50 % less high up a curve.",
    "test_led_round::test_a_body_slides_up_a_curve_as_high_as_its_speed_says",
)  # fmt: skip
LED_LEAST = tuned(
    "LED_LEAST", 0.01, math.inf, "Angle (rad) from which on a surface leads a body round.",
    "Floors that are not quite flat do not need more steps.",
    "test_led_round::test_a_body_slides_up_a_curve_as_high_as_its_speed_says",
)  # fmt: skip
MOST_LED_STEPS = tuned(
    "MOST_LED_STEPS", 4, 1, "Steps that this makes of one, at most.",
    "All bodies of a group take these steps.",
    "test_led_round::test_a_loop_takes_no_more_speed_of_a_ball_than_its_edges",
)  # fmt: skip
ROW_GAP = tuned(
    "ROW_GAP", _GAP, 0.0, "By which part balls in a row that bounces are smaller.",
    "The solver spreads a blow over all balls that touch; with gaps it passes from one to the next.",
    "measures::cradle of five balls that touch, from 30 degrees: the last one rises",
)  # fmt: skip

SLOW = tuned(
    "SLOW", 0.01, 1.0, "Part of its size, up to 1 m, by which a body may move in a second and still fall asleep, 1/s.",
    "A small body that creeps is fast for its size.",
    "test_sleep::test_a_small_body_that_creeps_goes_on",
)  # fmt: skip
SLOW_TURN = tuned(
    "SLOW_TURN", 0.02, -1.0, "Spin (rad/s) with which a body may fall asleep.",
    "Without it piles and ragdolls stay awake.", "test_sleep::test_a_heap_falls_asleep",
)  # fmt: skip

# --------------------------------------------------------------------------- jointed bodies

SMALL_JOINT_STEPS = tuned(
    "SMALL_JOINT_STEPS", ((8, 16), (64, 8)), (),
    "(most bodies, small steps): small steps in each step for a group of so many jointed bodies, at least.",
    "Loops of joints that swing lose energy in proportion to the length of a small step.",
    "test_tuning_scenes::test_a_loop_of_joints_swings_on",
)  # fmt: skip
BEARABLE = tuned(
    "BEARABLE", 700.0, math.inf, "Mass that hangs on a jointed body, relative to its own, that four small steps bear.",
    "Joints yield with the ratio of the masses; the small steps that they need grow with its square root.",
    "test_quality::test_a_body_that_far_too_much_hangs_on_is_named",
)  # fmt: skip
UNEVEN = tuned(
    "UNEVEN", 60.0, math.inf, "From this ratio on, seven more sweeps are made in spite of small steps.",
    "One sweep carries a load over one joint.",
    "measures::chain of 10 links of 1 kg with 3000 kg: longest, of its length",
)  # fmt: skip
WHEELED_APART = tuned(
    "WHEELED_APART", 8, 0, "Robots on driven wheels, at most, that get a world each, until they come near each other.",
    "The order in which the solver takes wheels depends on all of a world: a car beside a robot moves it 45 mm aside.",
    "test_wheels::test_a_robot_rolls_on_however_many_are_beside_it",
)  # fmt: skip
PRECESSION = tuned(
    "PRECESSION", 0.01, math.inf,
    "Angle (rad) in a small step of the solver, at most, of a body on a joint that lets the axis of its spin swing.",
    "A top of 0.3 m on a moving stand that spins at 150 rad/s droops by 33 degrees in 20 s with 0.04, by 5 with 0.01.",
    "test_tuning_scenes::test_a_top_on_a_kinematic_stand_hardly_droops",
)  # fmt: skip
MOST_PRECESSING_STEPS = tuned(
    "MOST_PRECESSING_STEPS", 4, 1, "Times as many steps, at most, for such a body.",
    "More cost more time than they are worth.",
    "test_tuning_scenes::test_a_top_on_a_kinematic_stand_hardly_droops",
)  # fmt: skip
FEW_TOPS = tuned(
    "FEW_TOPS", 8, 0, "Bodies on such joints, at most, whose spin is looked at.",
    "All bodies of their group take the smaller steps.",
    "test_tuning_scenes::test_a_top_on_a_kinematic_stand_hardly_droops",
)  # fmt: skip
SPRING_TURN = tuned(
    "SPRING_TURN", 0.14, 0.0,
    "Angle (rad) in a small step of the solver, at most, of a spring whose own damping is made up for.",
    "The solver damps springs: one of 1.6 Hz without damping has half of its swing after 60 s.",
    "test_springs::test_a_spring_without_damping_keeps_its_swing",
)  # fmt: skip
FEW_SPRINGS = tuned(
    "FEW_SPRINGS", 3, _ANY, "A group of jointed bodies with more drives that have a stiffness gets SPRING_SWEEPS.",
    "Each sweep leaves a velocity in an arm that such drives hold.",
    "test_drive_design::test_an_arm_holds_itself_and_each_hinge_takes_its_time",
)  # fmt: skip
SPRING_SWEEPS = tuned(
    "SPRING_SWEEPS", 15, 1, "Sweeps for such a group, and for one with such a drive in maximal coordinates.",
    "An arm of 7 equal links sags by 0.8 % of its reach with 15, by 1.1 % with 7, by 2.4 % with 1.",
    "test_drive_design::test_an_arm_holds_itself_and_each_hinge_takes_its_time",
)  # fmt: skip
LINKAGE_SWEEPS = tuned(
    "LINKAGE_SWEEPS", 31, 1, "Sweeps, at least, for a driven group with a loop in maximal coordinates.",
    "What few sweeps leave of a loop brakes its drive: a linkage of seven bars, with 4 kN m s on its crank, turns by "
    "92 % of its way with 1, by 98 % with 15.",
    "test_tuning_scenes::test_a_linkage_of_seven_bars_does_not_brake_its_drive",
)  # fmt: skip
LINKAGE_SPREAD = tuned(
    "LINKAGE_SPREAD", 12.0, math.inf,
    "From this ratio on of the heaviest mass to the lightest one, such a group gets more sweeps in proportion.",
    "A cylinder of 8 kg that lifts a boom of 2 t has 65 to 83 % of its speed with 31 sweeps.",
    "test_tuning_scenes::test_a_light_cylinder_lifts_a_heavy_boom_at_its_speed",
)  # fmt: skip
MOST_LINKAGE_SWEEPS = tuned(
    "MOST_LINKAGE_SWEEPS", 800, _ANY, "Sweeps for it, at most, times its bodies.",
    "Three bodies with 500 sweeps take about a second for one.",
    "test_quality::test_a_driven_loop_of_uneven_masses_gets_more_sweeps_but_not_for_ever",
)  # fmt: skip
ARMATURE_SWEEPS = tuned(
    "ARMATURE_SWEEPS", 5.0, 0.0,
    "Sweeps for joints with an armature that are in no articulation, times its ratio to the inertia without it.",
    "Five links in a row with 240 times their inertia fall by 2 % farther with the sweeps that others get.",
    "test_armatures::test_a_row_of_links_with_armatures_falls_as_in_mujoco",
)  # fmt: skip
ARMATURE_RELAXATIONS = tuned(
    "ARMATURE_RELAXATIONS", 5.0, 1e-9,
    "Sweeps of each small step that take out the velocities of corrections, times the ratio of an armature to the "
    "inertia without it.",
    "With as many as others get, five links in a row with 240 times their inertia fall by 2 % farther.",
    "test_armatures::test_a_row_of_links_with_armatures_falls_as_in_mujoco",
)  # fmt: skip
BEARABLE_ARMATURE = tuned(
    "BEARABLE_ARMATURE", 100.0, math.inf,
    "Largest armature of a joint in a loop that the solver is given, relative to the inertia without it.",
    "With 5,000 times, the knuckles of a gripper come apart by centimetres.",
    "test_armatures::test_a_loop_with_armatures_of_any_size_stays_together",
)  # fmt: skip
SLOWED = tuned(
    "SLOWED", 1.5, math.inf,
    "From so many times their sweeps on, this ratio slows the drive down, and a notice says so.",
    "With 8 t on the cylinder of 8 kg it has 81 to 91 % of its speed.",
    "test_tuning_scenes::test_a_drive_that_far_too_heavy_bodies_slow_down_is_named",
)  # fmt: skip
HEAVY_LOAD = tuned(
    "HEAVY_LOAD", 10.0, math.inf,
    "From this ratio of masses on, a driven group in maximal coordinates gets HEAVY_SWEEPS.",
    "13 times its mass on a bar of 5 cm sag by 0.95 % with 75 sweeps, by 3.2 % with 15.",
    "test_tuning_scenes::test_a_bar_holds_many_times_its_mass",
)  # fmt: skip
HEAVY_SWEEPS = tuned(
    "HEAVY_SWEEPS", 75, 15, "Sweeps for such a group.",
    "As above.", "test_tuning_scenes::test_a_bar_holds_many_times_its_mass",
)  # fmt: skip
ROTOR = tuned(
    "ROTOR", 0.6, math.inf,
    "Largest armature of a ball joint between two bodies that is inertia of both, relative to that of each with it: "
    "the mean of both, as a product.",
    "They turn along with each other by this part less in each step: large rotors would follow late.",
    "test_rotors::test_heavy_rotors_turn_with_their_bodies",
)  # fmt: skip
JOINT_RELAXATIONS = tuned(
    "JOINT_RELAXATIONS", 4, 1,
    "Sweeps of each small step that take out the velocities with which joints and contacts are corrected.",
    "What one sweep leaves of them drives a ragdoll: its arms slid on the floor by 0.2 m/s for ever with one, by "
    "0.07 with two, and rest with three. Not where joints break: their loads would be others.",
    "test_joints_at_rest::test_a_wrist_holds_where_a_light_hand_hits_the_floor",
)  # fmt: skip
STOP_RELAXATIONS = tuned(
    "STOP_RELAXATIONS", 8, 4,
    "The same, where joints between two bodies that move have limits in maximal coordinates.",
    "What four sweeps leave throws an arm on a base that a fixed joint holds back off its limit, with a third of its "
    "speed, and what eight leave with a fifth. From ten on a car of four wheels drifts aside by 6 cm in 7.6 m.",
    "test_joints::test_an_arm_stays_at_the_limit_that_it_falls_to",
)  # fmt: skip
MOST_STOP_SWEEPS = tuned(
    "MOST_STOP_SWEEPS", 512, _ANY, "Such sweeps, at most, times the bodies that joints hold.",
    "Ten ragdolls take 1.6 times as long with sixteen.", "test_quality::test_limits_of_many_bodies_get_no_more_sweeps",
)  # fmt: skip
WHEEL_DAMPING = tuned(
    "WHEEL_DAMPING", 1.0, 1e9,
    "Damping of such a drive in the solver times the length of a small step, relative to the inertia of the wheel.",
    "Not proven, as below.", "",
)  # fmt: skip
RIGID_DAMPING = tuned(
    "RIGID_DAMPING", 1.2, math.inf,
    "From this damping of the drive of a wheel on it gets a softer one, relative to the inertia with what it carries.",
    "Not proven: robots of stiff files reared up by 4 cm, because a rigid drive turns the rounding errors of contacts "
    "into leaps. Since cylinders bear below their axis and large floors are cut, no scene is known that falls without "
    "it.",
    "",
)  # fmt: skip
SEEN = tuned(
    "SEEN", 10.0, 0.0,
    "Distance (m), at most, in which a jointed body sees contacts: those that it can reach in a step.",
    "The solver puts a fast body that meets a static one back to where they touch, without those joined to it.",
    "test_joints_at_rest::test_a_wrist_holds_where_a_light_hand_hits_the_floor",
)  # fmt: skip

# --------------------------------------------------------------------------- articulations in reduced coordinates

MOST_REDUCED = tuned(
    "MOST_REDUCED", 48, _ANY, "Degrees of freedom of an articulation in reduced coordinates, at most.",
    "Their cost grows with the cube of the number.",
    "test_quality::test_an_articulation_that_is_long_or_bears_much_is_simulated_in_maximal_coordinates",
)  # fmt: skip
BEARABLE_REDUCED = tuned(
    "BEARABLE_REDUCED", _BEARABLE_REDUCED, math.inf,
    "Mass that hangs on a body of such an articulation, relative to its own, at most.",
    "More makes it unstable.",
    "test_quality::test_an_articulation_that_is_long_or_bears_much_is_simulated_in_maximal_coordinates",
)  # fmt: skip
PIVOT_ARM = tuned(
    "PIVOT_ARM", 0.01, 0.0,
    "Two joints on a body without a collider count as one place within this part of the arm of what hangs on it.",
    "A light link between the hinges of a hip holds a leg; on a lever of its own it would not.",
    "test_stacked::test_a_stack_of_hinges_swings_as_in_mujoco",
)  # fmt: skip
EVENING = tuned(
    "EVENING", 0.001, math.inf,
    "The latter does not matter where each joint has an armature of this part of the mass and inertia of all bodies.",
    "Seven links, each 1.3 times as long as the one before, hold with 0.3 %; in maximal coordinates they do not.",
    "test_drive_design::test_an_arm_whose_links_grow_towards_the_tip_holds_itself_by_the_armature_that_it_gets",
)  # fmt: skip
TRIAL_STEPS = tuned(
    "TRIAL_STEPS", 60, 0,
    "Steps for which an articulation must stay stable alone before it is simulated in reduced coordinates.",
    "Which masses and poses the solver takes cannot be told from them.",
    "test_tuning_scenes::test_an_articulation_that_reduced_coordinates_lose_is_simulated_in_maximal_ones",
)  # fmt: skip
STRAY_SPEED = tuned(
    "STRAY_SPEED", 0.05, math.inf,
    "Speed (m/s), at most, that the centre of mass of a free articulation gains in its trial, gravity aside.",
    "Limits that are violated at the start drive it through space: its rows do not keep its momentum.",
    "test_tuning_scenes::test_a_free_articulation_that_spins_falls_straight_down",
)  # fmt: skip

# --------------------------------------------------------------------------- joints that break, and what costs much

LOOP_SWEEPS = tuned(
    "LOOP_SWEEPS", 32, 1, "Sweeps, at least, where joints break that hold bodies in loops.",
    "What few sweeps leave of a load is made up for in the next steps: it overshoots by 7 % at the start with 2.",
    "test_joints::test_two_bars_between_posts_break_at_the_load_of_their_ends",
)  # fmt: skip
FIRST = tuned(
    "FIRST", 0.9, 0.0,
    "Of overloaded joints, those break together whose overload is at least this part of the largest.",
    "What breaks first takes the load from others.", "test_tuning_scenes::test_a_fuse_breaks_before_what_it_protects",
)  # fmt: skip
MOST_BREAKS = tuned(
    "MOST_BREAKS", 60, 0, "Times that a step of the solver is made again because joints broke in it, at most.",
    "Without the joints that broke first, the others may hold.",
    "test_tuning_scenes::test_a_fuse_breaks_before_what_it_protects",
)  # fmt: skip
MOST_GRIPS = tuned(
    "MOST_GRIPS", 100, _ANY, "Bodies at the contacts of which the solver asks about friction, at most.",
    "Each contact takes 10 microseconds of Python in a step.",
    "test_wheels::test_wheels_that_skid_as_the_solver_lets_them_are_named_because_there_are_too_many",
)  # fmt: skip
