"""The site: every page is in the navigation, every link and anchor leads somewhere, every public name has an entry."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from generate import blocks, links, reference, site

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def built(staged_docs: site.Site) -> Path:
    """The whole site, built once, with warnings as errors."""
    site.build(staged_docs)
    return staged_docs.built


def test_every_page_is_in_the_navigation_once(staged_docs: site.Site) -> None:
    places = site.listed(staged_docs.navigation)
    assert len(places) == len(set(places))
    assert set(places) == set(staged_docs.pages)
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert written <= set(places)


def test_every_link_leads_somewhere(built: Path) -> None:
    assert links.check(built) > 1000


def test_every_public_name_has_an_entry(built: Path) -> None:
    anchors = {anchor for page in (built / "reference").glob("*.html") for anchor in links.read(page)[0]}
    for module in reference.public_modules():
        assert {f"{module.__name__}.{name}" for name in reference.public_names(module)} <= anchors
    assert {"discreet.connect", "discreet.Session.sql"} <= anchors


def test_public_modules_are_those_of_the_package() -> None:
    names = {module.__name__ for module in reference.public_modules()}
    assert names >= {"discreet", "discreet.mechanisms", "discreet.loss", "discreet.algorithms", "discreet.errors"}
    assert all(module.__doc__ for module in reference.public_modules())


def test_every_entry_says_what_it_is() -> None:
    silent = [entry.anchor for found in reference.entries().values() for entry in found if not entry.summary]
    assert not silent


def test_nothing_is_fetched(built: Path) -> None:
    for page in built.rglob("*.html"):
        source = page.read_text(encoding="utf-8")
        assert not re.search(r'<(?:script|link|img)[^>]*(?:src|href)="(?:https?:)?//', source), page.name
    for style in built.rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?:", style.read_text(encoding="utf-8")), style.name


def test_marks_are_understood(built: Path) -> None:
    for page in built.rglob("*.html"):
        article = re.search(r"<article.*?</article>|\Z", page.read_text(encoding="utf-8"), re.S)
        assert article
        prose = re.sub(r"<(pre|code|svg|script).*?</\1>|<[^>]*>", "", article[0], flags=re.S)
        marks = [line for line in prose.splitlines() if re.search(r"\*\*|`|\^|\]\(|^!!!|markdown=", line)]
        assert not marks, page.name


def test_pages_turn_in_order(built: Path, staged_docs: site.Site) -> None:
    book = [place for place in site.listed(staged_docs.navigation) if place.startswith("book/")]
    for place, following in itertools.pairwise(book):
        source = (built / place).with_suffix(".html").read_text(encoding="utf-8")
        assert re.search(rf'href="[^"]*{Path(following).stem}\.html" class="[^"]*footer__link--next', source), place


# ── the builder notices ──────────────────────────────────────────────────────────────────────────────────────────────


def small_site(folder: Path, **pages: str) -> site.Site:
    docs = folder / "docs"
    docs.mkdir()
    for name, text in pages.items():
        (docs / f"{name}.md").write_text(text, encoding="utf-8")
    return site.stage(folder / "out", docs)


def test_a_page_that_nobody_links_to(tmp_path: Path) -> None:
    with pytest.raises(blocks.Broken, match=re.escape("lost.md: no index.md leads to this page")):
        small_site(tmp_path, index="# Home\n", lost="# Lost\n")


def test_an_anchor_that_is_not_there(tmp_path: Path) -> None:
    small = small_site(tmp_path, index="# Home\n[there](other.md#there)\n", other="# Other\n## Here\n")
    with pytest.raises(blocks.Broken, match="anchor does not exist"):
        site.build(small)


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ('<a href="nowhere.html">x</a>', "nothing at nowhere.html"),
        ('<img src="nowhere.svg">', "nothing at nowhere.svg"),
        ('<a href="#nowhere">x</a>', "no anchor #nowhere"),
    ],
)
def test_links_of_built_pages_are_followed(page: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(page, encoding="utf-8")
    with pytest.raises(blocks.Broken, match=re.escape(says)):
        links.check(tmp_path)


# ── what pages say ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("place", sorted(path.relative_to(DOCS).as_posix() for path in (DOCS / "tutorials").glob("*.md")))
def test_every_block_of_a_tutorial_is_run(place: str, staged_docs: site.Site) -> None:
    page = staged_docs.ran[place]
    assert all(block.language in {"python", "sql", "sh", "toml"} for block in page.blocks)
    assert [block.line for block in page.blocks if block.language in {"python", "sql"} and not block.ran] == [
        block.line for block in page.blocks if block.language in {"python", "sql"} and block.options.startswith("server")
    ]
    assert all(block.printed.strip() for block in page.blocks if block.language == "sql" and block.ran)
    assert not any(block.options.startswith("server") for block in page.blocks) or place == "tutorials/deploying.md"


@pytest.mark.parametrize("place", sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if "tutorials" not in path.parts))
def test_blocks_with_prompts_end_as_doctests_do(place: str) -> None:
    """A doctest file reads the closing fence as output, unless an empty line stands before it."""
    for block in blocks.read(DOCS / place).blocks:
        assert not block.prompts or block.text.endswith("\n\n"), f"{place}:{block.line}"


@pytest.mark.parametrize("folder", ["contributing", "decisions"])
def test_files_that_are_named_exist(folder: str) -> None:
    for page in (DOCS / folder).glob("*.md"):
        for named in re.findall(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.py)`", page.read_text(encoding="utf-8")):
            assert any((root / named).exists() for root in (ROOT, ROOT / "src" / "discreet", *_folders())), f"{page.name}: {named}"


def _folders() -> list[Path]:
    return [folder for folder in (ROOT / "src" / "discreet").rglob("*") if folder.is_dir() and folder.name != "__pycache__"]


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md", "SECURITY.md", "CHANGELOG.md"])
def test_links_of_the_front_pages(name: str) -> None:
    for _, _, target in links.LINK.findall((ROOT / name).read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("#"):
            assert (ROOT / target.split("#")[0]).exists(), f"{name}: nothing at {target}"
