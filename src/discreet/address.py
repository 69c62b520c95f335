"""Addresses of databases, which may carry a password: it is never written down or shown."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

_SCHEMES = ("postgresql://", "postgres://")
_SECRET = ("user", "password", "passfile", "sslpassword")


def is_address(place: object) -> bool:
    """Whether this is the address of a PostgreSQL database, and not a path."""
    return isinstance(place, str) and place.startswith(_SCHEMES)


def without_credentials(address: str) -> str:
    """An address without user and password, to be written down: these come from the environment or from ~/.pgpass.

    >>> without_credentials("postgresql://ana:secret@db.example:5432/clinic?sslmode=require&password=x")
    'postgresql://db.example:5432/clinic?sslmode=require'
    """
    parts = urlsplit(address)
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name not in _SECRET]
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" + (f"?{urlencode(kept)}" if kept else "")


def credentials(address: str) -> dict[str, str]:
    """The user and password of an address, by the names of the variables in which the database's client looks for them.

    >>> credentials("postgresql://ana:s%40fe@db.example/clinic")
    {'PGUSER': 'ana', 'PGPASSWORD': 's@fe'}
    """
    parts = urlsplit(address)
    said = {"PGUSER": parts.username, "PGPASSWORD": parts.password}
    return {name: unquote(value) for name, value in said.items() if value is not None}
