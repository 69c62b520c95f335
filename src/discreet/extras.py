"""Libraries that not everybody installs: which extra brings each, said before anything is opened or paid."""

from __future__ import annotations

import importlib.util

from discreet.errors import Invalid

_EXTRAS = {"pandas": "pandas", "polars": "polars", "pyarrow": "arrow", "matplotlib": "plots", "psycopg": "postgres", "pyspark": "spark"}


def require(library: str, extra: str | None = None) -> None:
    """Raise Invalid unless a library is installed; with `extra`, name that one, for several bring it.

    >>> require("numpy_of_nobody", "arrow")
    Traceback (most recent call last):
    discreet.errors.Invalid: numpy_of_nobody is not installed: pip install 'discreet[arrow]'
    """
    try:
        found = importlib.util.find_spec(library)
    except (ImportError, ValueError):  # something else hides it
        found = None
    if found is None:
        raise missing(library, extra)


def missing(library: str, extra: str | None = None) -> Invalid:
    """The error that says how to install a library."""
    return Invalid(f"{library} is not installed: pip install 'discreet[{extra or _EXTRAS[library]}]'")
