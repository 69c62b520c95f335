"""An order for a synthetic table: what was asked, read and checked, before anything is found or spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast, final

from attrs import field, frozen

from discreet import exact
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.methods import NAMES, Name
from discreet.algorithms.marginals.workload import MOST_CELLS, Workload
from discreet.errors import Invalid, Refused
from discreet.exact import whole
from discreet.loss.loss import ZERO
from discreet.query.fluent import Ask
from discreet.query.relation.node import Relation, check_private, tables_in
from discreet.session.synthesize.discover import SHARE, Columns, Open, columns_of, open_things
from discreet.tables.catalog import Catalog
from discreet.tables.table import Contributions

MOST_BINS = 4096
Marginals: TypeAlias = int | Iterable[Sequence[str]] | Mapping[Sequence[str], int] | None


@final
@frozen(eq=False)
class Order:
    """A table or what was made of one, which columns, what should be right, how, and for how much."""

    name: str
    table: Ask[Any] = field(repr=False)
    price: tuple[Fraction, Fraction]
    columns: Columns
    open: Open
    workload: Marginals
    method: Name | Literal["auto"]
    bins: int
    size: int | None
    rows: int | None

    @classmethod
    def of(
        cls, table: Ask[Any], catalog: Catalog, price: tuple[Fraction, Fraction], columns: Sequence[str] | None, workload: Marginals,
        method: str, bins: int, size: int | None, contributions: Mapping[str, int] | None,
    ) -> Order:  # fmt: skip
        """Read an order as people give it."""
        if not isinstance(table, Ask) or table.keys or table.statistics:
            raise Invalid("synthesize takes a table's name, or db.table(...) before it is grouped or counted")
        check_private(table.relation)
        if not all(scanned in catalog.tables for scanned in tables_in(table.relation)):
            raise Invalid("this table is of another session: begin with db.table(...) of the session that is asked")
        if method not in ("auto", *NAMES):
            raise Invalid(f"method must be auto, {', '.join(NAMES)}")
        name = table.said[0]
        declared = catalog.table(name)
        limits = Contributions.of(contributions) or table.contributions or (declared.contributions if declared else Contributions())
        chosen = columns_of(table.relation, columns)
        rows = 1 if table.relation.one_row else _rows(limits)
        if len(table.said) > 1 and (missing := open_things(chosen, table.relation.one_row, rows)).questions:
            named = ", ".join([*missing.values, *missing.bounds])
            raise Refused(
                "of a table that was filtered, joined or computed nothing can be found on the way: declare "
                + (f"keys or bounds of {named}" if named else "contributions={'rows': …}")
            )
        order = cls(
            name, table, price, chosen, open_things(chosen, table.relation.one_row, rows), workload, cast(Name, method),
            _bins(bins), None if size is None else whole(size, "size"), rows,
        )  # fmt: skip
        order.workload_over(Domain(chosen.names, (2,) * len(chosen.names)))  # or its names or weights are wrong, before anything is found
        return order

    @property
    def finding(self) -> tuple[Fraction, Fraction]:
        """What of the price goes to what is not declared: a tenth of ε, and half of δ if values are to be found."""
        if not self.open.questions:
            return ZERO, ZERO
        questions, values = self.open.questions, len(self.open.values)
        epsilon = questions * exact.grid_down(self.price[0] * SHARE / questions)
        return epsilon, values * exact.grid_down(self.price[1] / 2 / values) if values else ZERO

    @property
    def rest(self) -> tuple[Fraction, Fraction]:
        """What of the price goes to the table itself."""
        return self.price[0] - self.finding[0], self.price[1] - self.finding[1]

    @property
    def relation(self) -> Relation:
        """The rows."""
        return self.table.relation

    def workload_over(self, domain: Domain) -> Workload:
        """What should be right."""
        asked = self.workload
        if asked is None:
            return Workload.usual(domain)
        if isinstance(asked, bool | str) or not (isinstance(asked, int) or hasattr(asked, "__iter__")):
            raise Invalid('workload must be a number of columns, such as 2, or a list of marginals, such as [("age", "sex")]')
        wanted = Workload.all_of(domain, asked) if isinstance(asked, int) else Workload.of(domain, asked)
        if wanted.cells > MOST_CELLS:
            raise Refused(
                f"these marginals have {wanted.cells:,} cells, and at most {MOST_CELLS:,} fit: ask for fewer columns or coarser bins"
            )
        return wanted


def _bins(bins: int) -> int:
    if whole(bins, "bins", least=2) > MOST_BINS:
        raise Invalid(f"bins must be at most {MOST_BINS:,}")
    return bins


def _rows(limits: Contributions) -> int | None:
    if limits.rows is not None:
        return limits.rows
    return limits.groups * limits.per_group if limits.groups and limits.per_group else None
