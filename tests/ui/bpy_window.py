"""Runs a driver script in a window of Blender as a Python module: unlike that of the Debian tree, it is built with USD.

    PYTHON bpy_window.py DRIVER.py

The module can open windows, but turns itself to the background when it starts, and has no loop of events to call. Its
file has the symbols of both: here the start is told to leave the background alone, in memory, and the loop is called.
"""

import ctypes
import importlib.util
import mmap
import runpy
import struct
import sys
from pathlib import Path

WANTED = ("17main_python_enter", "22BKE_sound_force_device", "7WM_main", "15BPY_context_get")


def addresses(library: Path) -> dict[str, int]:
    """Address in the file of each wanted function, by the end of `WANTED` that its symbol contains."""
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        start, size, count = (
            struct.unpack_from(form, data, at)[0] for form, at in (("<Q", 40), ("<H", 58), ("<H", 60))
        )
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * index) for index in range(count)]
        table = next(section for section in sections if section[1] == 2)
        names = sections[table[6]]
        text = data[names[4] : names[4] + names[5]]
        found = {}
        for name, _, _, _, address, _ in struct.iter_unpack("<IBBHQQ", data[table[4] : table[4] + table[5]]):
            if text.startswith(b"_Z", name):
                symbol = text[name : text.index(b"\0", name)].decode()
                for wanted in WANTED:
                    if (
                        symbol.removeprefix("_ZN7blender").removeprefix("_Z").startswith(wanted)
                        and ".cold" not in symbol
                    ):
                        found[wanted] = address
    missing = [wanted for wanted in WANTED if wanted not in found]
    assert not missing, f"{library} has no {', '.join(missing)}"
    return found


def stay_in_front(library: Path, base: int, found: dict[str, int]) -> None:
    """Turn "the background is on" into "is off" before the call that silences sound, where the module starts."""
    enter, silence = (base + found[name] for name in WANTED[:2])
    code = ctypes.string_at(enter, 2048)
    for at in range(7, len(code) - 5):
        if code[at] == 0xE8 and enter + at + 5 + struct.unpack_from("<i", code, at + 1)[0] == silence:
            assert code[at - 7] == 0xC6 and code[at - 1] == 1, f"{library} starts in another way"
            page = (enter + at - 1) & -mmap.PAGESIZE
            libc = ctypes.CDLL(None, use_errno=True)
            assert libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE), 7) == 0, ctypes.get_errno()
            ctypes.c_ubyte.from_address(enter + at - 1).value = 0
            return
    raise AssertionError(f"{library} starts in another way")


def main(driver: str) -> None:
    """Start Blender with a window, let the driver register itself, and handle events until it ends the process."""
    spec = importlib.util.find_spec("bpy")
    library = next(Path(spec.submodule_search_locations[0]).resolve().glob("__init__*.so"))
    found = addresses(library)
    ctypes.CDLL(str(library))
    maps = Path("/proc/self/maps").read_text().splitlines()
    base = next(int(line.partition("-")[0], 16) for line in maps if line.endswith(str(library)))
    stay_in_front(library, base, found)
    import bpy

    assert not bpy.app.background, "Blender has no window"
    context = ctypes.PYFUNCTYPE(ctypes.c_void_p)(base + found["15BPY_context_get"])()
    runpy.run_path(driver, run_name="__main__")
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(base + found["7WM_main"])(context)


main(sys.argv[1])
