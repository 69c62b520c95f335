"""The settings of one connection: those of `discreet.…` decide how questions are asked, all others exist because clients expect them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import final

from discreet import parameter
from discreet.errors import Invalid
from discreet.hints import suggest_and_list
from discreet.query.sql.tokens import DIALECTS
from discreet.server.postgres_wire.columns import Result, ResultColumn
from discreet.server.postgres_wire.sqlstates import (
    INVALID_VALUE,
    LIMIT_EXCEEDED,
    NO_TRANSACTION,
    NOT_PERMITTED,
    SYNTAX,
    UNCHANGEABLE,
    UNDEFINED_OBJECT,
    Failure,
)
from discreet.server.postgres_wire.types import TEXT, TYPES

VERSION = "15.0"
_MOST, _LONGEST = 200, 1000  # settings of one connection, and characters of a value
_CHOICES: dict[str, tuple[str, ...]] = {"discreet.mode": ("cached", "ask"), "discreet.intervals": ("on", "off")}
_OWN = ("discreet.epsilon", "discreet.delta", "discreet.mode", "discreet.intervals", "discreet.dialect")
_REPORTED = (
    *("server_version", "server_encoding", "client_encoding", "application_name", "is_superuser", "session_authorization"),
    *("DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings", "default_transaction_read_only"),
)
_FIXED = {"client_encoding": ("utf8", "utf-8", "unicode"), "standard_conforming_strings": ("on", "true", "1")}  # accepted, and left as is
_READ_ONLY = ("server_version", "server_version_num", "server_encoding", "is_superuser", "integer_datetimes", "session_authorization")
_DEFAULTS = {
    "server_version": VERSION,
    "server_version_num": "150000",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "application_name": "",
    "is_superuser": "off",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "default_transaction_read_only": "off",
    "transaction_read_only": "off",
    "transaction_isolation": "read committed",
    "default_transaction_isolation": "read committed",
    "search_path": '"$user", public',
    "max_identifier_length": "63",
    "extra_float_digits": "1",
    "lc_collate": "C",
    "lc_ctype": "C",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "bytea_output": "hex",
    "client_min_messages": "notice",
    "ssl": "off",
    "jit": "off",
    "discreet.epsilon": "",
    "discreet.delta": "",
    "discreet.mode": "cached",
    "discreet.intervals": "on",
    "discreet.dialect": "postgres",
}
# blanks are matched in one place only, else many of them take for ever
_ASSIGNED = re.compile(r"""^(?:SESSION\s+|(LOCAL)\s+)?([\w.]+|"[^"]+")(?:\s*=|\s+TO\s)(.*)$""", re.IGNORECASE | re.DOTALL)
_QUOTED = re.compile(r"[eE]?'((?:''|[^'])*)'")


@final
class Variables:
    """Settings by name. An unknown name of `discreet.…` is refused; whatever else a client sets is kept for SHOW."""

    def __init__(self, account: str, price: str | None = None) -> None:
        self._defaults = dict(_DEFAULTS) | {"session_authorization": account}
        if price is not None:
            self._defaults["discreet.epsilon"] = price
        self._values = dict(self._defaults)
        self._before: dict[str, str | None] = {}  # what SET LOCAL changed, until the transaction ends

    def __getitem__(self, name: str) -> str:
        return self._values[self._known(name)]

    def get(self, name: str) -> str | None:
        """The value of a setting, if it has one."""
        return self._values.get(self._known(name))

    @property
    def all(self) -> Mapping[str, str]:
        """Every setting."""
        return self._values

    @property
    def reported(self) -> dict[str, str]:
        """What a client is told when it has logged in."""
        return {name: self._values[name] for name in _REPORTED}

    @property
    def price(self) -> dict[str, str]:
        """The ε and δ that were set."""
        return {name: value for name in ("epsilon", "delta") if (value := self._values[f"discreet.{name}"])}

    def set(self, name: str, value: str, *, local: bool = False) -> dict[str, str]:
        """Change a setting, if `local` until the transaction ends; those of which the client must be told."""
        name = self._known(name)
        if len(value) > _LONGEST or (name not in self._values and len(self._values) >= _MOST):
            raise Failure(LIMIT_EXCEEDED, "there are too many settings, or one is too long", "leave some out")
        checked = self._checked(name, value)
        if local:
            self._before.setdefault(name, self._values.get(name))
        else:
            self._before.pop(name, None)
        self._values[name] = checked
        return {name: checked} if name in _REPORTED else {}

    def end_transaction(self) -> dict[str, str]:
        """Take back what SET LOCAL changed; those of which the client must be told."""
        before, self._before = self._before, {}
        for name, value in before.items():
            if value is None:
                self._values.pop(name, None)
            else:
                self._values[name] = value
        return {name: value for name, value in before.items() if name in _REPORTED and value is not None}

    def reset(self, name: str | None) -> dict[str, str]:
        """Set one setting back to its default, or all, and return what the client must be told of."""
        if name is None:
            self._values, self._before = dict(self._defaults), {}
            return self.reported
        name = self._known(name)
        self._before.pop(name, None)
        if name in self._defaults:
            self._values[name] = self._defaults[name]
        else:
            self._values.pop(name, None)
        return {name: self._values[name]} if name in _REPORTED else {}

    def set_at_startup(self, given: Mapping[str, str]) -> None:
        """Take over the settings that a client sends with its first message."""
        options = given.get("options", "")
        for name, value in re.findall(r"(?:-c\s*|--)([\w.]+)=((?:\\.|\S)*)", options):
            self.set(name, re.sub(r"\\(.)", r"\1", value))
        for name, value in given.items():
            if name not in ("user", "database", "options", "replication") and not name.startswith("_pq_."):
                self.set(name, value.strip("'") if value.startswith("'") else value)
        self._defaults = dict(self._values)  # RESET goes back to them

    def _known(self, name: str) -> str:
        plain = name.strip('"')
        found = next((known for known in self._values if known.lower() == plain.lower()), plain.lower())
        if found.startswith("discreet.") and found not in _OWN:
            raise Failure(UNDEFINED_OBJECT, f"there is no setting {found[:60]}", suggest_and_list(found, _OWN))
        return found

    def _checked(self, name: str, value: str) -> str:
        if name in _CHOICES:
            value = {"true": "on", "1": "on", "yes": "on", "false": "off", "0": "off", "no": "off"}.get(value.lower(), value.lower())
            if value not in _CHOICES[name]:
                raise Invalid(f"{name} is one of {', '.join(_CHOICES[name])}")
        if name == "discreet.dialect" and value not in DIALECTS:
            raise Invalid(f"{name} is one of {', '.join(DIALECTS)}")
        if name in ("discreet.epsilon", "discreet.delta") and value:
            (parameter.price_epsilon if name.endswith("epsilon") else parameter.price_delta)(value)
        if name in _FIXED:
            if value.lower() not in _FIXED[name]:
                raise Failure(INVALID_VALUE, f"{name} cannot be changed here", f"leave it at {self._defaults[name]}")
            return self._defaults[name]
        if name == "DateStyle":
            if "iso" not in value.lower():
                raise Failure(INVALID_VALUE, "dates are written as in 2026-11-15", "leave DateStyle at ISO")
            return self._defaults[name]
        if name in _READ_ONLY:
            raise Failure(UNCHANGEABLE, f"{name} cannot be changed")
        return value


def run_setting(variables: Variables, bare: str, transaction: bool = False) -> tuple[Result, dict[str, str]]:
    """Carry out SET, RESET, SHOW and the like, in a transaction or in none; and what the client must be told."""
    word, rest = [*bare.split(None, 1), "", ""][:2]
    word = word.upper()
    match word:
        case "SHOW":
            return _shown(variables, rest), {}
        case "RESET":
            return Result("RESET"), variables.reset(None if rest.upper() == "ALL" else rest)
        case "SET":
            return Result("SET"), _assigned(variables, rest, transaction)
        case "DISCARD":
            return Result("DISCARD ALL"), variables.reset(None)
    return Result(word), {}


def _assigned(variables: Variables, rest: str, transaction: bool) -> dict[str, str]:
    upper = rest.upper()
    if upper.startswith(("TRANSACTION ", "SESSION CHARACTERISTICS", "CONSTRAINTS ")):
        return {}
    if upper.startswith(("ROLE ", "SESSION AUTHORIZATION")):
        raise Failure(NOT_PERMITTED, "a connection belongs to the account that logged in", "log in as another one")
    for words, name in (("TIME ZONE ", "TimeZone"), ("NAMES ", "client_encoding")):
        if upper.startswith(words):
            rest = f"{name} = {rest[len(words) :]}"
    found = _ASSIGNED.match(rest)
    if found is None:
        raise Failure(SYNTAX, "this could not be read as SET", "write SET name = value")
    local, name, value = bool(found[1]), found[2], found[3].strip()
    if local and not transaction:
        if name.strip('"').lower().startswith("discreet."):
            raise Failure(NO_TRANSACTION, "SET LOCAL lasts until the end of a transaction, and there is none", "BEGIN first, or write SET")
        return {}  # as in PostgreSQL
    if value.upper() == "DEFAULT":
        return variables.reset(name)
    quoted = _QUOTED.fullmatch(value)
    return variables.set(name, quoted[1].replace("''", "'") if quoted else value.strip('"'), local=local)


def _shown(variables: Variables, name: str) -> Result:
    text = TYPES[TEXT]
    words = " ".join(name.upper().split())
    if words == "ALL":
        rows = [(one, value, "") for one, value in sorted(variables.all.items())]
        return Result("SHOW", tuple(ResultColumn(one, text) for one in ("name", "setting", "description")), rows)
    name = {"TRANSACTION ISOLATION LEVEL": "transaction_isolation", "TIME ZONE": "TimeZone", "SERVER_VERSION": "server_version"}.get(
        words, name
    )
    value = variables.get(name)
    if value is None:
        raise Failure(UNDEFINED_OBJECT, f'there is no setting "{name[:60]}"', "SHOW ALL lists them")
    return Result("SHOW", (ResultColumn(name.strip('"'), text),), [(value,)])
