"""Each page of the manual as readers see it: nothing is wider than the window, broken or fetched from elsewhere."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
HOOKS = importlib.util.module_from_spec(
    spec := importlib.util.spec_from_file_location("site_hooks", ROOT / "scripts" / "site_hooks.py")
)
spec.loader.exec_module(HOOKS)
SOURCES = [path.relative_to(ROOT / "docs") for path in ROOT.glob("docs/**/*.md")]
PAGES = sorted(path.with_suffix(".html").as_posix() for path in (*SOURCES, *map(Path, HOOKS.BESIDE.values())))
#: Width and height of a laptop's window and of a phone, in pixels.
WINDOWS = {"laptop": (1280, 800), "phone": (390, 844)}

#: What sticks out to the right of the column or of the window. Tables wrap; long lines of code scroll on their own.
WIDE = """() => {
  const wide = [], limit = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > limit) wide.push(`page: ${document.documentElement.scrollWidth} px`);
  const name = (node) => `${node.tagName.toLowerCase()} '${node.textContent.trim().slice(0, 40)}'`;
  const column = document.querySelector('.md-content').getBoundingClientRect();
  for (const node of document.querySelectorAll('.md-content :is(table, td, th, p, li, h1, h2, h3, h4, img, pre)')) {
    const box = node.getBoundingClientRect();
    if (box.width && box.right > Math.min(column.right, limit) + 1) wide.push(`${name(node)}: to ${box.right} px`);
    if (node.tagName != 'TABLE') continue;
    if (node.scrollWidth > node.clientWidth + 1) wide.push(`${name(node)}: inside ${node.scrollWidth} px`);
    if (getComputedStyle(node).overflowX != 'visible') wide.push(`${name(node)}: scrolls`);
  }
  for (const code of document.querySelectorAll('.md-content pre code')) {
    const scrolls = ['auto', 'scroll'].includes(getComputedStyle(code).overflowX);
    if (code.scrollWidth > code.clientWidth + 1 && !scrolls) wide.push(`${name(code)}: cut off`);
  }
  return wide;
}"""
#: Short words that are cut in two, which a cell does that is too narrow for its words.
CUT = """() => {
  const cut = [], walker = document.createTreeWalker(document.querySelector('.md-content'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.closest('table')) continue;
    for (const found of node.data.matchAll(/[\\p{L}\\p{N}.,%]{2,12}/gu)) {
      const range = document.createRange();
      range.setStart(node, found.index);
      range.setEnd(node, found.index + found[0].length);
      if (new Set([...range.getClientRects()].map((box) => Math.round(box.top / 4))).size > 1) cut.push(found[0]);
    }
  }
  return cut;
}"""
#: Text that is too small to read.
SMALL = """() => [...document.querySelectorAll('.md-content :is(td, th, p, li)')]
  .filter((node) => node.textContent.trim() && parseFloat(getComputedStyle(node).fontSize) < 12)
  .map((node) => node.textContent.trim().slice(0, 40))"""
BROKEN = """() => [...document.images].filter((image) => !image.complete || !image.naturalWidth)
  .map((image) => image.getAttribute('src'))"""
#: Pictures that the page makes smaller than they are: letters in them cannot be read.
SHRUNK = """() => [...document.querySelectorAll('.md-content img')]
  .filter((image) => image.naturalWidth > image.clientWidth + 1)
  .map((image) => `${image.getAttribute('src')}: ${image.naturalWidth} px shown as ${image.clientWidth}`)"""
LINKS = "() => [...document.querySelectorAll('a[href]')].map((link) => link.href)"
NAMES = "() => [...document.querySelectorAll('[id], [name]')].flatMap((node) => [node.id, node.getAttribute('name')])"


class Watched:
    """A tab that keeps what went wrong in it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.faults: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("response", self._response)
        page.on("request", self._request)

    def _console(self, message) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text}")

    def _response(self, response) -> None:
        if response.status >= 400:
            self.faults.append(f"{response.status}: {response.url}")

    def _request(self, request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.faults.append(f"asks another server: {request.url}")

    def open(self, name: str) -> Page:
        self.page.goto(self.address + name, wait_until="load", timeout=120_000)
        # Pictures below the window are fetched now.
        self.page.evaluate("() => Promise.all([...document.images].map((image) => image.decode().catch(() => 0)))")
        return self.page


@pytest.fixture(scope="session")
def tabs(browser: Browser, address: str) -> Iterator[dict[str, Watched]]:
    contexts = {
        name: browser.new_context(viewport={"width": width, "height": height})
        for name, (width, height) in WINDOWS.items()
    }
    # A page that asks another server fails here, with a network and without one.
    for context in contexts.values():
        context.route(re.compile(f"^(?!{re.escape(address)}|data:|blob:)"), lambda route: route.abort())
    yield {name: Watched(context.new_page(), address) for name, context in contexts.items()}
    for context in contexts.values():
        context.close()


@pytest.mark.slow
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_the_window_and_nothing_goes_wrong(tabs, name, window):
    tab = tabs[window]
    tab.faults.clear()
    page = tab.open(name)
    assert page.evaluate(WIDE) == []
    assert page.evaluate(BROKEN) == []
    assert page.evaluate(SMALL) == []
    assert page.evaluate(CUT) == []
    assert tab.faults == []
    if window == "laptop":
        assert page.evaluate(SHRUNK) == []


def test_every_link_leads_to_a_page_and_a_heading(tabs):
    """Links within the manual; those to other servers are none of this test's business."""
    tab = tabs["laptop"]
    links, names = {}, {}
    for name in PAGES:
        page = tab.open(name)
        links[name], names[name] = page.evaluate(LINKS), set(page.evaluate(NAMES))
    lost = []
    for name, targets in links.items():
        for target in targets:
            if not target.startswith(tab.address):
                continue
            parts = urlparse(target)
            path = unquote(parts.path.lstrip("/")) or "index.html"
            is_page = path.endswith(".html")
            if is_page and (path not in names or (parts.fragment and unquote(parts.fragment) not in names[path])):
                lost.append((name, target))
    assert sum(map(len, links.values())) > 100
    assert lost == []


def test_dark_and_light_follow_the_system(browser, address):
    colors = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto(address + "index.html")
        colors[scheme] = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        context.close()
    light, dark = (sum(map(int, re.findall(r"\d+", colors[scheme])[:3])) for scheme in ("light", "dark"))
    assert light > 600 and dark < 200, colors


@pytest.mark.parametrize("is_served", [True, False], ids=["served", "from-disk"])
def test_search_finds_a_page(browser, address, site, is_served):
    """Also where somebody opens build/site/index.html, for which browsers start no worker."""
    context = browser.new_context()
    page = context.new_page()
    page.goto((address if is_served else f"{site.as_uri()}/") + "index.html")
    page.locator("input.md-search__input").first.click()
    page.keyboard.type("scissor lift")
    # The words of a search are in its links; results of the first letters come before.
    hit = page.locator(".md-search-result__link[href*='lift']").first
    hit.wait_for(timeout=120_000)
    found = hit.get_attribute("href")
    context.close()
    assert "generators.html" in found


def test_films_stand_still_for_those_who_want_that(browser, address):
    """`prefers-reduced-motion` gets the still pictures."""
    shown = {}
    for motion in ("no-preference", "reduce"):
        context = browser.new_context(reduced_motion=motion)
        page = context.new_page()
        page.goto(address + "index.html", wait_until="load")
        shown[motion] = page.evaluate("() => [...document.querySelectorAll('picture img')].map((i) => i.currentSrc)")
        context.close()
    assert shown["no-preference"] and all("/films/" in one for one in shown["no-preference"])
    assert shown["reduce"] and all("/stills/" in one for one in shown["reduce"])


def test_no_file_names_a_server_for_scripts_styles_fonts_or_pictures(site: Path):
    """As text, too: a page that is opened differently, or later, would ask then."""
    outside = re.compile(
        r"""<(?:script|img|source|video|iframe|link)\b[^>]*\b(?:src|srcset|href)=["']?(?:https?:)?//[^"'\s>]+"""
        r"""|@import\s+(?:url\()?["']?(?:https?:)?//\S+|url\(["']?(?:https?:)?//[^)]+\)"""
    )
    found = {}
    for path in site.rglob("*"):
        if path.suffix in (".html", ".css"):
            hits = outside.findall(path.read_text(encoding="utf-8"))
            if hits:
                found[path.relative_to(site).as_posix()] = hits
    assert found == {}
