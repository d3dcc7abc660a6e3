# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs beside the preview: its share of a frame, with 100 boxes that fall into a pile.

    .venv/bin/python scripts/bench_beside.py [--check]

`frame` is CPU time of a time step with its poses in Blender, without twins; `steps` that with the preview at twice
the rate beside it, which takes two steps more; `ghosts` the vertices of its ghosts where all bodies have one;
`verdicts` the signs, the legend and the verdicts of a redraw. `redraw_part` is what the main thread does in a redraw
that plays by the clock (95 of 100 do less), as a part of a thirtieth of a second: other threads of the solver wait in a
loop, which a busy machine makes long. A scene that needs more runs slower, and is drawn as often. Prints `name value
unit` per figure; with --check, exit status 1 where a ratio is over its bound.
"""

from __future__ import annotations

import time
from typing import Any

import bench

NUMBER, FRAMES = 100, 180
#: The twin takes two steps in each. A redraw may take a thirtieth of a second.
MOST = {"steps_ratio": 4.0, "redraw_part": 1.0}
FRAME = 1.0 / 30.0


def build() -> None:
    """Boxes in loose layers above a floor."""
    scene = bench.empty().scene
    mesh = bench.box("Box")
    floor = bench.placed("Floor", mesh, (0, 0, -0.5))
    floor.scale = (200, 200, 1)
    floor.usdphys.colliders.add()
    for index in range(NUMBER):
        layer, place = divmod(index, 25)
        at = 1.2 * (place % 5) + 0.1 * layer, 1.2 * (place // 5) + 0.07 * layer, 0.6 + 1.2 * layer
        bench.body(f"Box {index:03d}", mesh, at)
    scene.view_layers[0].update()


def frames(*, beside_it: bool) -> tuple[Any, float]:
    """(session after the frames, CPU milliseconds of each)."""
    import bpy
    from usdphys_ext.usdphys_addon.playback import beside
    from usdphys_ext.usdphys_addon.playback import guard as preview_guard

    build()
    beside.switch(beside.CONFIDENCE, beside_it)
    session = preview_guard.start(bpy.context)
    start = time.process_time()
    for _ in range(FRAMES):
        session.step_once(bpy.context)
    return session, (time.process_time() - start) / FRAMES * 1e3


def redraws(session: Any) -> list[float]:
    """Seconds of Blender's main thread in each redraw that plays by the clock, from the start."""
    import bpy

    session.reset(bpy.context)
    session.play()
    taken, end = [], time.perf_counter() + 4.0
    while time.perf_counter() < end:
        start, worked = time.perf_counter(), time.thread_time()
        if session.advance(bpy.context):
            taken.append(time.thread_time() - worked)
        time.sleep(max(0.0, FRAME - (time.perf_counter() - start)))
    return taken


def measure(_wanted: Any) -> bench.Rows:
    bench.load_extension().register()
    import bpy
    from usdphys_ext.usdphys_addon.viewport import overlay_state, scene_shapes, twin_lines

    _, alone = frames(beside_it=False)
    session, both = frames(beside_it=True)
    twins = session.twins
    if not all(twin.runs for twin in twins.twins):
        raise RuntimeError(f"a twin does not run: {[twin.problem for twin in twins.twins]}")
    known = overlay_state.contents_of_session(bpy.context, session)
    options = scene_shapes.Options(colliders="ALL", joints="NONE")
    drawing = scene_shapes.build(known.model, options, scene_shapes.Seen(), known.carriers)
    twins.twins[0].apart[:], twins.twins[0].share[:] = 1.0, 2.0
    start = time.process_time()
    for _ in range(50):
        twin_lines.ghost_lines(drawing, twins, twins.twins[0], session.meters)
    ghosts = (time.process_time() - start) / 50 * 1e3
    start = time.process_time()
    for _ in range(50):
        twin_lines.signs(twins)
        twin_lines.rows_of(twins, ("compare", "confidence"))
    verdicts = (time.process_time() - start) / 50 * 1e3
    taken = sorted(redraws(session))
    if not taken:
        raise RuntimeError("nothing was played")
    yield "frame", alone, "ms"
    yield "steps", both, "ms"
    yield "steps_ratio", both / alone, ""
    yield "ghosts", ghosts, "ms"
    yield "verdicts", verdicts, "ms"
    yield "redraw_part", taken[int(0.95 * (len(taken) - 1))] / FRAME, ""


if __name__ == "__main__":
    bench.main(__doc__, measure, MOST)
