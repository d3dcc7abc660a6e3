"""Window tests: see window.py."""

import sys
from functools import partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import window


@pytest.fixture(scope="session")
def extension_zip(tmp_path_factory) -> Path:
    return window.build_zip(tmp_path_factory.mktemp("dist"))


@pytest.fixture
def drive(extension_zip, script):
    """Call with the name of a file in drivers/, and options of `window.run`.

    Fails when the driver fails or anything printed a traceback.
    """
    if not window.RUNNER.exists():
        pytest.skip("the tree with a real Blender is not there: run 'make ui'")
    return partial(window.run, extension_zip=extension_zip, pictures=script("pictures").CUTS)
