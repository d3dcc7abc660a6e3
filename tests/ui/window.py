"""Runs a driver script in the windows of a real Blender, in the Debian tree that scripts/ui_tree.sh makes.

That Blender is built without USD; with `usd`, Blender as a Python module opens its window on the tree's screen instead.
Artefacts (screenshots, logs) go to build/ui.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RUNNER = ROOT / ".ui-tree" / "in"
ARTEFACTS = ROOT / "build" / "ui"
GEOMETRY = (1280, 800)
#: The Blender with USD whose window is opened: that of the version in the tree.
WITH_USD = ROOT / ".venvs" / "bpy-5.2.3" / "bin" / "python"
SECONDS = 900


def build_zip(folder: Path) -> Path:
    """The extension for this platform."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "build.py", "addon", "--out", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*-linux_x64.zip"))


def make_locales(folder: Path) -> None:
    """Let Blender know the languages of the add-on, which brings its words. The tree has none of Blender itself."""
    folder.mkdir(parents=True)
    languages = ["0:Automatic:DEFAULT", "1:English:en_US", "5:German:de_DE", "6:French:fr_FR", "2:Japanese:ja_JP"]
    languages.append("13:Simplified Chinese:zh_HANS")
    Path(folder, "languages").write_text("\n".join(languages) + "\n", encoding="utf-8")
    header = b"Content-Type: text/plain; charset=UTF-8\n"
    for name in ("de", "fr", "ja", "zh_HANS"):
        Path(folder, name, "LC_MESSAGES").mkdir(parents=True)
        # A catalogue of gettext with its header alone: magic, revision, one string, the tables, no hashes.
        words = (0x950412DE, 0, 1, 28, 36, 0, 44, 0, 44, len(header), 45)
        data = b"".join(word.to_bytes(4, "little") for word in words) + b"\0" + header + b"\0"
        Path(folder, name, "LC_MESSAGES", "blender.mo").write_bytes(data)


def run(
    driver: str, extension_zip: Path, files: tuple[Path, ...] = (), *, usd: bool = False, pictures: Iterable[str] = ()
) -> str:  # fmt: skip
    """What a driver prints. Raises AssertionError where it fails or anything prints a traceback.

    files: which it finds in /share, and folders. usd: in a Blender with USD. pictures: names DRIVER-SHOT of shots that
    the manual shows, drawn as users see them; the others are drawn plainly, in half the time.
    """
    width, height = GEOMETRY
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as share:
        shutil.copytree(HERE / "drivers", Path(share, "drivers"))
        shutil.copy(extension_zip, Path(share, "extension.zip"))
        for file in files:
            if file.is_dir():
                shutil.copytree(file, Path(share, file.name))
            else:
                shutil.copy(file, share)
        Path(share, "shots").mkdir()
        shown = [name.removeprefix(f"{driver}-") for name in pictures if name.startswith(f"{driver}-")]
        Path(share, "pictures").write_text("\n".join(shown), encoding="utf-8")
        make_locales(Path(share, "locale"))
        patience = ["timeout", "-k", "10", str(SECONDS)]
        screen = f"-screen 0 {width}x{height}x24 +extension GLX"
        if usd:
            done = _run_with_usd(
                driver, Path(share), [*patience, str(RUNNER), share, "Xvfb", *screen.split()], patience
            )
        else:
            command = [*patience, str(RUNNER), share, "xvfb-run", "-a", "-s", screen]
            command += ["blender", "--no-window-focus", "-p", "0", "0", str(width), str(height)]
            command += ["--enable-event-simulate", "--python-exit-code", "3", "--python", f"/share/drivers/{driver}.py"]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        for shot in Path(share, "shots").glob("*.png"):
            shutil.copy(shot, ARTEFACTS / f"{driver}-{shot.name}")
    log = done.stdout.decode(errors="replace")
    (ARTEFACTS / f"{driver}.log").write_text(log, encoding="utf-8")
    assert done.returncode == 0, f"status {done.returncode}\n{log[-6000:]}"
    assert "Traceback" not in log, log[-6000:]  # an exception in a timer or a draw callback does not end Blender
    return log


def _run_with_usd(
    driver: str, share: Path, screen: list[str], patience: list[str]
) -> "subprocess.CompletedProcess[bytes]":
    """The screen is in the tree; Blender, outside of it, reaches it by a socket that has no file."""
    server = subprocess.Popen(
        [*screen, "-ac", "-terminate", "-displayfd", "1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert server.stdout is not None
        display = f":{server.stdout.readline().decode().strip()}"
        tree = f"{RUNNER} {share} env DISPLAY={display}"
        told = {"DISPLAY": display, "UI_SHARE": str(share), "UI_IN_TREE": tree, "LIBGL_ALWAYS_SOFTWARE": "1"}
        told["BLENDER_USER_RESOURCES"] = str(share / "res")
        return subprocess.run(
            [*patience, str(WITH_USD), str(HERE / "bpy_window.py"), str(share / "drivers" / f"{driver}.py")],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, env=os.environ | told,
        )  # fmt: skip
    finally:
        # It ends with its last client, but not if there was none.
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.terminate()
            server.wait()
