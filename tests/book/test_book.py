"""The book does what it says: every block is run in order, every link leads somewhere, every page has what a page must have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from generate import blocks, site

BOOK = Path(__file__).parents[2] / "docs" / "book"
PAGES = sorted(path.stem for path in BOOK.glob("[0-9]*.md"))
FENCE = re.compile(r"^ {0,3}```([^\n`]*)\n(.*?)^ {0,3}```[ ]*$", re.M | re.S)
LANGUAGES = {"python", "text", "sh"}


def text(name: str) -> str:
    return (BOOK / f"{name}.md").read_text(encoding="utf-8")


def test_contents_list_all_pages_in_order(staged_docs: site.Site) -> None:
    book = next(part["Book"] for part in staged_docs.navigation if isinstance(part, dict) and "Book" in part)
    assert site.listed(book) == ["book/index.md", *(f"book/{name}.md" for name in PAGES)]


@pytest.mark.parametrize("name", ["index", *PAGES])
def test_every_block_is_run(name: str, staged_docs: site.Site) -> None:
    fences = FENCE.findall(text(name))
    assert text(name).count("```") == 2 * len(fences)  # the pattern sees every fence
    assert {language.strip() for language, _ in fences} <= LANGUAGES
    assert staged_docs.ran[f"book/{name}.md"].ran == sum(language == "python" for language, _ in fences)
    assert not [body for language, body in fences if language != "python" and ">>>" in body]
    for language, body in fences:
        assert all(len(line) <= 96 for line in body.splitlines()), "code is wider than a page"
        if language == "python" and ">>>" in body:  # a doctest file reads the closing fence as output without this
            assert body.endswith("\n\n")
            assert not [line for line in body.splitlines() if line.startswith("plt.")]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_what_a_page_must_have(name: str, staged_docs: site.Site) -> None:
    staged = (staged_docs.source / "book" / f"{name}.md").read_text(encoding="utf-8")
    assert "!!! theorem" in staged
    assert "!!! exercise" in staged
    assert staged_docs.ran[f"book/{name}.md"].pictures >= 1
    source = text(name)
    assert re.search(r"\*Proof", source) or "errata" in name
    after = source[source.index("> **Exercise") :]
    solution = after[after.index("<details><summary>Solution</summary>") : after.index("</details>")]
    assert ">>>" in solution  # worked and tested
    assert 60 <= len(source.splitlines()) <= (180 if "errata" in name else 150)


# ── the builder notices ──────────────────────────────────────────────────────────────────────────────────────────────


def small_book(folder: Path, page: str) -> Path:
    docs = folder / "docs"
    (docs / "book").mkdir(parents=True)
    (docs / "index.md").write_text("# Small\n", encoding="utf-8")
    (docs / "book" / "index.md").write_text("# Small\n\n### Part\n1. [One](01-one.md)\n", encoding="utf-8")
    (docs / "book" / "01-one.md").write_text(page, encoding="utf-8")
    return docs


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("# One\n```python\n>>> 1 + 1\n3\n\n```\n", "Expected"),
        ("# One\n```python\n1 / 0\n```\n", "01-one.md:2: ZeroDivisionError"),
        ("# One\nSee [this](02-two.md).\n", "nothing at 02-two.md"),
        ("# One\n![a picture](missing.png)\n", "nothing at missing.png"),
        ("No title\n", "no title"),
        ("# One\n```python\nx = 1\n```\n\n```python\n>>> y\n1\n\n```\n", "NameError"),
    ],
)
def test_a_broken_page_fails_the_build(page: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(blocks.Broken, match=re.escape(says)):
        site.stage(tmp_path / "out", small_book(tmp_path, page))


def test_a_missing_page_fails_the_build(tmp_path: Path) -> None:
    docs = small_book(tmp_path, "# One\n")
    (docs / "book" / "01-one.md").unlink()
    with pytest.raises(blocks.Broken, match=re.escape("nothing at 01-one.md")):
        site.stage(tmp_path / "out", docs)


def test_blocks_share_a_namespace_and_pictures_stand_below(tmp_path: Path) -> None:
    drawing = "import matplotlib.pyplot as plt\nplt.plot(x)\nprint('a < b')"
    page = f"# One\n```python\n>>> x = [1, 2]\n\n```\n\n```python\n{drawing}\n```\n\nend\n"
    small = site.stage(tmp_path / "out", small_book(tmp_path, page))
    one = small.ran["book/01-one.md"]
    site.build(small)
    source = (small.built / "book" / "01-one.html").read_text(encoding="utf-8")
    assert (one.ran, one.pictures) == (2, 1)
    assert source.index("plt") < source.index("a &lt; b") < source.index("01-one-1.svg") < source.index("<p>end")
