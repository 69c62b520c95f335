"""What every request needs of its session: the declared tables, an engine and an account to pay from.

A session passes its pipeline to the requests that it makes; requests do not refer to the session.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

from attrs import field, frozen

from discreet import exact, parameter
from discreet.engines.engine import Engine
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.ledger.payment import Payments
from discreet.query.relation.node import Relation
from discreet.query.relation.origin import tables_in
from discreet.tables.catalog import Catalog
from discreet.tables.table import Table

DELTA_PARTS = 32  # the default δ of a question is the budget's δ divided by this
ANOTHER_SESSION = "this table belongs to another session: begin with db.table(...) of this one"


@final
@frozen(eq=False)
class Pipeline:
    """The declared tables, the engine that reads them, and the account that pays."""

    catalog: Catalog
    engine: Engine = field(repr=False)
    payments: Payments = field(repr=False)
    declared: tuple[Table, ...] = field(default=(), repr=False)  # the tables without what profiles found
    _public: dict[tuple[str, ...], tuple[Any, ...]] = field(factory=dict, init=False, repr=False)

    @property
    def default_delta(self) -> Fraction:
        """The δ of a question that does not state one."""
        return exact.grid_down(self.payments.allowance.granted.delta / DELTA_PARTS)

    def price(self, epsilon: Number, delta: Number | None) -> tuple[Fraction, Fraction]:
        """Read a price, with the default δ where none is given."""
        return parameter.price_epsilon(epsilon), self.default_delta if delta is None else parameter.price_delta(delta)

    def require_own(self, relation: Relation) -> None:
        """Raise Invalid if the rows come from tables of another session, which protects them differently."""
        own = {*self.catalog.tables, *self.declared}  # a table that was named before its profile was bought, too
        if not all(table in own for table in tables_in(relation)):
            raise Invalid(ANOTHER_SESSION)

    def public_values(self, table: str, *columns: str) -> tuple[Any, ...]:
        """The values of a public table's column, or the different rows of several of its columns, in order; read once."""
        if (table, *columns) not in self._public:
            dialect = self.engine.dialect
            names = {f"v{i}": dialect.identifier(column) for i, column in enumerate(columns)}
            shown = ", ".join(f"{column} AS {name}" for name, column in names.items())
            known = " AND ".join(f"{column} IS NOT NULL" for column in names.values())
            text = f"SELECT DISTINCT {shown} FROM {dialect.identifier(table)} WHERE {known} ORDER BY {', '.join(names)}"
            found = self.engine.read_public(text)
            listed = [found[name].tolist() for name in names]
            self._public[table, *columns] = tuple(listed[0]) if len(listed) == 1 else tuple(zip(*listed, strict=True))
        return self._public[table, *columns]
