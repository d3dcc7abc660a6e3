# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the manual: cuts what matters out of the shots of window tests, and makes films of frames.

    .venv-docs/bin/python scripts/pictures.py cut FROM TO      # cut FROM/NAME.png into TO/NAME.webp, as CUTS says
    .venv-docs/bin/python scripts/pictures.py film FOLDER FILE.webp RATE STILL

Needs Pillow, which the environment `docs` has. A picture is shown at its size, so letters can be read.
"""

import sys
from pathlib import Path

#: Left, top, width and height of what a page shows of a shot, in pixels.
CUTS: dict[str, tuple[int, int, int, int]] = {
    "beside-1-both": (60, 270, 705, 450),
    "first_run-1-hint": (340, 84, 710, 445),
    "first_run-6-landed": (340, 84, 710, 445),
    "first_run-7-checks": (400, 200, 650, 370),
    "generators-chimney": (330, 160, 560, 370),
    "generators-line": (380, 180, 670, 530),
    "generators-machines": (320, 150, 450, 470),
    "generators-net": (300, 230, 460, 240),
    "generators-rope": (330, 170, 420, 480),
    "gizmos-5-offset": (280, 56, 560, 420),
    "robot-1-dropped": (130, 310, 460, 390),
    "robot-2-imported": (330, 250, 420, 270),
    "robot-3-inspected": (380, 84, 670, 520),
    "robot-4-plays": (330, 250, 420, 270),
    "selection-3-joint": (420, 84, 630, 600),
    "tasks-car-3-drives": (340, 84, 710, 445),
    "tasks-chain-2-hangs": (340, 84, 710, 384),
    "tasks-door-2-joint": (340, 84, 710, 445),
    "tasks-door-3-open": (340, 84, 710, 445),
    "tasks-inspector-1-posed": (400, 220, 650, 370),
}
#: Quality of WebP: of a still picture, which has letters, and of a film.
STILL, MOTION = 82, 55


def cut(source: Path, target: Path) -> list[str]:
    """Write each picture of `CUTS` of which there is a shot. Returns their names."""
    from PIL import Image

    target.mkdir(parents=True, exist_ok=True)
    done = []
    for name, (left, top, width, height) in CUTS.items():
        shot = source / f"{name}.png"
        if shot.exists():
            with Image.open(shot) as image:
                part = image.convert("RGB").crop((left, top, left + width, top + height))
            part.save(target / f"{name}.webp", quality=STILL, method=6)
            done.append(name)
    return done


def film(folder: Path, target: Path, rate: float, still: int) -> None:
    """Put the frames of a folder together, and keep one as a still picture in the folder `stills` beside its folder."""
    from PIL import Image

    target.parent.mkdir(parents=True, exist_ok=True)
    frames = [Image.open(path).convert("RGB") for path in sorted(folder.glob("*.png"))]
    unfinished = target.with_suffix(".part")
    frames[0].save(
        unfinished, format="WEBP", save_all=True, append_images=frames[1:], duration=round(1000 / rate), loop=0,
        quality=MOTION, method=6, minimize_size=True,
    )  # fmt: skip
    unfinished.replace(target)
    stills = target.parent.parent / "stills"
    stills.mkdir(exist_ok=True)
    frames[still].save(stills / target.name, quality=STILL, method=6)
    print(f"{target.name}  {len(frames)} frames  {target.stat().st_size / 1000:.0f} KB")


def main(arguments: list[str]) -> None:
    match arguments:
        case ["cut", source, target]:
            print(", ".join(cut(Path(source), Path(target))) or "no shot is there")
        case ["film", folder, target, rate, still]:
            film(Path(folder), Path(target), float(rate), int(still))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
