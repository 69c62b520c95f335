"""The settings of a server: from a file, overridden by the environment, overridden by the command line."""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

from attrs import field, frozen

from discreet import parameter
from discreet.address import is_address
from discreet.engines.limits import EngineLimits
from discreet.errors import Error, Invalid, PolicyError
from discreet.server.answer_limits import AnswerLimits
from discreet.server.clock import Clock
from discreet.server.provider import BACK, Provider, read_provider
from discreet.session.project import FILE
from discreet.tables.problems import Problems

# settings that are numbers: their least value, and whether they are whole
_NUMBERS: dict[str, tuple[float, bool]] = {
    "port": (0, True),
    "pg_port": (1, True),
    "slot": (0.001, False),
    "longest_slot": (0.001, False),
    "rows": (1, False),
    "seats": (1, True),
    "most_waiting": (1, True),
    "wait": (0, False),
    "requests_a_minute": (1, True),
    "logins_a_minute": (1, True),
    "largest_body": (1000, True),
    "body_seconds": (0.001, False),
    "largest_answer": (1, True),
    "longest_statement": (0.001, False),
    "agent_question": (0, False),
    "agent_session": (0, False),
    "agent_confirm": (0, False),
}
_TEXTS = ("host", "url", "database", "memory")
_MEMORY = re.compile(r"[1-9][0-9]*(\.[0-9]+)? ?[KMGT]i?B")
_FILES = ("certificate", "key", "failures")
_LISTS = ("policies", "proxies", "pg_prices")
KNOWN = (*_LISTS, *_TEXTS, *_FILES, "slots", *_NUMBERS)
_PREFIX = "DISCREET_"


@final
@frozen
class Settings:
    """How a server runs. `policies` are its data sets by name; `database` is a path or a "postgresql://…" address."""

    policies: dict[str, Path]
    database: str
    address: str = "http://127.0.0.1:8000"  # as its users type it
    clock: Clock = field(factory=Clock)
    rows: float = 1e6  # of a table about which nothing is declared or profiled; slots are chosen by it
    seats: int = 32  # questions that are being answered at the same time
    most_waiting: int = 20  # questions of one account that may wait
    wait: float = 20.0  # seconds: answers that leave later are fetched as jobs
    requests_a_minute: int = 6000  # of one account
    logins_a_minute: int = 10  # wrong passwords from one address
    largest_body: int = 1_000_000  # bytes
    body_seconds: float = 20.0  # in which a body must arrive
    largest_answer: int = 1_000_000  # values, as far as they are declared
    memory: str | None = None  # that the engine of a data set may use
    longest_statement: float | None = None  # seconds that a statement of the engine may take
    agent_question: float = 0.5  # the most ε of one question through /mcp
    agent_session: float = 1.0  # the most ε of one account through /mcp in a day
    agent_confirm: float = 0.1  # a question through /mcp that costs more ε must be confirmed
    proxies: tuple[str, ...] = ()  # addresses of proxies whose X-Forwarded-For is believed
    failures: Path | None = None  # the owner's file that says why something failed
    pg_prices: Mapping[str, str] = field(factory=dict)  # the ε of an account's questions over PostgreSQL's protocol; "*" is all others
    folders: dict[str, Path] = field(factory=dict)  # without a policy: an owner sets them up in the console
    provider: Provider | None = None  # through which people log in, beside passwords

    @property
    def limits(self) -> AnswerLimits:
        """What an answer may have and use."""
        return AnswerLimits(self.largest_answer, EngineLimits(self.memory, self.longest_statement))

    @property
    def is_secure(self) -> bool:
        """Whether users reach it by HTTPS, so that cookies are never sent without."""
        return self.address.startswith("https://")


@final
@frozen
class Listening:
    """Where a server listens, and its TLS."""

    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    key: Path | None = None
    pg_port: int | None = None  # where PostgreSQL's clients are served, if they are

    @property
    def address(self) -> str:
        """Where it is reached if nothing stands before it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'http' if self.certificate is None else 'https'}://{host}:{self.port}"


def database_beside(policy: Path) -> str:
    """The default place of the server's database: beside the first policy."""
    return os.fspath(policy.with_suffix(".server"))


def read_settings(config: Path | None, given: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """All settings as plain values; PolicyError with all problems at once. Relative paths of a file start from its folder."""
    problems = Problems()
    found = {} if config is None else _of_file(config, environment, problems)
    has_provider, provider = "oidc" in found, found.pop("oidc", None)
    found |= _of_environment(environment, problems)
    found |= {name: value for name, value in given.items() if value not in (None, [])}
    checked = {name: kept for name, value in found.items() if (kept := _checked(name, value, problems)) is not None}
    if not checked.get("policies") and not any(one.startswith("policies") for one in problems.found):
        problems.add("policies", "is missing; name the discreet.toml of each data set, or a folder of data files to set one up")
    if ("certificate" in checked) != ("key" in checked):
        problems.add("key" if "certificate" in checked else "certificate", "is missing; TLS needs certificate and key")
    _require_safe(checked, problems)
    if has_provider and "url" not in checked:
        problems.add("url", "is missing; a login provider sends people back to it")
    problems.stop()
    return checked if provider is None else checked | {"oidc": provider}


def made(found: Mapping[str, Any], policies: dict[str, Path], folders: dict[str, Path] | None = None) -> tuple[Settings, Listening]:
    """The settings and where to listen; `policies` are the data sets by name, `folders` those that have no policy yet."""
    listening = Listening(**{name: found[name] for name in ("host", "port", "certificate", "key", "pg_port") if name in found})
    more = {name: found[name] for name in Settings.__annotations__ if name in found and name not in ("policies", "database", "pg_prices")}
    more |= {"pg_prices": dict(one.split("=", 1) for one in found.get("pg_prices", ())), "folders": folders or {}}
    clock = Clock(first=found.get("slot", 1.0), longest=found.get("longest_slot", 3600.0), off=not found.get("slots", True))
    first = next(iter([*policies.values(), *(one / FILE for one in (folders or {}).values())]))
    database = str(found.get("database", database_beside(first)))
    if "failures" not in more and not is_address(database):
        more["failures"] = Path(f"{database}.failures")
    address = str(found.get("url", listening.address)).rstrip("/")
    if "oidc" in found:
        more["provider"] = Provider(back=address + BACK, **found["oidc"])
    return Settings(policies, database, address, clock, **more), listening


def _of_file(config: Path, environment: Mapping[str, str], problems: Problems) -> dict[str, Any]:
    try:
        read = tomllib.loads(config.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise Invalid(f"{config} cannot be read: check that it exists, and that it is UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"{config} is not TOML: {error}") from None
    problems.known(read, "", ("server", "oidc"))
    found = problems.known(read.get("server", {}), "server", KNOWN)
    base = config.absolute().parent
    for name in ("policies", "database", *_FILES):
        if name in found:
            found[name] = [_from(base, one) for one in found[name]] if isinstance(found[name], list) else _from(base, found[name])
    if "oidc" in read:
        found["oidc"] = read_provider(read["oidc"], base, environment, problems)
    return found


def _from(base: Path, place: Any) -> Any:
    return os.fspath(base / Path(place).expanduser()) if isinstance(place, str) and place and not is_address(place) else place


def _of_environment(environment: Mapping[str, str], problems: Problems) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in KNOWN:
        text = environment.get(_PREFIX + name.upper())
        if not text:
            continue
        if name in _LISTS:
            found[name] = text.split(os.pathsep if name == "policies" else ",")
        elif name == "slots":
            found[name] = {"true": True, "false": False}.get(text.lower(), text)
        elif name in _NUMBERS:
            found[name] = _number(text)
        else:
            found[name] = text
    return found


def _number(text: str) -> Any:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text


def _checked(name: str, value: Any, problems: Problems) -> Any:
    """A value of the type that its setting has; None if it is not, which is recorded."""
    if name in _NUMBERS:
        least, whole = _NUMBERS[name]
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not least <= value < 1e18:
            problems.add(name, f"must be a {'whole ' if whole else ''}number of at least {least:g}")
            return None
        return value
    if name == "slots":
        if not isinstance(value, bool):
            problems.add(name, "must be true or false")
            return None
        return value
    if name in _LISTS:
        if not isinstance(value, list) or not all(isinstance(one, str | os.PathLike) and os.fspath(one) for one in value):
            problems.add(name, 'must be a list of texts, as in ["…"]')
            return None
        return tuple(map(os.fspath, value))
    if not isinstance(value, str | os.PathLike) or not os.fspath(value).strip():
        problems.add(name, "must be a non-empty text")
        return None
    return Path(value) if name in _FILES else os.fspath(value)


def _require_safe(found: Mapping[str, Any], problems: Problems) -> None:
    """Refuse what would send passwords and tokens in clear text across a network, or believe anybody's headers."""
    url, host = str(found.get("url", "")), str(found.get("host", "127.0.0.1"))
    if url and not url.startswith(("http://", "https://")):
        problems.add("url", 'begins with "https://", or with "http://" on this machine')
    if not _is_local(host) and "certificate" not in found and not url.startswith("https://"):
        problems.add("host", "is open to a network without TLS; give certificate and key, or the https url of the proxy before it")
    for proxy in found.get("proxies", ()):
        try:
            if ipaddress.ip_network(proxy).prefixlen == 0:
                problems.add("proxies", "would include everybody, who could then claim any address; name the machines")
        except ValueError:
            problems.add("proxies", "are addresses of machines, as in 10.0.0.7")
    if "memory" in found and not _MEMORY.fullmatch(found["memory"]):
        problems.add("memory", 'must be a size, as in "8GB"')
    for one in found.get("pg_prices", ()):
        account, _, epsilon = one.partition("=")
        if not account or not _is_price(epsilon):
            problems.add("pg_prices", 'are written as in ["ann=0.05", "*=0.1"], an account and its epsilon')
    for name in ("certificate", "key"):
        if name in found and not os.path.isfile(found[name]):
            problems.add(name, "there is no such file")


def _is_price(text: str) -> bool:
    try:
        parameter.price_epsilon(text)
    except Error:
        return False
    return True


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
