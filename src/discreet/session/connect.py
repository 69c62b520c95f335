"""connect: open data for private questions."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping
from glob import has_magic
from pathlib import Path
from typing import Any

from discreet.address import is_address
from discreet.engines.choose import belongs_to, open_engine, tables_of
from discreet.engines.separated import with_delimiter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.hints import suggests_arguments
from discreet.loss.loss import Loss
from discreet.session.session import Session
from discreet.tables.policy import Policy
from discreet.tables.unit import Unit

MEMORY = ":memory:"
_WEB = ("https://", "http://")
_DEFAULTS = ("add/remove", "1")  # adjacency and version


@suggests_arguments("connect")
def connect(
    data: Any,
    *,
    unit: str | Unit | None = None,
    epsilon: Number | None = None,
    budget: Loss | None = None,
    delta: Number = 0,
    bounds: Mapping[str, Any] | None = None,
    keys: Mapping[str, Any] | None = None,
    contributions: Mapping[str, int] | None = None,
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    not_null: Collection[str] | None = (),
    public: Collection[str] | None = (),
    one_row_per_unit: bool = False,
    size: int | Mapping[str, int] | None = None,
    adjacency: str = "add/remove",
    version: str = "1",
    ledger: str | os.PathLike[str] | None = None,
    witness: str | os.PathLike[str] | None = None,
    engine: Any = None,
    analyst: str | None = None,
    token: str | None = None,
) -> Session:
    """Open data for private questions.

    `data`: a path to Parquet or CSV, a pandas, Polars or Arrow table, a DuckDB connection, a Spark session or DataFrame, the address of a
    PostgreSQL database ("postgresql://…"), or a dict from table names to any of these; a table of a database is written (address or
    connection, "schema.table"). The table of a path is named after the file, that of a data frame is named `data`. A path to a
    `discreet.toml`, or to a folder with one, takes everything but `engine` and `analyst` from that file. "https://host/name" is a
    data set of a server: the session has the same methods, and `token` (or the environment variable DISCREET_TOKEN) says who asks.

    `unit`: the column that identifies the protected person, or `each_row()`. `epsilon` and `delta` (or `budget`): the privacy budget of one
    unit, for all questions together. Bounds, keys and contributions that are not declared are discovered privately, within the budget of
    each question that needs them. `columns` gives the types of a CSV file's columns, which are text otherwise and never guessed, and of
    a data frame's, whatever their dtypes; a unit column of dtype object needs one. `delimiter` separates the fields of a CSV file, where it
    is not a comma: ";", "|" or "tab". `not_null` names numeric columns without missing values: their means
    need no count of their own. `size` is the number of rows, where that is public (adjacency="replace-one", one row per unit): means over
    all rows then need no count at all.

    `ledger`: a file, or the "postgresql://…" address of a ledger that many hosts share. By default it is a file beside the data; for a data
    frame it is in memory, with a warning. `engine="spark"` reads Parquet files with Spark. `analyst`: who asks and pays, where analysts
    have budgets of their own.
    """
    public, not_null = public or (), not_null or ()
    said = (unit, epsilon, budget, bounds, keys, contributions, columns, delimiter, size, ledger, witness)
    declared = any(one is not None for one in said) or bool(delta or public or not_null or one_row_per_unit)
    declared = declared or (adjacency, version) != _DEFAULTS
    if isinstance(data, str) and data.lower().startswith(_WEB):
        if declared or engine is not None or analyst is not None:
            raise Invalid("a server's owner declares everything about its data: pass only the address and token=…")
        from discreet.session.remote.session import RemoteSession

        remote: Any = RemoteSession.open(data, token)
        return remote  # type: ignore[no-any-return]
    if token is not None:
        raise Invalid('a token is for a data set of a server: give its address, as in "https://host/name", or leave token out')
    if isinstance(data, str | os.PathLike) and (os.fspath(data).endswith(".toml") or (Path(data) / "discreet.toml").is_file()):
        if declared:
            raise Invalid("a discreet.toml declares everything itself: pass it alone, or pass the data and declarations instead")
        from discreet.session.project import open_project

        return open_project(data, engine, analyst)
    if budget is not None:
        if epsilon is not None:
            raise Invalid("give epsilon and delta, or budget, not both")
        epsilon, delta = _amounts(budget)
    if epsilon is None:
        raise Invalid("the privacy budget is missing: give epsilon=1, and delta=1e-6 if groups are to be discovered")
    sources = with_delimiter(_sources(data), delimiter)
    policy = Policy.of_arguments(
        list(sources),
        epsilon=epsilon,
        delta=delta,
        unit=unit,
        bounds=bounds,
        keys=keys,
        contributions=contributions,
        columns=columns,
        not_null=not_null,
        one_row_per_unit=one_row_per_unit,
        size=size,
        public=public,
        adjacency=adjacency,
        version=version,
    )
    opened = open_engine(sources, policy.declared, engine, policy.identities)
    try:
        place = ledger_place(sources, public, ledger)
    except Invalid:
        opened.close()
        raise
    return Session.open(opened, policy, sources, place, witness, analyst)


def _amounts(budget: Loss) -> tuple[Number, Number]:
    epsilon, mass = budget.basic
    if epsilon is None:
        raise Invalid("this loss cannot be a session's budget: give Pure(ε) or Approx(ε, δ)")
    return epsilon, mass


def _sources(data: Any) -> dict[str, Any]:
    if isinstance(data, Mapping):
        if not data or not all(isinstance(name, str) and name.isidentifier() for name in data):
            raise Invalid("table names must be identifiers, as in {'visits': 'visits.parquet'}")
        return dict(data)
    if isinstance(data, str | os.PathLike) and not is_address(data):
        name = Path(data).name.split(".")[0]
        if has_magic(name) and not Path(data).exists():
            raise Invalid(f"a file pattern does not name its table: give a name, as in {{'visits': {os.fspath(data)!r}}}")
        return {name: data}
    found = tables_of(data)
    if found is None:
        return {"data": data}
    if not found:
        raise Invalid("there is no table here that can be read: name the tables, as in {'visits': (place, 'clinic.visits')}")
    return found


def ledger_place(sources: Mapping[str, Any], public: Collection[str], ledger: str | os.PathLike[str] | None) -> str:
    """The place of the ledger: the one that is given, else beside the only private file, else in memory with a warning."""
    if ledger is not None:
        return os.fspath(ledger)
    private = [source for name, source in sources.items() if name not in public]
    if any(belongs_to(source) == "postgres" for source in private):
        raise Invalid(
            'tables in a database need a place for their ledger: give a file, as in ledger="clinic.ledger", or a database that many hosts '
            'share, as in ledger="postgresql://…"'
        )
    paths = [source for source in private if isinstance(source, str | os.PathLike)]
    if len(paths) == len(private) == 1 and has_magic(str(Path(paths[0]).parent)) and not Path(paths[0]).parent.exists():
        raise Invalid('files in several folders have no default place for their ledger: give one, as in ledger="clinic.ledger"')
    if len(paths) == len(private) == 1:
        return f"{Path(paths[0]).resolve()}.ledger"  # of the file itself, whatever link leads to it
    if paths:
        raise Invalid('several private tables have no default place for their ledger: give one, as in ledger="clinic.ledger"')
    warnings.warn(
        "the ledger of a data frame is in memory: what is spent is forgotten when this process ends, and other processes do not see it. "
        'Pass ledger="name.ledger" to keep it, or ledger=":memory:" to silence this warning',
        UserWarning,
        stacklevel=4,
    )
    return MEMORY
