"""A stranger with a real Blender adds the extension repository, installs from it, and simulates."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import window

pytestmark = pytest.mark.slow

STEP = Path(__file__).with_name("from_repository.py")


@pytest.fixture
def blender(tmp_path):
    """Call with arguments of Blender; it has a user folder of its own, and /share is the folder of the test."""
    if not window.RUNNER.exists():
        pytest.skip("the tree with a real Blender is not there: run 'make ui'")

    def run(*arguments):
        patience = ["timeout", "-k", "10", str(window.SECONDS)]
        command = [*patience, str(window.RUNNER), str(tmp_path), "blender", "--online-mode", *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        log = done.stdout.decode(errors="replace")
        assert done.returncode == 0 and "Traceback" not in log, log[-6000:]
        return log

    return run


def test_the_package_from_the_repository_has_the_solver_and_simulates(extension_zip, script, blender, tmp_path):
    repository = tmp_path / "repository"
    repository.mkdir()
    for path in extension_zip.parent.glob("*.zip"):
        shutil.copy(path, repository)
    script("release").make_repository(repository)
    shutil.copy(STEP, tmp_path)
    blender("--command", "extension", "repo-remove", "blender_org")  # which is on the network
    url = "file:///share/repository/index.json"
    blender("--command", "extension", "repo-add", "--name", "Stranger", "--url", url, "stranger")
    blender("--command", "extension", "sync")
    blender("--command", "extension", "install", "usdphys_addon", "--enable")
    installed = tmp_path / "res" / "extensions" / "stranger" / "usdphys_addon"
    assert list((installed / "wheels").glob("*x86_64.whl"))
    log = blender("--background", "--python-exit-code", "3", "--python", f"/share/{STEP.name}")
    facts = json.loads(next(line for line in log.splitlines() if line.startswith("FACTS "))[6:])
    assert 10.0 - facts["height"] == pytest.approx(0.5 * 9.81 * facts["seconds"] ** 2, rel=0.03), facts
