"""`make docs`: build the site, or say what is wrong with it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .blocks import Broken
from .site import build, stage

wish = argparse.ArgumentParser(description="Build the documentation site.")
wish.add_argument("--out", type=Path, default=Path("build/docs"))
wish.add_argument("--no-run", action="store_true", help="do not run the pages (quick; outputs and pictures are missing)")
given = wish.parse_args()
try:
    site = stage(given.out.resolve(), run=not given.no_run, say=print)
    build(site)
except Broken as trouble:
    sys.exit(str(trouble))
ran, drawn = sum(page.ran for page in site.ran.values()), sum(page.pictures for page in site.ran.values())
print(f"{len(site.pages)} pages, {ran} blocks run, {drawn} pictures: {site.built / 'index.html'}")
