"""The built manual, served to a headless Chromium that may ask nobody else."""

import functools
import http.server
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
#: Chromium as Debian and others call it; $CHROMIUM names another.
NAMES = ("chromium", "chromium-browser", "google-chrome")
#: Chromium asks for updates and more on its own; here it is to open pages and nothing else.
FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
)  # fmt: skip


def missing(what: str) -> None:
    """Skip on a developer's machine. With $CI set it fails: there nobody would notice what is left out."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} (and CI is set)", pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built pages: $SITE, or they are built from docs/ now."""
    if os.environ.get("SITE"):
        return Path(os.environ["SITE"]).resolve()
    python = ROOT / ".venv-docs" / "bin" / "python"
    if not python.exists():
        missing("there is no .venv-docs to build the manual with; `make docs` makes it")
    folder = tmp_path_factory.mktemp("site")
    command = [python, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the pages are served, with a slash at the end."""
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        missing("there is no Chromium to open the manual with: sudo apt-get install chromium")
    with sync_playwright() as playwright:
        try:
            opened = playwright.chromium.launch(
                executable_path=program, args=list(FLAGS), chromium_sandbox=False, timeout=120_000
            )
        except Error as error:
            pytest.fail(f"{program} does not start: {error}", pytrace=False)
        yield opened
        opened.close()
