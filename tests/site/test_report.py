"""The page of `usdphys report` as a reviewer opens it: in any window, without a network, a script or WebGL."""

import os
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from .conftest import missing

ROOT = Path(__file__).resolve().parents[2]
WINDOWS = {"laptop": (1280, 800), "phone": (390, 844)}
#: The solids with the overlays on them, as they are seen.
SHEET = """
  const canvas = document.getElementById('canvas'), sheet = document.createElement('canvas');
  sheet.width = canvas.width; sheet.height = canvas.height;
  const pen = sheet.getContext('2d');
  pen.drawImage(document.getElementById('solid'), 0, 0);
  pen.drawImage(canvas, 0, 0);
  const data = pen.getImageData(0, 0, sheet.width, sheet.height).data;
  let sum = 0;"""
#: Pixels that are not transparent.
DRAWN = f"""() => {{{SHEET}
  for (let i = 3; i < data.length; i += 4) if (data[i]) sum += 1;
  return sum;
}}"""
LIT = f"""() => {{{SHEET}
  for (let i = 0; i < data.length; i += 4) sum = (sum * 31 + data[i] + 3 * data[i + 1] + 7 * data[i + 2]) % 1000000007;
  return sum;
}}"""
#: A browser without WebGL.
NO_WEBGL = """const own = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  return kind.startsWith('webgl') ? null : own.call(this, kind, ...more);
};"""


def asset(bodies: int) -> str:
    """A hinged flap with a limit that its pose is outside of, and boxes that fall."""
    prims = [
        f'''def Cube "Box{number}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {{
      double size = 0.4
      double3 xformOp:translate = ({number % 10}, {number // 10}, {1 + 0.05 * number})
      uniform token[] xformOpOrder = ["xformOp:translate"]
    }}'''
        for number in range(bodies)
    ]  # fmt: skip
    return f"""#usda 1.0
(
  defaultPrim = "World"
  metersPerUnit = 1
  upAxis = "Z"
)
def Xform "World" {{
    def PhysicsScene "Scene" {{}}
    def PhysicsRevoluteJoint "Hinge" {{
        rel physics:body1 = </World/Box0>
        uniform token physics:axis = "Y"
        point3f physics:localPos0 = (0, 0, 1)
        float physics:lowerLimit = 10
        float physics:upperLimit = 60
    }}
    def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {{
      double size = 1
      double3 xformOp:translate = (0, 0, -0.5)
      float3 xformOp:scale = (100, 100, 1)
      uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    }}
    {chr(10).join(prims)}
}}
"""


def report(folder: Path, bodies: int, budget: str) -> Path:
    """The page of an asset."""
    source, target = folder / "asset.usda", folder / "asset.html"
    source.write_text(asset(bodies), encoding="utf-8")
    done = usdphys("report", source, "-o", target, "--budget", budget, "--seconds", "1")
    assert done.returncode == 0, done.stderr
    return target


def usdphys(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the program in the Python that has OpenUSD: $USD_PYTHON, or that of .venv-usd."""
    python = Path(os.environ.get("USD_PYTHON") or ROOT / ".venv-usd" / "bin" / "python")
    if not python.exists():
        missing("there is no .venv-usd to make a report with; `make env` makes it")
    command = [str(python), "-m", "usdphys_addon", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(tmp_path_factory.mktemp("small"), 3, "600")


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The experiments are cut short: the page is the same size."""
    return report(tmp_path_factory.mktemp("large"), 100, "20")


class Opened:
    """A page, with what it said in the console and asked of the network."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))


def opened(browser: Browser, file: Path, window: str = "laptop", **more: object) -> Opened:
    width, height = WINDOWS[window]
    found = Opened(browser.new_page(viewport={"width": width, "height": height}, **more))
    found.page.goto(file.as_uri())
    return found


def settle(page: Page) -> None:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_drawn_in_every_window_without_an_error_or_a_request(
    browser: Browser, small: Path, window: str, scheme: str
) -> None:
    found = opened(browser, small, window, color_scheme=scheme)
    settle(found.page)
    assert found.said == []
    assert [url for url in found.asked if not url.startswith(("file:", "data:"))] == []
    assert found.page.evaluate(DRAWN) > 2000
    wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert found.page.evaluate(wide) <= 0
    back = found.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") == (scheme == "light")
    found.page.close()


def test_what_is_wrong_stands_first_with_its_cause(browser: Browser, small: Path) -> None:
    found = opened(browser, small)
    row = found.page.locator("#verdicts tbody tr").first.inner_text()
    assert "wrong" in row
    assert "physics:lowerLimit" in row
    found.page.close()


def test_overlays_and_engines_are_switched_and_the_slider_moves_the_bodies(browser: Browser, small: Path) -> None:
    page = opened(browser, small).page
    settle(page)
    seen = {page.evaluate(LIT)}
    for name in ("colliders", "joints", "centers", "names"):
        page.locator(f"input[data-overlay={name}]").uncheck()
        settle(page)
        now = page.evaluate(LIT)
        assert now not in seen, name
        seen.add(now)
    assert page.evaluate(DRAWN) == 0
    for name in ("colliders", "joints", "centers", "names"):
        page.locator(f"input[data-overlay={name}]").check()
    page.locator("#time").fill("20")
    settle(page)
    assert page.evaluate(LIT) not in seen
    assert page.locator("#now").inner_text().startswith("0.67")
    mark = page.locator("svg .now").first
    assert mark.get_attribute("x1") != mark.get_attribute("data-left")
    page.close()


@pytest.mark.parametrize("window", WINDOWS)
def test_names_of_bodies_lie_within_the_picture_and_not_on_each_other(
    browser: Browser, small: Path, window: str
) -> None:
    page = opened(browser, small, window).page
    settle(page)
    wide = page.evaluate("() => document.getElementById('canvas').width")
    pixel = page.evaluate("() => window.devicePixelRatio")
    boxes = page.evaluate("() => JSON.parse(document.getElementById('canvas').dataset.names)")
    assert len(boxes) > 1
    for number, (x, y, width) in enumerate(boxes):
        assert x >= 0
        assert x + width <= wide
        for left, high, other in boxes[:number]:
            assert x + width <= left or left + other <= x or abs(y - high) >= 14 * pixel
    page.close()


def test_the_keyboard_turns_the_asset_and_plays_it(browser: Browser, small: Path) -> None:
    page = opened(browser, small).page
    settle(page)
    before = page.evaluate(LIT)
    page.locator("#canvas").focus()
    page.keyboard.press("ArrowLeft")
    settle(page)
    assert page.evaluate(LIT) != before
    page.keyboard.press(" ")
    page.wait_for_function("() => Number(document.getElementById('canvas').dataset.frame) > 2")
    assert page.locator("#play").inner_text() == "Pause"
    page.close()


def test_solids_are_drawn_with_webgl_and_without_it_on_a_plain_canvas(browser: Browser, small: Path) -> None:
    drawn = {}
    for script in ("0", NO_WEBGL):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script(script)
        page.goto(small.as_uri())
        settle(page)
        drawn[page.locator("#canvas").get_attribute("data-renderer")] = page.evaluate(DRAWN)
        page.close()
    # The wide floor has corners behind the view: without WebGL it is left out.
    assert 2000 < drawn["canvas"] < drawn["webgl"]


def test_without_a_script_the_picture_the_tables_and_the_plots_are_there(browser: Browser, small: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(small.as_uri())
    assert page.locator("svg.still polygon").count() > 10
    assert page.locator("svg.still").bounding_box()["width"] > 300
    assert page.locator("#issues :is(tr, p)").count() > 0
    for name in ("verdicts", "masses", "joints"):
        assert page.locator(f"#{name} tbody tr").count() > 0, name
    assert page.locator("#plots svg polyline").count() > 0
    context.close()


def test_checks_that_passed_are_folded_and_open_without_a_script(browser: Browser, small: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(small.as_uri())
    fold = page.locator("#verdicts details").last
    assert not fold.locator("table").is_visible()
    fold.locator("summary").click()
    assert fold.locator("table").is_visible()
    assert "Nothing starts inside another body" in fold.inner_text()
    context.close()


@pytest.mark.parametrize("window", WINDOWS)
def test_an_index_lists_the_reports_of_a_folder_and_leads_to_them(
    browser: Browser, small: Path, large: Path, tmp_path: Path, window: str
) -> None:
    (tmp_path / "small.html").write_text(small.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "lärge #2.html").write_text(large.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "other.html").write_text("<p>No report.</p>", encoding="utf-8")
    done = usdphys("report", "--index", tmp_path)
    assert done.returncode == 1, done.stderr  # both have the limit that the pose is outside of
    found = opened(browser, tmp_path / "index.html", window)
    page = found.page
    assert page.locator("tbody tr").count() == 2
    assert page.locator("tbody svg.still polygon").count() > 20
    assert "physics:lowerLimit" in page.locator("tbody").inner_text()
    wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
    for number in range(2):
        page.locator("tbody tr").nth(number).get_by_role("link").last.click()
        page.wait_for_selector("#verdicts")
        page.go_back()
    assert found.said == []
    assert [url for url in found.asked if not url.startswith(("file:", "data:"))] == []
    page.close()


def test_a_hundred_bodies_are_drawn_and_the_file_stays_small(browser: Browser, large: Path) -> None:
    assert large.stat().st_size < 5_000_000
    found = opened(browser, large)
    settle(found.page)
    assert found.said == []
    assert int(found.page.locator("#canvas").get_attribute("data-faces")) >= 1200
    timing = "() => performance.getEntriesByType('navigation')[0].loadEventEnd"
    print("loaded after", found.page.evaluate(timing), "ms")
    found.page.close()
