"""DATA and its declarations: where the data is, and what a discreet.toml would say about it. Together they open a session."""

from __future__ import annotations

import glob
import os
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated, final

from attrs import Factory, fields, frozen
from typer import Argument, Option

from discreet.address import is_address
from discreet.cli.remote import Server, address_of
from discreet.cli.typed import interval, limits, named, values
from discreet.errors import Invalid
from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms
from discreet.session.connect import connect
from discreet.session.project import FILE, find_project, open_project
from discreet.session.session import Session
from discreet.tables.unit import each_row

_Declaration = partial(Option, rich_help_panel="Declarations, for data without a discreet.toml")


@final
@frozen
class DataOptions:
    """Where the data is and what is declared about it; None, False or empty where nothing is."""

    data: Annotated[
        str,
        Argument(
            metavar="DATA",
            help="A discreet.toml or its folder, a Parquet or CSV file, or the address of a database or of a data set on a server.",
        ),
    ]
    server: Server = None
    unit: Annotated[str | None, _Declaration(metavar="COLUMN", help="The column that identifies the protected person.")] = None
    each_row: Annotated[bool, _Declaration("--each-row", metavar="", help="Protect each row by itself, instead of a person.")] = False
    budget: Annotated[
        str | None, _Declaration(metavar="NUMBER", help="The total ε of all questions ever; given once, with the first question.")
    ] = None
    delta: Annotated[str | None, _Declaration(metavar="NUMBER", help="The total δ; given with --budget.")] = None
    bounds: Annotated[
        list[str], _Declaration(metavar="COLUMN=0:500", help="The range that a column's values are clipped to. Repeatable.")
    ] = Factory(list)
    keys: Annotated[list[str], _Declaration(metavar="COLUMN=a,b,c", help="The public groups of a column. Repeatable.")] = Factory(list)
    contributions: Annotated[
        str | None, _Declaration(metavar="rows=10", help="How many rows one person contributes at most; or groups=3,per_group=5.")
    ] = None
    type: Annotated[list[str], _Declaration(metavar="COLUMN=real", help="The type of a CSV column. Repeatable.")] = Factory(list)
    delimiter: Annotated[
        str | None, _Declaration(metavar="CHARACTER", help="What separates the fields of a CSV file, if not commas: ; or | or tab.")
    ] = None
    one_row_per_unit: Annotated[bool, _Declaration("--one-row-per-unit", metavar="", help="Declare that nobody has more than one row.")] = (
        False
    )
    adjacency: Annotated[
        str | None, _Declaration(metavar="RELATION", help="How neighbouring data sets differ: add/remove (the default) or replace-one.")
    ] = None
    data_version: Annotated[
        str | None, _Declaration(metavar="TEXT", help="The version of the data; a new version makes stored answers stale.")
    ] = None
    ledger: Annotated[
        str | None, _Declaration(metavar="PLACE", help="The ledger: a file, or the address of a database (default: a file beside DATA).")
    ] = None
    witness: Annotated[str | None, _Declaration(metavar="FILE", help="The witness file of the ledger.")] = None
    engine: Annotated[str | None, _Declaration(metavar="ENGINE", help="The engine that reads the file: duckdb (the default) or spark.")] = (
        None
    )

    def open(self, analyst: str | None = None) -> Session:
        """Open a project, or a data file as it is declared; the budget is read from the ledger if it is not declared again."""
        if (address := address_of(self.data, self.server)) is not None:
            if given := [*self._declared, *(["--analyst"] if analyst is not None else [])]:
                raise Invalid(f"{', '.join(given)}: the server's owner declares this, and the token says who asks; leave out the options")
            return connect(address)
        if find_project(self.data) is not None:
            if self._declared:
                raise Invalid(f"{', '.join(self._declared)}: a {FILE} declares this here; change it there, and leave out the options")
            return open_project(self.data, analyst=analyst)
        data = self.data if "://" in self.data else self._file()
        if (self.unit is None) != self.each_row:
            raise Invalid("it is not declared who is protected: add --unit COLUMN for a person's rows together, or --each-row")
        budget, delta = self.budget, self.delta
        if budget is None:
            terms = self._terms(data)
            budget, delta = str(terms.epsilon), str(terms.delta) if delta is None else delta
        return connect(
            data,
            unit=each_row() if self.each_row else self.unit,
            epsilon=budget,
            delta=delta or "0",
            bounds={name: interval(text) for name, text in map(named, self.bounds)},
            keys={name: values(text) for name, text in map(named, self.keys)},
            contributions=limits(self.contributions),
            columns=dict(map(named, self.type)),
            delimiter=self.delimiter,
            one_row_per_unit=self.one_row_per_unit,
            adjacency=self.adjacency or "add/remove",
            version=self.data_version or "1",
            ledger=self.ledger,
            witness=self.witness,
            engine=self.engine,
            analyst=analyst,
        )

    @property
    def _declared(self) -> list[str]:
        """The declarations that were given, as they are typed."""
        given = [one.name for one in fields(DataOptions) if one.name not in ("data", "server") and getattr(self, one.name)]
        return [f"--{name.replace('_', '-')}" for name in given]

    def _file(self) -> str:
        """The path of a data file; a folder's is spelled in one way only, because its ledger is named after it."""
        place = Path(self.data).expanduser()
        if place.is_dir():
            if not self._declared or not any(place.rglob("*.parquet")):
                raise Invalid(
                    f"there is no {FILE} in the folder {self.data}: write one with `discreet init {self.data}`, "
                    "or name a data file (or a folder of Parquet files) and declare it with --unit COLUMN --budget 1.0"
                )
            return os.path.abspath(place)  # as connect() would name it: links are not followed
        if not place.exists() and not glob.has_magic(place.name):
            raise Invalid(f"there is no file {self.data}: name a Parquet or CSV file, or a {FILE}")
        return self.data

    def _terms(self, data: str) -> Terms:
        """What the ledger was opened with."""
        place = self.ledger or f"{data}.ledger"
        if not is_address(place) and not Path(place).exists():
            raise Invalid("the privacy budget is not declared: add --budget 1.0, and --delta 1e-6 if groups are to be discovered")
        with closing(open_ledger(place, witness=self.witness)) as ledger:
            return ledger.terms
