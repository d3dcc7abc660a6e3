# SPDX-License-Identifier: GPL-3.0-or-later
"""The independent comparer of two UsdPhysics files, in a process of its own with usd-core, which judges many pairs."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

#: How often the comparer is asked again where its own numbers are none.
TRIES = 4
#: Reads a line of JSON [words, file, other file, report] for each pair; writes a line with all that the tool prints.
_SERVE = """
import contextlib, gc, io, json, runpy, sys
tool = sys.argv[1]
main = runpy.run_path(tool)["main"]
for line in sys.stdin:
    words, original, copy, report = json.loads(line)
    sys.argv = [tool, *words, original, copy, "--json", report]
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        main()
    # A stage that lives on would hand out its layers as they are now.
    gc.collect()
    print(json.dumps(text.getvalue()), flush=True)
"""


class Comparer:
    """Runs the tool in the Python that has usd-core; starting that for each pair would take most of the time."""

    def __init__(self, tool: Path, python: Path, words: tuple[str, ...] = ()) -> None:
        """words: that the tool wants before the files."""
        self.tool, self.python, self.words = tool, python, words
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Comparer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process; the next comparison starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def compare(self, original: Path, copy: Path) -> dict[str, Any]:
        """The comparer's report: "score", "facts", "vendor", "diffs" and more, and all that it prints as "text".

        usd-core's ComputeMassProperties returns numbers that are none in about one process of a hundred, for files as
        they are compared with themselves: then another process is asked. What is really not a number stays so.
        """
        for _ in range(TRIES):
            found = self._ask(original, copy)
            if found["score"] == 1.0 or "nan" not in str(found["diffs"]):
                break
            self.close()
        return found

    def _ask(self, original: Path, copy: Path) -> dict[str, Any]:
        if self._process is None:
            command = [str(self.python), "-E", "-c", _SERVE, str(self.tool)]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdin is not None and self._process.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            try:
                self._process.stdin.write(json.dumps([self.words, str(original), str(copy), str(report)]) + "\n")
                self._process.stdin.flush()
                answer = self._process.stdout.readline()
            except BrokenPipeError:
                answer = ""
            if not answer:
                self.close()
                return {"score": 0.0, "diffs": ["the comparer has ended"], "text": f"{self.tool} has ended"}
            text = json.loads(answer)
            if not report.exists():
                return {"score": 0.0, "diffs": [text.strip()[-200:]], "text": text}
            return {**json.loads(report.read_text(encoding="utf-8")), "text": text}
