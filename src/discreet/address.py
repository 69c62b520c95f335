"""Addresses of databases, which may carry a password: it is never written down or shown."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, unquote

_SCHEMES = ("postgresql://", "postgres://")
# what of an address says where, and not who: anything else may be a secret
_PLAIN = ("host", "hostaddr", "port", "dbname", "sslmode", "sslrootcert", "target_session_attrs", "connect_timeout", "options", "ledger")


def is_address(place: object) -> bool:
    """Whether this is the address of a PostgreSQL database, and not a path."""
    return isinstance(place, str) and place.startswith(_SCHEMES)


def without_credentials(address: str) -> str:
    """An address without user and password, to be written down: these come from the environment or from ~/.pgpass.

    >>> without_credentials("postgresql://ana:s#cr?t@db.example:5432/clinic?sslmode=require&password=x")
    'postgresql://db.example:5432/clinic?sslmode=require'
    """
    scheme, _, hosts, path, query = _parts(address)
    kept = "&".join(f"{name}={quote(value, safe='')}" for name, value in query if name in _PLAIN)
    return f"{scheme}://{hosts}{path}" + (f"?{kept}" if kept else "")


def credentials(address: str) -> dict[str, str]:
    """The user and password of an address, by the names of the variables in which the database's client looks for them.

    >>> credentials("postgresql://ana:s%40fe@db.example/clinic")
    {'PGUSER': 'ana', 'PGPASSWORD': 's@fe'}
    """
    _, who, _, _, query = _parts(address)
    user, colon, password = who.partition(":")
    said = {"PGUSER": unquote(user)} if user else {}
    said |= {"PGPASSWORD": unquote(password)} if colon else {}
    names = {"user": "PGUSER", "password": "PGPASSWORD"}
    return said | {names[name]: value for name, value in query if name in names}


def _parts(address: str) -> tuple[str, str, str, str, list[tuple[str, str]]]:
    """Scheme, who, hosts, path and parameters, divided as libpq does: who ends at the first @ before any /, and may contain # and ?."""
    scheme, _, rest = address.partition("://")
    at, slash = rest.find("@"), rest.find("/")
    who, rest = (rest[:at], rest[at + 1 :]) if at >= 0 and (slash < 0 or at < slash) else ("", rest)
    place, _, query = rest.partition("?")
    hosts, slash_, path = place.partition("/")
    return scheme, who, hosts, slash_ + path, parse_qsl(query, keep_blank_values=True)
