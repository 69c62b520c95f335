"""The book does what it says: every block is run in order, every link leads somewhere, every page has what a page must have."""

from __future__ import annotations

import importlib.util
import itertools
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

BOOK = Path(__file__).parents[2] / "docs" / "book"
PAGES = sorted(path.stem for path in BOOK.glob("[0-9]*.md"))
FENCE = re.compile(r"^ {0,3}```([^\n`]*)\n(.*?)^ {0,3}```[ ]*$", re.M | re.S)
LANGUAGES = {"python", "text", "sh"}


def _builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("book_build", BOOK / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["book_build"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


build = _builder()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, built once."""
    out = tmp_path_factory.mktemp("book")
    built.update({page.name: page for page in build.build(out)})
    return out


built: dict[str, object] = {}


def text(name: str) -> str:
    return (BOOK / f"{name}.md").read_text(encoding="utf-8")


def test_contents_list_all_pages_in_order() -> None:
    assert [name for _, names in build.contents(BOOK) for name in names] == PAGES


@pytest.mark.parametrize("name", ["index", *PAGES])
def test_every_block_is_run(name: str, site: Path) -> None:
    fences = FENCE.findall(text(name))
    assert text(name).count("```") == 2 * len(fences)  # the pattern sees every fence
    assert {language.strip() for language, _ in fences} <= LANGUAGES
    assert built[name].ran == sum(language == "python" for language, _ in fences)  # type: ignore[attr-defined]
    assert not [body for language, body in fences if language != "python" and ">>>" in body]
    for language, body in fences:
        assert all(len(line) <= 96 for line in body.splitlines()), "code is wider than a page"
        if language == "python" and ">>>" in body:  # a doctest file reads the closing fence as output without this
            assert body.endswith("\n\n")
            assert not [line for line in body.splitlines() if line.startswith("plt.")]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_what_a_page_must_have(name: str, site: Path) -> None:
    page = built[name]
    assert {"Theorem", "Exercise"} <= set(page.boxes)  # type: ignore[attr-defined]
    assert page.pictures >= 1  # type: ignore[attr-defined]
    source = text(name)
    assert re.search(r"\*Proof", source) or "errata" in name
    after = source[source.index("> **Exercise") :]
    solution = after[after.index("<details><summary>Solution</summary>") : after.index("</details>")]
    assert ">>>" in solution  # worked and tested
    assert 60 <= len(source.splitlines()) <= (180 if "errata" in name else 150)


def test_the_site_stands_alone(site: Path) -> None:
    css = (site / "book.css").read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in css
    assert "url(" not in css
    for page in site.glob("*.html"):
        source = page.read_text(encoding="utf-8")
        assert not re.search(r'(?:src|href)="(?:https?:)?//', source)
        assert "<script" not in source
        assert build.INK not in source
        prose = re.sub(r"<pre.*?</pre>|<code.*?</code>|<figure.*?</figure>", "", source, flags=re.S)
        assert not re.search(r"\*\*|`|\^", prose), page.name  # marks that were not understood
    assert len(list(site.glob("*.html"))) == len(PAGES) + 1


def test_pages_turn_in_order(site: Path) -> None:
    order = ["index", *PAGES]
    for name, following in itertools.pairwise(order):
        assert f'rel="next" href="{following}.html"' in (site / f"{name}.html").read_text(encoding="utf-8")
        assert f'rel="prev" href="{name}.html"' in (site / f"{following}.html").read_text(encoding="utf-8")


# ── the builder notices ──────────────────────────────────────────────────────────────────────────────────────────────


def small_book(folder: Path, page: str) -> Path:
    (folder / "index.md").write_text("# Small\n\n### Part\n1. [One](01-one.md)\n", encoding="utf-8")
    (folder / "01-one.md").write_text(page, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("# One\n```python\n>>> 1 + 1\n3\n\n```\n", "Expected"),
        ("# One\n```python\n1 / 0\n```\n", "01-one.md:2: ZeroDivisionError"),
        ("# One\nSee [this](02-two.md).\n", "nothing at 02-two.html"),
        ("# One\n![a picture](missing.png)\n", "nothing at missing.png"),
        ("No title\n", "no title"),
        ("# One\n```python\nx = 1\n```\n\n```python\n>>> y\n1\n\n```\n", "NameError"),
    ],
)
def test_a_broken_page_fails_the_build(page: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(build.Broken, match=re.escape(says)):
        build.build(tmp_path / "out", small_book(tmp_path, page))


def test_a_missing_page_fails_the_build(tmp_path: Path) -> None:
    small_book(tmp_path, "# One\n")
    (tmp_path / "01-one.md").unlink()
    with pytest.raises(build.Broken, match="there is no page 01-one"):
        build.build(tmp_path / "out", tmp_path)


def test_blocks_share_a_namespace_and_pictures_stand_below(tmp_path: Path) -> None:
    drawing = "import matplotlib.pyplot as plt\nplt.plot(x)\nprint('a < b')"
    page = f"# One\n```python\n>>> x = [1, 2]\n\n```\n\n```python\n{drawing}\n```\n\nend\n"
    _, one = build.build(tmp_path / "out", small_book(tmp_path, page))
    source = (tmp_path / "out" / "01-one.html").read_text(encoding="utf-8")
    assert (one.ran, one.pictures) == (2, 1)
    assert source.index("plt") < source.index("a &lt; b") < source.index("<svg") < source.index("<p>end")
