"""The catalog: all declared tables, the neighbouring relation, and the version of the data."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import attrs
from attrs import field, frozen

from discreet.errors import PolicyError
from discreet.mechanisms.sensitivity import Adjacency
from discreet.tables.kind import Kind
from discreet.tables.profile import TableProfile
from discreet.tables.table import Table
from discreet.tables.unit import EachRow, Link, Person


@final
@frozen(slots=False)
class Catalog:
    """The declared tables, the neighbouring relation, and the version of the data, which its owner declares and nothing computes."""

    tables: tuple[Table, ...]
    adjacency: Adjacency = "add/remove"
    version: str = field(default="1")

    def table(self, name: str) -> Table | None:
        """The table of this name, if there is one."""
        return next((table for table in self.tables if table.name == name), None)

    @property
    def protected(self) -> str:
        """The protected unit, in words, for all tables together."""
        units = sorted({str(table.unit) for table in self.tables if isinstance(table.unit, EachRow | Person)})
        return " and ".join(units)

    def steps_to_unit(self, table: Table) -> tuple[tuple[Link, Table], ...]:
        """The links from a table to the table with its unit."""
        steps: list[tuple[Link, Table]] = []
        here = table
        while isinstance(here.unit, Link):
            link, found = here.unit, self.table(here.unit.table)
            if found is None or not found.private or any(found == seen for _, seen in steps):
                raise PolicyError(
                    f"table {table.name}: its link does not lead to a table with a unit: link it to one in which someone is protected"
                )
            steps.append((link, found))
            here = found
        return tuple(steps)

    def to_json(self) -> dict[str, Any]:
        """Everything declared, as plain values."""
        return {"tables": [_plain(table) for table in self.tables], "adjacency": self.adjacency, "version": self.version}

    @cached_property
    def digest(self) -> str:
        """An identifier of this policy: the SHA-256 of everything declared."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, TableProfile):
        return value.digest
    if attrs.has(type(value)):
        kind = {"kind": type(value).__name__} if isinstance(value, EachRow | Person | Link) else {}
        fields = {a.name: _plain(getattr(value, a.name)) for a in attrs.fields(type(value))}
        if isinstance(value, Table) and value.size is None:
            del fields["size"]  # so that policies without a size keep the digest that they had before sizes existed
        if isinstance(value, Table) and value.profile is None:
            del fields["profile"]  # the same for profiles
        if fields.get("parsed_from", "") is None:
            del fields["parsed_from"]  # the same for types that profiles found
        fields.pop("untyped", None)  # they are read as if text had been declared
        fields.pop("keys_found", None)  # they follow from the profile
        return kind | fields
    match value:
        case Kind():
            return value.value
        case tuple():
            return [_plain(item) for item in value]
        case Fraction() | None | bool() | int() | str():
            return str(value) if isinstance(value, Fraction) else value
    return value.isoformat()
