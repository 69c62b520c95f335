"""Where files are to go: looked at before anything is paid, so that no answer is paid for and then lost."""

from __future__ import annotations

import os
from pathlib import Path

from discreet.errors import Invalid
from discreet.extras import require
from discreet.plots.table import FORMATS


def require_writable(option: str, file: str | None) -> None:
    """Raise Invalid unless a file can be written there; None is no file."""
    if file is None:
        return
    place = Path(file)
    if place.is_dir():
        raise Invalid(f"{option}: {file} is a folder; name a file in it")
    if not place.parent.is_dir():
        raise Invalid(f"{option}: there is no folder {place.parent}; make it first. Nothing was paid")
    if not os.access(place if place.exists() else place.parent, os.W_OK):
        raise Invalid(f"{option}: {file} may not be written to; choose another place. Nothing was paid")


def require_drawable(file: str) -> None:
    """Raise Invalid unless a plot of this name can be drawn."""
    if not file.lower().endswith(FORMATS):
        raise Invalid(f"--plot: a plot is written as {', '.join(FORMATS)}; end the file's name so. Nothing was paid")
    require("matplotlib")


def write(file: str, text: str) -> None:
    """Write a file."""
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError:
        raise Invalid(f"{file} cannot be written: check that its folder is there and may be written to") from None
