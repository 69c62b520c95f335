"""Optional libraries: which extra installs each. They are checked before data is read or budget is spent."""

from __future__ import annotations

import importlib.util

from discreet.errors import Invalid

_EXTRAS = {
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "arrow",
    "matplotlib": "plots",
    "psycopg": "postgres",
    "pyspark": "spark",
    "fastapi": "server",
    "argon2": "server",
    "authlib": "oidc",
    "mcp": "mcp",
    "torch": "gpu",
}


def require(library: str, extra: str | None = None) -> None:
    """Raise Invalid unless a library is installed; `extra` is the one to name where several install it.

    >>> require("numpy_of_nobody", "arrow")
    Traceback (most recent call last):
    discreet.errors.Invalid: numpy_of_nobody is not installed: pip install 'discreet[arrow]'
    """
    try:
        found = importlib.util.find_spec(library)
    except (ImportError, ValueError):  # a module of the same name shadows it
        found = None
    if found is None:
        raise missing(library, extra)


def missing(library: str, extra: str | None = None) -> Invalid:
    """The error that says how to install a library."""
    return Invalid(f"{library} is not installed: pip install 'discreet[{extra or _EXTRAS[library]}]'")
