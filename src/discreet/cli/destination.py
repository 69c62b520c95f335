"""Files that are written: checked before anything is paid, so that no answer is paid for and then lost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Protocol, final

from attrs import frozen
from typer import Option

from discreet.errors import Invalid
from discreet.extras import require
from discreet.plots.table import FORMATS


class Paid(Protocol):
    """What was paid for and can be kept: a release or a synthetic table."""

    def save(self, path: str) -> None:
        """Write it with its receipt."""

    def plot(self, path: str) -> Any:
        """Draw it."""


@final
@frozen
class FileOptions:
    """The files that a result is kept in, besides what is printed."""

    plot: Annotated[str | None, Option(metavar="FILE", help="Draw the result: a .png, .svg or .pdf file.")] = None
    save: Annotated[str | None, Option(metavar="FILE", help="Save the result with its receipt, as JSON.")] = None

    def require(self) -> None:
        """Raise Invalid unless each file can be written; call it before paying."""
        require_writable("--save", self.save)
        require_writable("--plot", self.plot)
        if self.plot is not None:
            require_drawable(self.plot)

    def write(self, paid: Paid) -> None:
        """Write the files."""
        if self.save is not None:
            paid.save(self.save)
        if self.plot is not None:
            paid.plot(self.plot)


def require_writable(option: str, file: str | None) -> None:
    """Raise Invalid unless a file can be written there; None is no file."""
    if file is None:
        return
    place = Path(file)
    if place.is_dir():
        raise Invalid(f"{option}: {file} is a folder. Nothing was paid; name a file in it")
    if not place.parent.is_dir():
        raise Invalid(f"{option}: there is no folder {place.parent}. Nothing was paid; create the folder first")
    if not os.access(place if place.exists() else place.parent, os.W_OK):
        raise Invalid(f"{option}: {file} is not writable. Nothing was paid; name another file")


def require_drawable(file: str) -> None:
    """Raise Invalid unless a plot can be written to a file of this name."""
    if not file.lower().endswith(FORMATS):
        *most, last = FORMATS
        raise Invalid(f"--plot: {file} is not a {', '.join(most)} or {last} file. Nothing was paid; write for example --plot answer.png")
    require("matplotlib")


def write(file: str, text: str) -> None:
    """Write a text file."""
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError:
        raise Invalid(f"{file} cannot be written: check that its folder exists and is writable") from None
