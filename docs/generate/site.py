"""The whole site: what is written, what is run and what is generated, in one tree; built with warnings as errors."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import blocks, links, markup, reference
from .blocks import Broken, Page

HERE = Path(__file__).parent
DOCS = HERE.parent
RUN = ("tutorials", "book")  # folders whose pages show what their blocks print and draw
SECTIONS = {  # folders in the order of the navigation; the links of a folder's index.md are the order of its pages
    "tutorials": "Tutorials",
    "how-to": "How-to",
    "serving": "Serving",
    "book": "Book",
    "reference": "Reference",
    "contributing": "Contributing",
    "decisions": "Decisions",
}
ELSEWHERE = {  # pages of the site that are kept elsewhere in the repository
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/RESULTS.md": "results.md",
    "ARCHITECTURE.md": "contributing/architecture.md",
    "CONTRIBUTING.md": "contributing/rules.md",
}


@dataclass
class Site:
    """A staged site: its pages by their place in it, and the pages that were run."""

    folder: Path
    pages: dict[str, str]
    ran: dict[str, Page]
    navigation: list[object]

    @property
    def source(self) -> Path:
        return self.folder / "source"

    @property
    def built(self) -> Path:
        return self.folder / "site"


def origins(docs: Path = DOCS) -> dict[str, Path]:
    """Where each written page of the site comes from."""
    found = {path.relative_to(docs).as_posix(): path for path in sorted(docs.rglob("*.md")) if HERE not in path.parents}
    return found | {place: docs.parent / name for name, place in ELSEWHERE.items() if (docs.parent / name).exists()}


def stage(out: Path, docs: Path = DOCS, run: bool = True, say: Callable[[str], object] = lambda _: None) -> Site:
    """Write everything that the site generator reads: pages run and rewritten, the reference, the navigation."""
    shutil.rmtree(out, ignore_errors=True)
    source = out / "source"
    written = origins(docs)
    pages: dict[str, str] = {}
    ran: dict[str, Page] = {}
    generated = {f"reference/{name}": text for name, text in reference.pages().items()} if docs == DOCS else {}
    pictures = {path.relative_to(docs).as_posix(): path for path in sorted(docs.rglob("*.png"))}
    places = links.Places(
        {origin.resolve(): place for place, origin in (written | pictures).items()}, {docs / place for place in generated}, docs
    )
    for place, origin in written.items():
        page = blocks.read(origin)
        folder = place.split("/")[0] if "/" in place else ""
        if run and folder in RUN:
            say(f"  {place}")
            ran[place] = blocks.run(page)
        text = markup.rewrite(page, source / folder / "pictures", "pictures")
        text = markup.formulas(text, indices=folder == "book")
        if place == "theorems.md":  # docstrings, which read better as what they are
            text = blocks.FENCE.sub(lambda found: reference.docstring(found[3]), text)
        pages[place] = markup.change_links(text, lambda link, at=place, of=origin: places.moved(link, at, of))
    for place, text in (pages | generated).items():
        (source / place).parent.mkdir(parents=True, exist_ok=True)
        (source / place).write_text(text, encoding="utf-8")
    for place, path in pictures.items():
        shutil.copy(path, source / place)
    site = Site(out, pages | generated, ran, navigation(pages | generated))
    shutil.copy(HERE / "site.css", source / "site.css")
    settings = (HERE / "zensical.toml").read_text(encoding="utf-8")
    (out / "zensical.toml").write_text(settings.replace('nav = "generated"', f"nav = {_toml(site.navigation)}"), encoding="utf-8")
    return site


def navigation(pages: dict[str, str]) -> list[object]:
    """The tree of pages: in each folder as its index.md links to them, in its words and below its headings."""
    tree: list[object] = [{"discreet": _section("", pages)}]
    tree += [{title: _section(folder, pages)} for folder, title in SECTIONS.items() if f"{folder}/index.md" in pages]
    missing = sorted(set(pages) - set(listed(tree)))
    if missing:
        raise Broken(f"{missing[0]}: no index.md leads to this page")
    return tree


def listed(tree: object) -> list[str]:
    """All pages of a navigation, in order."""
    match tree:
        case str():
            return [tree]
        case dict():
            return [place for below in tree.values() for place in listed(below)]
        case list():
            return [place for below in tree for place in listed(below)]
    raise TypeError(tree)


def _section(folder: str, pages: dict[str, str]) -> list[object]:
    prefix = f"{folder}/" if folder else ""
    out: list[object] = [f"{prefix}index.md"]
    seen = {f"{prefix}index.md"}
    into = out
    for line in pages[f"{prefix}index.md"].splitlines():
        if line.startswith("### "):
            into = []
            out.append({line[4:].strip(): into})
        elif line.startswith("## "):
            into = out
        for words, target in re.findall(r"\[([^\[\]]+)\]\(([\w.-]+\.md)(?:#[^)]*)?\)", line):
            if prefix + target not in seen:
                seen.add(prefix + target)
                into.append({words.replace("`", ""): prefix + target})
    kept = {place for place in ELSEWHERE.values() if place in pages and Path(place).parent.as_posix() == (folder or ".")}
    out += sorted(kept - seen)  # no index of ours needs to know whether they exist
    return [part for part in out if not (isinstance(part, dict) and not any(part.values()))]


def _toml(tree: object) -> str:
    match tree:
        case str():
            return f'"{tree}"'
        case list():
            return "[" + ", ".join(_toml(part) for part in tree) + "]"
        case dict():
            return "{" + ", ".join(f'"{title}" = {_toml(below)}' for title, below in tree.items()) + "}"
    raise TypeError(tree)


def build(site: Site) -> None:
    """Run the site generator over a staged site; a warning is an error, and so is a link that leads nowhere."""
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "--config-file", str(site.folder / "zensical.toml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"NO_COLOR": "1"})
    said = done.stdout + done.stderr
    if done.returncode or re.search(r"warning|error", said, re.I):
        raise Broken(re.sub(r"\x1b\[[\d;]*m", "", said))
    links.check(site.built)
