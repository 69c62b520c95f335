"""Links: moved with their pages when a site is staged, and followed to their end when it is built."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from .blocks import Broken

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Places:
    """Where the files of the repository stand in the site."""

    places: dict[Path, str]
    generated: set[Path]
    docs: Path

    def moved(self, found: re.Match[str], place: str, origin: Path) -> str:
        """A link of a page, as it must read in the site. A link to what is in the repository and not in the site becomes its words."""
        mark, words, target = found[1], found[2], found[3]
        path, _, fragment = target.partition("#")
        if urlsplit(target).scheme or not path or path.startswith("pictures/"):
            return found[0]
        leads = (origin.parent / path).resolve()
        if leads in self.generated:
            to = leads.relative_to(self.docs).as_posix()
        elif leads in self.places or leads / "index.md" in self.places:
            to = self.places.get(leads) or self.places[leads / "index.md"]
        elif leads.exists() and not mark:
            return words
        else:
            raise Broken(f"{place}: nothing at {path}")
        near = Path(os.path.relpath(to, Path(place).parent)).as_posix()
        return f"{mark}[{words}]({near}{'#' + fragment if fragment else ''})"


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name == "id" or (name == "name" and tag == "a")):
                self.ids.add(value)
            elif value and name in ("href", "src"):
                self.targets.append(value)


def read(page: Path) -> tuple[set[str], list[str]]:
    """The anchors of a built page, and what it links to and shows."""
    reader = _Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader.ids, reader.targets


def check(built: Path) -> int:
    """Every link, picture and anchor of the built site leads to something in the site; how many there were."""
    pages = {page: read(page) for page in sorted(built.rglob("*.html")) if page.name != "404.html"}
    followed = 0
    for page, (_, targets) in pages.items():
        for target in targets:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https", "data", "mailto"):
                continue
            leads = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            leads = leads / "index.html" if leads.is_dir() else leads
            where = page.relative_to(built).as_posix()
            if not leads.exists():
                raise Broken(f"{where}: nothing at {target}")
            if parts.fragment and leads in pages and unquote(parts.fragment) not in pages[leads][0] | {"__comments"}:
                raise Broken(f"{where}: no anchor {target}")
            followed += 1
    return followed
