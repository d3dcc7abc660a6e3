# SPDX-License-Identifier: GPL-3.0-or-later
"""Submits a file of jobs to OpenCue, in parts, each of which is a frame. It needs OpenCue's Python package outline.

    python opencue_batch.py /shared/jobs.jsonl 8

A frame that is retried does what is not done yet. BLENDER names a Blender with the add-on USD Physics, as the hosts
see it.
"""

import os
import sys

PROCESSES = 2


def command(jobs: str, parts: int) -> list[str]:
    """The command of each frame. OpenCue puts the number of the frame in the place of #IFRAME#."""
    blender = os.environ.get("BLENDER", "blender")
    return [
        blender, "--command", "usdphys", "batch", jobs, "--shard", f"#IFRAME#/{parts}", "--workers", str(PROCESSES),
    ]  # fmt: skip


def submit(jobs: str, parts: int) -> None:
    from outline import Outline, cuerun
    from outline.modules.shell import Shell

    job = Outline("usdphys_batch")
    job.add_layer(Shell("parts", command=command(jobs, parts), range=f"1-{parts}", chunk=1, threads=PROCESSES))
    cuerun.launch(job, use_pycuerun=False)


if __name__ == "__main__":
    submit(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8)
