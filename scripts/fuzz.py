# SPDX-License-Identifier: GPL-3.0-or-later
"""What the fuzzers share: arguments, child processes, time limits, damage to bytes and JSON, and the report.

A fuzzer is the generator of one case. Cases run in child processes, so that a crash or a hang costs one. A case is told
by (kind, seed, index), and --only runs it again, a single one in this process. Prints `name value unit` per figure and
a line for each bad case.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import random
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("SHARED_DIR", ROOT.parent / "shared"))
#: Cases of one child before a fresh one takes over. Seconds to start and to make a case. Bytes of a child's memory.
BATCH, MAKING, MEMORY = 150, 60.0, 6 * 1024**3
#: On a busy machine a child waits for its turn: it hangs when it works for half of its time, or is silent so often.
SILENT = 20
#: What values in JSON are replaced by.
ODD_JSON = (
    None, -1, 0, 1, 2, 99, 2**31, 2**40, 2**62, 1e300, 1e-300, -0.5, True, "", "text", "\ud800", "a/../b", "../x.bin",
    "../../../../etc/passwd", "/dev/zero", "file:///etc/passwd", "http://localhost/x", "%2e%2e/x", "data:,", "VEC3",
    "data:image/png;base64,AAAA", [], {}, [1, 2], [0] * 16, [1e38] * 3, {"a": 1}, [[[]]],
)  # fmt: skip
Said = str | tuple[str, str]


@dataclass(frozen=True)
class Fuzzer:
    """A kind of cases.

    case: with its own chance, in an empty folder, makes the case and yields notes about that; then what it does next
    (text), and how that went (outcome, detail). bad: outcomes beside "crash", "hang" and "escaped", an exception that
    leaves it. limit: seconds between two yields. start: called once in each process. sources: it needs a folder.
    """

    case: Callable[[random.Random, Path, argparse.Namespace], Iterator[Said]]
    count: int
    bad: tuple[str, ...] = ()
    limit: float = 30.0
    start: Callable[[], object] = lambda: None
    sources: bool = False


# --------------------------------------------------------------------------- damage


def damaged(rng: random.Random, data: bytes) -> tuple[bytes, str]:
    """(bytes with something changed, put in or taken out; what was done)"""
    found, what = bytearray(data), rng.choice(("truncate", "flip", "flip", "cut", "repeat", "zero", "noise"))
    at, size = rng.randrange(max(1, len(found))), rng.choice((1, 4, 16, 256, 4096))
    if what == "truncate":
        del found[at:]
    elif what == "flip":
        for _ in range(rng.choice((1, 3, 10, 100)) if found else 0):
            found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    else:
        part = bytes(found[at : at + size])
        new = {"cut": b"", "repeat": part * rng.choice((2, 11)), "zero": bytes(size), "noise": rng.randbytes(size)}
        found[at : at + size] = new[what]
    return bytes(found), what


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to every value in a JSON value; of long lists, to the first 200."""
    yield at
    for key in value if isinstance(value, dict) else range(min(len(value), 200)) if isinstance(value, list) else ():
        yield from places(value[key], (*at, key))


def mutate_json(rng: random.Random, content: Any) -> list[str]:
    """Change or remove one to six values of a JSON object, most of them in extensions. Returns what was done."""
    spots, notes = [spot for spot in places(content) if spot], []
    ours = [spot for spot in spots if "extensions" in spot or "extras" in spot] or spots
    for _ in range(rng.choice((1, 1, 2, 3, 4, 6))):
        spot, value, holder = rng.choice(ours if rng.random() < 0.6 else spots), rng.choice(ODD_JSON), content
        with contextlib.suppress(KeyError, IndexError, TypeError):
            for key in spot[:-1]:
                holder = holder[key]
            if isinstance(holder, dict) and rng.random() < 0.2:
                del holder[spot[-1]]
            else:
                holder[spot[-1]] = value
            notes.append(f"{'.'.join(map(str, spot))}={str(value)[:30]!a}")
    return notes


def copied(rng: random.Random, folder: Path, sources: Path, *suffixes: str) -> tuple[Path, bytes]:
    """(where one of the source files is to be written, what is in it), beside copies of the files around it.

    Large ones are links, which cost no time; a glTF file may not name a link.
    """

    def near(one: str, other: str) -> None:
        Path(other).symlink_to(one) if Path(one).stat().st_size > 1 << 20 else shutil.copyfile(one, other)

    sources = sources.resolve()
    source = rng.choice(sorted(path for path in sources.rglob("*") if path.suffix.lower() in suffixes))
    top = source.parent if source.parent == sources else sources / source.relative_to(sources).parts[0]
    shutil.copytree(top, folder / top.name, ignore=shutil.ignore_patterns(".*"), copy_function=near)
    path = folder / top.name / source.relative_to(top)
    path.unlink()  # of a link, the file itself would be written
    return path, source.read_bytes()


# --------------------------------------------------------------------------- a case, and the process that runs it


def told(fuzzer: Fuzzer, options: argparse.Namespace, index: int, folder: Path) -> Iterator[Said]:
    """What a case yields; an exception ends it as an outcome."""
    folder.mkdir(parents=True)
    is_made = False
    try:
        for said in fuzzer.case(random.Random(f"{options.kind}:{options.seed}:{index}"), folder, options):
            is_made = True
            yield said
    except Exception as error:
        frames = reversed(traceback.extract_tb(error.__traceback__)[-3:])
        where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
        what = f"{type(error).__name__}: {' '.join(str(error).split())[:300]} at {where}"
        yield "escaped" if is_made else "not_made", what


def serve(fuzzer: Fuzzer, options: argparse.Namespace) -> None:
    """Be a child: run the cases whose numbers come in by a line each, and tell of each on the pipe."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A copy of the log, because a case may put its own file in place of stderr. Where it hangs is asked for by a
    # signal: a watchdog thread of faulthandler reads the stack while it changes, and crashes on that now and then.
    faulthandler.enable(log := os.fdopen(os.dup(2), "w"))
    faulthandler.register(signal.SIGUSR1, file=log)
    fuzzer.start()
    with os.fdopen(options.pipe, "w", buffering=1) as out:
        out.write('"ready"\n')
        for line in sys.stdin:
            for said in told(fuzzer, options, int(line), options.work / f"case_{int(line)}"):
                out.write(json.dumps(said) + "\n")
            out.write("null\n")
    os._exit(0)  # bpy may hang while Python ends


class Child:
    """A process that runs cases, and what it tells."""

    def __init__(self, fuzzer: Fuzzer, folder: Path) -> None:
        folder.mkdir()
        self.limit, self.folder, self.log, self.done = fuzzer.limit, folder, folder / "log.txt", 0
        read, write = os.pipe()
        with self.log.open("wb") as stream:
            self.process = subprocess.Popen(
                [sys.executable, *sys.argv, "--work", str(folder), "--pipe", str(write)], stdin=subprocess.PIPE,
                stdout=stream, stderr=stream, pass_fds=(write,), start_new_session=True, text=True, bufsize=1,
            )  # fmt: skip
        os.close(write)
        self.pipe = os.fdopen(read, "rb", buffering=0)
        if self.message(MAKING * 2) != "ready":
            raise RuntimeError(f"The child does not start: {self.log.read_text()[-2000:]}")

    def message(self, limit: float) -> Any:
        """What it says next. Raises TimeoutError where it hangs, EOFError where it has ended."""
        for _ in range(SILENT):
            before = work_of(self.process.pid)
            if select.select([self.pipe], [], [], limit)[0]:
                line = self.pipe.readline()
                if not line:
                    raise EOFError
                return json.loads(line)
            if work_of(self.process.pid) - before > limit / 2:
                break
        raise TimeoutError

    def run(self, index: int) -> Iterator[tuple[str, str, str, str]]:
        """(outcome, what it did, detail, notes) of each part of a case; the last one may be a crash or a hang."""
        begin, notes, doing, limit = self.log.stat().st_size, "", "", MAKING
        self.done += 1
        try:
            self.process.stdin.write(f"{index}\n")
            while (said := self.message(limit)) is not None:
                if isinstance(said, list):
                    yield *self.judged(said, begin, doing), notes
                elif limit == MAKING:
                    notes, limit = said, self.limit
                else:
                    doing = said
        except (TimeoutError, EOFError, BrokenPipeError) as error:
            hangs = isinstance(error, TimeoutError)
            if hangs:
                self.process.send_signal(signal.SIGUSR1)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(2)
                self.process.kill()
            status = self.process.wait()
            outcome = "not_made" if limit == MAKING else "hang" if hangs else "crash"
            yield outcome, doing, f"status {status}: {self.place(begin)}", notes

    def said(self, begin: int) -> str:
        return self.log.read_bytes()[begin:].decode(errors="replace")

    def judged(self, said: list[str], begin: int, doing: str) -> tuple[str, str, str]:
        """An exception in a hook of Blender is only printed: it counts as well."""
        printed = self.said(begin).rpartition("Traceback")[2]
        if "Traceback" in self.said(begin) and str(ROOT) in printed:
            return "escaped", doing, f"printed: {' / '.join(printed.split(chr(10))[-6:])[:400]}"
        return said[0], doing, said[1]

    def place(self, begin: int) -> str:
        """Where in Python it was, and the last thing that it said."""
        said = self.said(begin)
        places = re.findall(r'File "[^"]*?([^"/]+)", line (\d+) in (\w+)', said)
        lines = [line for line in said.splitlines() if line.strip() and not re.search("File |Extension modules", line)]
        return f"{' < '.join(':'.join(place) for place in places[:4])} | {' / '.join(lines[-4:])[:300]}"

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.pipe.close()


def work_of(pid: int) -> float:
    """Seconds of the processor that a process has used; of a process that is gone, 0."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


# --------------------------------------------------------------------------- the run


def start_blender() -> None:
    """Blender with the extension as `usdphys_ext`, and nothing of the user's."""
    os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.gettempdir() + "/usdphys-fuzz-resources")
    import bench
    import bpy

    bpy.utils.expose_bundled_modules()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bench.load_extension().register()


def run_all(
    fuzzer: Fuzzer, indices: Iterable[int], keep: Path | None, bad: set[str]
) -> Iterator[tuple[int, float, tuple[str, ...]]]:
    """(index, seconds, what `Child.run` yields) of each part of all cases. What ends while it is made is tried again in
    a fresh process."""
    with tempfile.TemporaryDirectory(prefix="usdphys-fuzz-") as name:
        active: Child | None = None
        for index in indices:
            for turn in range(2):
                if active is None or active.process.poll() is not None or active.done >= BATCH:
                    if active is not None:
                        active.close()
                    active = Child(fuzzer, Path(name, f"child_{index}_{turn}"))
                begin = time.monotonic()
                results, case = list(active.run(index)), active.folder / f"case_{index}"
                is_made = all(outcome != "not_made" for outcome, *_ in results)
                if keep is not None and bad & {outcome for outcome, *_ in results}:
                    shutil.copytree(case, keep / str(index), symlinks=True, dirs_exist_ok=True)
                shutil.rmtree(case, ignore_errors=True)
                if is_made or active.process.poll() is None:
                    break
            yield from ((index, time.monotonic() - begin, result) for result in results)
        if active is not None:
            active.close()


def main(doc: str | None, fuzzers: dict[str, Fuzzer], **flags: str) -> int:
    """The command line of a fuzzer, or of several by their kind. flags: further options, and what they do."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if len(fuzzers) > 1:
        parser.add_argument("kind", choices=fuzzers)
    if any(one.sources for one in fuzzers.values()):
        parser.add_argument("--sources" if len(fuzzers) > 1 else "sources", type=Path, help="folder of files to mutate")
    parser.add_argument("--count", type=int, help="number of cases")
    parser.add_argument("--start", type=int, default=0, help="index of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="INDEX", help="these cases alone, with commas; a single one in this process")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="copy the files of bad cases there")
    parser.add_argument("--verbose", action="store_true", help="a line for every part of a case")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a case is bad")
    for name, help_ in flags.items():
        parser.add_argument(f"--{name}", action="store_true", help=help_)
    for name, kind in (("--pipe", int), ("--work", Path)):
        parser.add_argument(name, type=kind, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if len(fuzzers) == 1:
        (options.kind,) = fuzzers
    fuzzer = fuzzers[options.kind]
    if fuzzer.sources and (options.sources is None or not options.sources.is_dir()):
        parser.error("name a folder with files to mutate")
    if options.pipe is not None:
        serve(fuzzer, options)
    indices = range(options.start, options.start + (options.count or fuzzer.count))
    if options.only:
        indices = [int(part) for part in options.only.split(",")]
    bad = {"crash", "hang", "escaped", *fuzzer.bad}
    if options.only and len(indices) == 1:
        return replay(fuzzer, options, indices[0], bad)
    counts, spent = Counter(dict.fromkeys(sorted(bad), 0)), {}
    for index, seconds, (outcome, doing, detail, notes) in run_all(fuzzer, indices, options.keep, bad):
        counts[outcome] += 1
        spent[index] = seconds
        if outcome in bad or options.verbose:
            print(
                f"{outcome} {options.kind} {options.seed} {index} {doing}: {detail} ({notes[:200]})"[:900], flush=True
            )
    slowest = max(spent, key=spent.__getitem__)
    print(f"cases {len(spent)} 1\nruns {counts.total()} 1\nslowest {spent[slowest]:.2f} s  (case {slowest})")
    for name in sorted(counts):
        print(f"{name} {counts[name]} 1")
    return int(options.check and any(counts[name] for name in bad))


def replay(fuzzer: Fuzzer, options: argparse.Namespace, index: int, bad: set[str]) -> int:
    """One case in this process, with everything that it prints."""
    faulthandler.enable()
    fuzzer.start()
    folder = (options.keep or Path(tempfile.mkdtemp(prefix="usdphys-fuzz-"))) / str(index)
    print(f"files in {folder}", flush=True)
    found = set()
    for said in told(fuzzer, options, index, folder):
        print("--" if isinstance(said, str) else "==", said, flush=True)
        found |= {said[0]} if isinstance(said, tuple) else set()
    sys.stdout.flush()
    os._exit(int(bool(found & bad)))
