"""Connection URIs of databases. They may contain a password, which is never stored or displayed."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, unquote

_SCHEMES = ("postgresql://", "postgres://")
# parameters of a URI that name the server and not the user: any other may be a secret
_PLAIN = ("host", "hostaddr", "port", "dbname", "sslmode", "sslrootcert", "target_session_attrs", "connect_timeout", "options", "ledger")


def is_address(place: object) -> bool:
    """Whether this is a PostgreSQL URI and not a path."""
    return isinstance(place, str) and place.startswith(_SCHEMES)


def without_credentials(address: str) -> str:
    """A URI without user and password, which can be stored; the credentials come from the environment or from ~/.pgpass.

    >>> without_credentials("postgresql://ana:s#cr?t@db.example:5432/clinic?sslmode=require&password=x")
    'postgresql://db.example:5432/clinic?sslmode=require'
    """
    scheme, _, hosts, path, query = _parts(address)
    kept = "&".join(f"{name}={quote(value, safe='')}" for name, value in query if name in _PLAIN)
    return f"{scheme}://{hosts}{path}" + (f"?{kept}" if kept else "")


def credentials(address: str) -> dict[str, str]:
    """The user and password of a URI, by the names of the environment variables that libpq reads.

    >>> credentials("postgresql://ana:s%40fe@db.example/clinic")
    {'PGUSER': 'ana', 'PGPASSWORD': 's@fe'}
    """
    _, login, _, _, query = _parts(address)
    user, colon, password = login.partition(":")
    found = {"PGUSER": unquote(user)} if user else {}
    found |= {"PGPASSWORD": unquote(password)} if colon else {}
    names = {"user": "PGUSER", "password": "PGPASSWORD"}
    return found | {names[name]: value for name, value in query if name in names}


def _parts(address: str) -> tuple[str, str, str, str, list[tuple[str, str]]]:
    """Scheme, login, hosts, path and parameters, split as libpq does: the login ends at the first @ before any / and may hold # and ?."""
    scheme, _, rest = address.partition("://")
    at, slash = rest.find("@"), rest.find("/")
    login, rest = (rest[:at], rest[at + 1 :]) if at >= 0 and (slash < 0 or at < slash) else ("", rest)
    place, _, query = rest.partition("?")
    hosts, slash_, path = place.partition("/")
    return scheme, login, hosts, slash_ + path, parse_qsl(query, keep_blank_values=True)
