"""An engine in a process of its own that needs nothing: bodies fall freely, and what is asked for goes wrong.

    python stand_in.py --live

USDPHYS_FAULT: what goes wrong, and in which call, such as dies@step; USDPHYS_FAULT_AT: in which step.
USDPHYS_STAND_IN_TAKES, USDPHYS_STAND_IN_JOINTS: which edits it takes, and of which joints.
"""

import importlib.util
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

PIPE = os.environ.get("USDPHYS_PIPE") or (
    Path(__file__).resolve().parent.parent / "usdphys_addon" / "simulation" / "engines" / "pipe.py"
)
spec = importlib.util.spec_from_file_location("pipe", PIPE)
pipe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pipe)


def stands_for(monkeypatch, engines, key="physx", fault="", **environment):
    """Let this program stand for an engine of a list, in this Python."""
    row = replace(engines[key], program=str(Path(__file__).resolve()))
    monkeypatch.setitem(engines, key, row)
    monkeypatch.setenv(row.variable, sys.executable)
    monkeypatch.setenv("USDPHYS_FAULT", fault)
    for name, value in environment.items():
        monkeypatch.setenv(f"USDPHYS_{name.upper()}", value)
    return row


class Falling(pipe.Scene):
    """Bodies that fall, are led, or are pushed; each weighs 1 kg and does not turn. A drive sets the speed of all."""

    def build(self, header, arrays):
        print("something that an engine prints")
        assert Path(header["file"]).stat().st_size > 0
        fault("build")
        self.seconds, self.start_gravity = header["seconds"], np.array(header["gravity"])
        self.start, self.kinematic = arrays["states"].copy(), arrays["kinematic"]
        self.reset({}, {})
        joints = os.environ.get("USDPHYS_STAND_IN_JOINTS", "").split()
        takes = os.environ.get("USDPHYS_STAND_IN_TAKES", "drives gravity").split()
        return {"bodies": header["bodies"], "takes": takes, "joints": joints}, {"states": self.states}

    def reset(self, header, arrays):
        self.states, self.gravity, self.steps = self.start.copy(), self.start_gravity.copy(), 0
        return {}, {"states": self.states}

    def step(self, header, arrays):
        self.steps += 1
        if self.steps == int(os.environ.get("USDPHYS_FAULT_AT", "3")):
            fault("step")
        self.gravity = np.array(header.get("gravity", self.gravity))
        accelerations = np.tile(self.gravity, (len(self.states), 1))
        for row, wrench in zip(arrays.get("pushed", ()), arrays.get("wrenches", ()), strict=True):
            accelerations[row] += wrench[:3]
        accelerations[self.kinematic] = 0.0
        for _, _, _, _, _, velocity, _ in header.get("drives", ()):
            self.states[:, 7] = velocity
        self.states[:, 7:10] += accelerations * self.seconds
        self.states[self.kinematic, 7:] = 0.0
        self.states[:, :3] += self.states[:, 7:10] * self.seconds
        for row, pose in zip(arrays.get("led", ()), arrays.get("poses", ()), strict=True):
            self.states[row, :7] = pose
        return {}, {"states": self.states}


def fault(where):
    """Do what USDPHYS_FAULT says, if it is of this call."""
    what, _, place = os.environ.get("USDPHYS_FAULT", "").partition("@")
    if place != where:
        return
    if what == "dies":
        os._exit(7)
    elif what == "raises":
        raise ValueError("the scene is too odd")
    elif what == "hangs":
        time.sleep(60.0)
    elif what == "rubbish":
        ANSWERS.write(b"x" * 64)
    elif what == "text":
        pipe.write(ANSWERS, pipe.packed({"poses": 1}))
    elif what == "eats":
        held = []
        while True:
            held.append(np.ones(1 << 20))


if __name__ == "__main__":
    # What `serve` writes to, for the rubbish.
    ANSWERS = os.fdopen(os.dup(1), "wb", buffering=0)
    sys.exit(pipe.serve(Falling))
