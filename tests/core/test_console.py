"""What is printed: one harmless line each, whatever the names hold and whatever becomes of the streams."""

from __future__ import annotations

import io
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from usdphys_ext.usdphys_addon.core.errors import OutputError
from usdphys_ext.usdphys_addon.system import console

CONTROL = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), "\u2028", "\u2029", "\u202e", "\u2066", "\ufeff"}


@given(st.text(st.characters(codec=None), max_size=30))
def test_no_name_commands_a_terminal_or_starts_a_line(name: str) -> None:
    shown = console.printable(name)
    assert not CONTROL.intersection(shown)
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("name", "shown"),
    [("Größe 名前 \U0001f600", "Größe 名前 \U0001f600"), ("\x1b[31m", "\\x1b[31m"), ("a\nb\tc", "a\\nb\\tc"),
     ("\u202eexe", "\\u202eexe"), ("\udcff", "\\xff"), ("\x9b", "\\x9b")],
)  # fmt: skip
def test_names_of_any_script_stay_readable(name: str, shown: str) -> None:
    assert console.printable(name) == shown


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "utf-16"])
def test_a_stream_of_any_encoding_takes_all_names(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    console.say("名前")
    assert raw.getvalue().decode(encoding) == ("名前\n" if encoding.startswith("utf") else "\\u540d\\u524d\n")


class Full(io.StringIO):
    """A stream on a full disk."""

    def flush(self) -> None:
        raise OSError(28, "No space left on device")

    def close(self) -> None: ...


def test_a_result_that_nobody_gets_is_an_error_and_a_warning_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    silenced: list[int] = []
    monkeypatch.setattr(console, "silence", silenced.append)
    monkeypatch.setattr(sys, "stdout", Full())
    monkeypatch.setattr(sys, "stderr", Full())
    with pytest.raises(OutputError, match="No space left on device"):
        console.say("result")
    console.warn("warning")
    assert silenced == [1, 2]


def test_a_closed_stream_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    console.say("result")


def test_what_blender_prints_of_a_failure_is_dropped_and_other_words_are_kept(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with console.printed_on_success():
        os.write(1, b"done \x1b[31m\n")
        os.write(2, b"with it\n")
    assert capfd.readouterr() == ("", "done \\x1b[31m\nwith it\n")
    with pytest.raises(RuntimeError), console.printed_on_success():
        os.write(2, b"Traceback\n")
        raise RuntimeError
    os.write(2, b"after\n")
    assert capfd.readouterr() == ("", "after\n")


def test_only_lines_about_finished_temporary_files_are_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    with console.without_scratch_names():
        os.write(1, b"USD export of '/tmp/.usdphys-a-1-2.usdc' took 3.2 ms\n")
        os.write(1, b'Info: Saved copy as ".usdphys-a-1-2.blend"\n')
        os.write(1, b"Error: no room for /tmp/.usdphys-a-1-2.usdc\n")
        os.write(2, b"warning\n")
    assert capfd.readouterr() == ("Error: no room for /tmp/.usdphys-a-1-2.usdc\n", "warning\n")
    with pytest.raises(RuntimeError), console.without_scratch_names():
        os.write(1, b"reason\n")
        raise RuntimeError
    assert capfd.readouterr().out == "reason\n"
