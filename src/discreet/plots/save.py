"""Write figures to files."""

from __future__ import annotations

import os
import warnings

from matplotlib.figure import Figure

from discreet.errors import Invalid
from discreet.plots.table import FORMATS


def check_format(path: str | os.PathLike[str] | None) -> None:
    """Raise Invalid if the path's ending names no format that can be written; no path is fine."""
    if path is not None and not os.fspath(path).lower().endswith(FORMATS):
        raise Invalid(f"a plot is written as {', '.join(FORMATS)}: give a path with one of these endings")


def save_or_return(figure: Figure, path: str | os.PathLike[str] | None, dpi: int) -> Figure | None:
    """Write the figure to the path; without a path, return the figure."""
    if path is None:
        return figure
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about characters that a font does not have
        try:
            figure.savefig(os.fspath(path), dpi=dpi, facecolor="white")  # whatever the style of the session is
        except OSError:
            raise Invalid(f"{os.fspath(path)} cannot be written: check that its folder exists and is writable") from None
    return None
