"""From what is typed to a session: DATA and the options that say what a discreet.toml would say."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, final

from attrs import fields_dict, frozen

from discreet.address import is_address
from discreet.errors import Invalid
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.session.connect import connect
from discreet.session.project import FILE, find_project, ledger_of, open_project, read_project
from discreet.session.session import Session
from discreet.tables.unit import each_row

_SQLITE = b"SQLite format 3\x00"
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


@final
@frozen
class Declared:
    """What was said about a data file; None and empty where nothing was."""

    unit: str | None = None
    each_row: bool = False
    budget: str | None = None
    delta: str | None = None
    bounds: Sequence[str] = ()
    keys: Sequence[str] = ()
    contributions: str | None = None
    types: Sequence[str] = ()
    one_row_per_unit: bool = False
    adjacency: str | None = None
    data_version: str | None = None
    ledger: str | None = None
    witness: str | None = None
    engine: str | None = None


def open_data(data: str, said: Declared, analyst: str | None = None) -> Session:
    """Open a project, or a data file with what was said about it; the whole budget is read from the ledger if it is not said again."""
    if find_project(data) is not None:
        extra = [f"--{name.replace('_', '-')}" for name in fields_dict(Declared) if getattr(said, name)]
        if extra:
            raise Invalid(f"{', '.join(extra)}: with a discreet.toml this is said there")
        return open_project(data, analyst=analyst)
    data = data if "://" in data else _there(data, said)
    if (said.unit is None) != said.each_row:
        raise Invalid("say who is protected: --unit COLUMN, or --each-row")
    budget, delta = said.budget, said.delta
    if budget is None:
        terms = _terms(data, said)
        budget, delta = str(terms.epsilon), str(terms.delta) if delta is None else delta
    return connect(
        data,
        unit=each_row() if said.each_row else said.unit,
        epsilon=budget,
        delta=delta or "0",
        bounds={name: _range(text) for name, text in map(_named, said.bounds)},
        keys={name: _values(text) for name, text in map(_named, said.keys)},
        contributions=_limits(said.contributions),
        columns=dict(map(_named, said.types)),
        one_row_per_unit=said.one_row_per_unit,
        adjacency=said.adjacency or "add/remove",
        version=said.data_version or "1",
        ledger=said.ledger,
        witness=said.witness,
        engine=said.engine,
        analyst=analyst,
    )


def _there(data: str, said: Declared) -> str:
    """The data's path, if it could be data; a folder's is written in one way only, for its ledger is called after it."""
    place = Path(data).expanduser()
    if place.is_dir():
        if said == Declared() or not any(place.rglob("*.parquet")):
            choices = "write one with `discreet init FILE…`, name a data file, or say who is protected in the folder's Parquet files"
            raise Invalid(f"there is no {FILE} in the folder {data}: {choices}")
        return os.path.abspath(place)  # as connect() would name it: links are not followed
    if not place.exists() and not glob.has_magic(place.name):
        raise Invalid(f"there is no file {data}: name a Parquet or CSV file, or a {FILE}")
    return data


def _terms(data: str, said: Declared) -> Any:
    place = said.ledger or f"{data}.ledger"
    if not is_address(place) and not Path(place).exists():
        raise Invalid("say how much may ever be learnt about one unit: --budget 1.0, and --delta 1e-6 if groups are to be found")
    ledger = open_ledger(place, witness=said.witness)
    try:
        return ledger.terms
    finally:
        ledger.close()


def find_ledger(place: str, witness: str | None = None) -> Ledger:
    """The ledger of a project, of a data file, or the file itself."""
    if find_project(place) is not None:
        path, policy = read_project(place)
        ledger, found = ledger_of(policy, path)
        if ledger == ":memory:":
            raise Invalid(f"this project's ledger is in memory, so each process has its own: say in {FILE} where it lies, under [ledger]")
        if not is_address(ledger) and not Path(ledger).exists():
            open_project(place).close()  # begins it, as the first question would
        return open_ledger(ledger, witness=witness or found)
    if is_address(place):
        return open_ledger(place, witness=witness)
    beside = Path(f"{os.path.abspath(place) if Path(place).is_dir() else place}.ledger")
    if not is_ledger(Path(place)) and not beside.exists():
        raise Invalid(
            f"there is no ledger at {place} and none beside it, for nobody has said who is protected and how much may be learnt: write a "
            f"{FILE} with `discreet init`, or ask a first question with --unit and --budget"
        )
    return open_ledger(place if is_ledger(Path(place)) else beside, witness=witness)


def is_ledger(path: Path) -> bool:
    """Whether a file is a ledger, by how it begins."""
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


# ── reading what is typed ────────────────────────────────────────────────────────────────────────────────────────────


def _named(text: str) -> tuple[str, str]:
    """NAME=VALUE.

    >>> _named("cost=0:500")
    ('cost', '0:500')
    """
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise Invalid(f"write NAME=VALUE, not {text}")
    return name, value


def _range(text: str) -> tuple[Any, Any]:
    """Two ends.

    >>> _range("0:500"), _range("2020-01-01:2020-12-31"), _range("-1.5..2")
    ((Fraction(0, 1), Fraction(500, 1)), ('2020-01-01', '2020-12-31'), (Fraction(-3, 2), Fraction(2, 1)))
    """
    ends = text.split("..") if ".." in text else text.split(":")
    if len(ends) != 2:
        raise Invalid(f"write bounds as LOW:HIGH, such as cost=0:500, not {text}")
    return _value(ends[0]), _value(ends[1])


def _values(text: str) -> list[Any]:
    """Values with commas between; what is in double quotes is text whatever it looks like.

    >>> _values("er,ward"), _values("1,2"), _values('"1","a,b"')
    (['er', 'ward'], [Fraction(1, 1), Fraction(2, 1)], ['1', 'a,b'])
    """
    return [_value(part) for part in re.findall(r'"[^"]*"|[^,]+', text)]


def _value(text: str) -> Any:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    return Fraction(text) if _NUMBER.fullmatch(text) else text


def _limits(text: str | None) -> dict[str, int] | None:
    """rows=10, or groups=3,per_group=5."""
    if text is None:
        return None
    pairs = [_named(part) for part in text.split(",")]
    if not all(value.isdecimal() for _, value in pairs):
        raise Invalid("write contributions as rows=10, or as groups=3,per_group=5")
    return {name: int(value) for name, value in pairs}


def wished(texts: Sequence[str]) -> dict[str, float] | None:
    """COLUMN=HALFWIDTH, for release(error=…)."""
    pairs = dict(map(_named, texts))
    if not all(_NUMBER.fullmatch(value) for value in pairs.values()):
        raise Invalid("write wished errors as COLUMN=NUMBER, such as mean_cost=5")
    return {name: float(value) for name, value in pairs.items()} or None
