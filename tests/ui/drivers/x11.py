"""Keys, and a file that is dropped, as the X server sends them: what Blender's own simulated events leave out.

    python3 x11.py FILE X Y

drops a file at a place of the screen, from a window of its own. Only libX11 is needed.
"""

import ctypes
import sys
import time
from pathlib import Path

KEY_PRESS, KEY_RELEASE, BUTTON_PRESS, BUTTON_RELEASE, MOTION = 2, 3, 4, 5, 6
SELECTION_NOTIFY, SELECTION_REQUEST, CLIENT_MESSAGE = 31, 30, 33
#: Seconds after which nobody will answer.
PATIENCE = 60.0
Id, Long = ctypes.c_ulong, ctypes.c_long
_HEAD = [("type", ctypes.c_int), ("serial", Id), ("sent", ctypes.c_int), ("display", ctypes.c_void_p)]


class Message(ctypes.Structure):
    _fields_ = [*_HEAD, ("window", Id), ("kind", Id), ("format", ctypes.c_int), ("data", Long * 5)]


class Request(ctypes.Structure):
    _fields_ = [*_HEAD, *((name, Id) for name in ("owner", "requestor", "selection", "target", "property", "time"))]


class Answer(ctypes.Structure):
    _fields_ = [*_HEAD, *((name, Id) for name in ("requestor", "selection", "target", "property", "time"))]


class Key(ctypes.Structure):
    _fields_ = [
        *_HEAD, ("window", Id), ("root", Id), ("subwindow", Id), ("time", Id),
        *((name, ctypes.c_int) for name in ("x", "y", "x_root", "y_root")),
        ("state", ctypes.c_uint), ("code", ctypes.c_uint), ("same_screen", ctypes.c_int),
    ]  # fmt: skip


class Event(ctypes.Union):
    _fields_ = [("type", ctypes.c_int), ("message", Message), ("request", Request), ("key", Key), ("all", Long * 24)]


class Screen:
    """A connection to the X server that DISPLAY names."""

    def __init__(self) -> None:
        self.x = ctypes.CDLL("libX11.so.6")
        for name in ("XInternAtom", "XDefaultRootWindow", "XCreateSimpleWindow", "XStringToKeysym"):
            getattr(self.x, name).restype = Id
        self.x.XOpenDisplay.restype, self.x.XKeysymToKeycode.restype = ctypes.c_void_p, ctypes.c_ubyte
        self.display = ctypes.c_void_p(self.x.XOpenDisplay(None))
        assert self.display, "no X server"
        self.root = self.x.XDefaultRootWindow(self.display)

    def atom(self, name: str) -> int:
        return int(self.x.XInternAtom(self.display, name.encode(), 0))

    def windows(self) -> list[int]:
        """The windows on the screen, the uppermost last."""
        root, parent, found, count = Id(), Id(), ctypes.POINTER(Id)(), ctypes.c_uint()
        self.x.XQueryTree(self.display, Id(self.root), *map(ctypes.byref, (root, parent, found, count)))
        return found[: count.value]

    def takes_drops(self, window: int) -> bool:
        kind, form, items, rest, value = Id(), ctypes.c_int(), Id(), Id(), ctypes.c_void_p()
        self.x.XGetWindowProperty(
            self.display, Id(window), Id(self.atom("XdndAware")), Long(0), Long(1), 0, Id(0),
            *map(ctypes.byref, (kind, form, items, rest, value)),
        )  # fmt: skip
        return items.value > 0

    def send(self, window: int, event: Event) -> None:
        self.x.XSendEvent(self.display, Id(window), 0, Long(0), ctypes.byref(event))
        self.x.XFlush(self.display)

    def say(self, window: int, name: str, *data: int) -> None:
        event = Event()
        event.message = Message(CLIENT_MESSAGE, 0, 1, self.display, window, self.atom(name), 32, (Long * 5)(*data))
        self.send(window, event)

    def blender(self) -> int:
        return [window for window in self.windows() if self.takes_drops(window)][-1]

    def key(self, name: str, x: int, y: int) -> None:
        """Press and release keys at a place: "Control_L+Shift_L+z"."""
        window = self.blender()
        codes = [
            self.x.XKeysymToKeycode(self.display, Id(self.x.XStringToKeysym(one.encode()))) for one in name.split("+")
        ]
        state = 0
        presses = [(KEY_PRESS, code) for code in codes] + [(KEY_RELEASE, code) for code in codes[::-1]]
        masks = {
            code: {"Shift_L": 1, "Control_L": 4}.get(one, 0) for one, code in zip(name.split("+"), codes, strict=True)
        }
        for number, (kind, code) in enumerate(presses):
            event = Event()
            moment = int(time.monotonic() * 1000) + number
            event.key = Key(kind, 0, 1, self.display, window, self.root, 0, moment, x, y, x, y, state, code, 1)
            self.send(window, event)
            state = state | masks[code] if kind == KEY_PRESS else state & ~masks[code]

    def click(self, x: int, y: int) -> None:
        """Move the mouse to a place, and click."""
        window = self.blender()
        for kind in (MOTION, MOTION, BUTTON_PRESS, BUTTON_RELEASE):
            event = Event()
            state = 256 if kind == BUTTON_RELEASE else 0
            moment = int(time.monotonic() * 1000)
            event.key = Key(
                kind, 0, 1, self.display, window, self.root, 0, moment, x, y, x, y, state, kind != MOTION, 1
            )
            self.send(window, event)

    def drop(self, file: Path, x: int, y: int) -> None:
        """Drag a file from a window of our own over Blender's, and let go."""
        uri, target = f"{file.as_uri()}\r\n".encode(), self.blender()
        own = self.x.XCreateSimpleWindow(self.display, Id(self.root), 0, 0, 1, 1, 0, Id(0), Id(0))
        selection, texts = self.atom("XdndSelection"), self.atom("text/uri-list")
        self.x.XSetSelectionOwner(self.display, Id(selection), Id(own), Id(0))
        self.say(target, "XdndEnter", own, 5 << 24, texts)
        dropped, end = False, time.monotonic() + PATIENCE
        moved = 0.0
        while time.monotonic() < end:
            if not dropped and time.monotonic() - moved > 0.3:
                self.say(target, "XdndPosition", own, 0, x << 16 | y, 0, self.atom("XdndActionCopy"))
                moved = time.monotonic()
            while self.x.XPending(self.display):
                event = Event()
                self.x.XNextEvent(self.display, ctypes.byref(event))
                if event.type == SELECTION_REQUEST:
                    self.answer(event.request, uri)
                elif event.type == CLIENT_MESSAGE and event.message.kind == self.atom("XdndStatus") and not dropped:
                    if event.message.data[1] & 1:
                        self.say(target, "XdndDrop", own, 0, 0)
                        dropped = True
                elif event.type == CLIENT_MESSAGE and event.message.kind == self.atom("XdndFinished"):
                    return
            time.sleep(0.05)
        raise AssertionError(f"Blender takes no drop (dropped: {dropped})")

    def answer(self, asked: Request, uri: bytes) -> None:
        self.x.XChangeProperty(
            self.display, Id(asked.requestor), Id(asked.property), Id(asked.target), 8, 0, uri, len(uri)
        )  # fmt: skip
        event = Event()
        reply = Answer(
            SELECTION_NOTIFY,
            0,
            1,
            self.display,
            asked.requestor,
            asked.selection,
            asked.target,
            asked.property,
            asked.time,
        )
        ctypes.memmove(ctypes.byref(event), ctypes.byref(reply), ctypes.sizeof(reply))
        self.send(asked.requestor, event)


if __name__ == "__main__":
    Screen().drop(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
