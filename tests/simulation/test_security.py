# SPDX-License-Identifier: GPL-3.0-or-later
"""What SECURITY.md promises: no network, packages that are checked and hold assets only."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon.core.errors import InputError

from .helpers import require_pxr

ROOT = Path(__file__).resolve().parents[2]
NETWORK = {
    "socket",
    "ssl",
    "urllib",
    "http",
    "ftplib",
    "smtplib",
    "requests",
    "httpx",
    "aiohttp",
    "xmlrpc",
    "webbrowser",
}
#: A module that is imported at the start of Python, and ends it where a socket is made.
NO_SOCKETS = """
import os, sys
def forbid(event, arguments):
    if event.startswith("socket.") or event == "urllib.Request":
        os.write(2, b"NETWORK " + event.encode())
        os._exit(97)
sys.addaudithook(forbid)
"""
STAGE = """#usda 1.0
(
    subLayers = [@http://127.0.0.1:9/sub.usda@]
)
def "World" (references = @https://127.0.0.1:9/asset.usda@</A>)
{
    def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        asset picture = @http://127.0.0.1:9/picture.png@
    }
}
"""


@pytest.fixture(autouse=True)
def _usd() -> None:
    require_pxr()


@pytest.mark.slow
def test_no_module_imports_what_opens_connections() -> None:
    files = [
        *ROOT.glob("*.py"),
        *(file for room in ("usdphys_addon", "operators", "panels") for file in (ROOT / room).rglob("*.py")),
    ]
    assert len(files) > 100
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                # `urllib.parse` takes names apart and opens nothing.
                names = {(node.module or "").partition(".")[0]} if node.module != "urllib.parse" else set()
            else:
                continue
            assert not names & NETWORK, f"{file.name}:{node.lineno}"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["validate", "inspect", "simulate"])
def test_no_connection_is_opened_for_a_file_that_names_addresses(command: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_SOCKETS)
    (file := tmp_path / "in.usda").write_text(STAGE)
    more = ["--seconds", "0.1", "--json", str(tmp_path / "poses.json")] if command == "simulate" else []
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    line = [sys.executable, "-m", "usdphys_addon", command, str(file), *more]
    found = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert found.returncode == 0 and "NETWORK" not in found.stderr, found.stderr
    strace = shutil.which("strace")
    if strace is not None:
        log = tmp_path / "calls.txt"
        line = [strace, "-f", "-qq", "-e", "trace=connect,bind,sendto", "-o", str(log), *line]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode == 0:  # some containers do not let a process be traced
            assert "AF_INET" not in log.read_text(), log.read_text()


def test_the_hook_of_this_test_sees_a_socket(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_SOCKETS)
    line = [sys.executable, "-c", "import socket; socket.socket()"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    assert subprocess.run(line, env=environment, capture_output=True, timeout=60, check=False).returncode == 97


# --------------------------------------------------------------------------- packages

CUBE = b'#usda 1.0\n(\n    defaultPrim = "A"\n)\ndef Cube "A"\n{\n}\n'


def package(path: Path, name: str = "more.png", compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as made:
        made.writestr("root.usda", CUBE)
        made.writestr(name, b"\x89PNG" + bytes(1000))
    return path


@pytest.mark.parametrize(
    ("name", "compression", "reason"),
    [("../evil.png", zipfile.ZIP_STORED, "outside of it"), ("/etc/evil.png", zipfile.ZIP_STORED, "outside of it"),
     ("a/../../evil.png", zipfile.ZIP_STORED, "outside of it"), ("C:/evil.png", zipfile.ZIP_STORED, "outside of it"),
     ("bomb.png", zipfile.ZIP_DEFLATED, "compressed or encrypted")],
)  # fmt: skip
def test_a_package_that_reaches_outside_or_swells_is_refused(tmp_path: Path, name, compression, reason) -> None:
    from usdphys_ext.usdphys_addon.usd import read as usd_read

    made = package(tmp_path / "in.usdz", name, compression)
    with pytest.raises(InputError, match=reason):
        usd_read.open_stage(made)
    (over := tmp_path / "over.usda").write_text(f'#usda 1.0\ndef "B" (references = @{made.name}@</A>)\n{{\n}}\n')
    if compression == zipfile.ZIP_STORED and "bomb" not in name:
        with pytest.raises(InputError, match=reason):
            usd_read.open_stage(over)


def test_a_package_that_claims_more_than_it_has_is_refused(tmp_path: Path) -> None:
    from usdphys_ext.usdphys_addon.usd.files import packages

    data = bytearray(package(tmp_path / "in.usdz").read_bytes())
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (2**31).to_bytes(4, "little")
    (tmp_path / "in.usdz").write_bytes(data)
    with pytest.raises(InputError, match="states a content of"):
        packages.check(tmp_path / "in.usdz")


def test_a_sound_package_is_read(tmp_path: Path) -> None:
    from usdphys_ext.usdphys_addon.usd import read as usd_read

    assert usd_read.open_stage(package(tmp_path / "in.usdz")).GetPrimAtPath("/A")


def test_files_that_are_no_assets_are_never_packed(tmp_path: Path) -> None:
    """An asset path of a stranger's file can name any file of the machine, under any name."""
    from pxr import UsdUtils
    from usdphys_ext.usdphys_addon.usd.files import packages

    (tmp_path / "secret").write_text("password")
    (tmp_path / "secret.png").write_text("password")
    (tmp_path / "image.png").write_bytes(b"\x89PNG" + bytes(100))
    (tmp_path / "in.usda").write_text(
        '#usda 1.0\ndef "A"\n{\n    asset a = @./secret@\n    asset b = @./secret.png@\n'
        "    asset c = @./image.png@\n}\n"
    )
    made = tmp_path / "out.usdz"
    assert UsdUtils.CreateNewUsdzPackage(str(tmp_path / "in.usda"), str(made))
    strangers = packages.take_out_strangers(made)
    assert [Path(name).name for name in strangers] == ["secret", "secret.png"]
    assert b"password" not in made.read_bytes()
    kept = packages.names_in(made)
    assert [Path(name).name for name in kept] == ["in.usda", "image.png"]
    packages.check(made)
    assert [issue.code for issue in packages.described(kept, strangers)] == ["FilesPacked", "FilesNotPacked"]
