"""What is asked of a synthetic table: which rows and columns, what should be right, and how; read and checked before it is priced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast, final

from attrs import field, frozen

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.methods import NAMES, Name
from discreet.algorithms.marginals.workload import MOST_CELLS, Workload
from discreet.errors import Invalid, Refused
from discreet.exact import whole
from discreet.query.canonical import plain
from discreet.query.fluent import QueryBuilder
from discreet.query.relation.node import Relation, check_private
from discreet.session.pipeline import Pipeline
from discreet.session.synthesize.discover import Columns, Undeclared, columns_of, undeclared
from discreet.tables.table import Contributions

MOST_BINS = 4096
Marginals: TypeAlias = int | Iterable[Sequence[str]] | Mapping[Sequence[str], int] | None


@final
@frozen(eq=False)
class SynthesisSpec:
    """A table or what was made of one, which columns, what should be right, and how."""

    name: str
    table: QueryBuilder[Any] = field(repr=False)
    columns: Columns
    undeclared: Undeclared
    workload: Marginals
    method: Name | Literal["auto"]
    bins: int
    size: int | None
    rows: int | None  # of one unit that contribute, where that is declared
    contributions: Mapping[str, int] | None = None

    @classmethod
    def of(
        cls, pipeline: Pipeline, table: QueryBuilder[Any], columns: Sequence[str] | None, workload: Marginals, method: str, bins: int,
        size: int | None, contributions: Mapping[str, int] | None,
    ) -> SynthesisSpec:  # fmt: skip
        """Read it as people give it."""
        if not isinstance(table, QueryBuilder) or table.keys or table.statistics:
            raise Invalid("synthesize takes a table's name, or db.table(...) before it is grouped or counted")
        check_private(table.relation)
        pipeline.require_own(table.relation)
        if method not in ("auto", *NAMES):
            raise Invalid(f"method must be auto, {', '.join(NAMES)}")
        declared = pipeline.catalog.table(table.said[0])
        limits = Contributions.of(contributions) or table.contributions or (declared.contributions if declared else Contributions())
        chosen, one_row = columns_of(table.relation, columns), table.relation.one_row
        rows = 1 if one_row else _rows(limits)
        missing = undeclared(chosen, one_row, rows)
        if len(table.said) > 1 and missing.questions:
            named = ", ".join([*missing.values, *missing.bounds])
            raise Refused(
                "nothing can be discovered about a table that was filtered, joined or computed: declare "
                + (f"keys or bounds of {named}" if named else "contributions={'rows': …}")
            )
        listed = _listed(workload)
        spec = cls(
            table.said[0], table, chosen, missing, listed, cast(Name, method), _bins(bins), None if size is None else whole(size, "size"),
            rows, contributions,
        )  # fmt: skip
        spec.workload_over(Domain(chosen.names, (2,) * len(chosen.names)))  # or its names or weights are wrong, before anything is found
        return spec

    @property
    def relation(self) -> Relation:
        """The rows."""
        return self.table.relation

    def workload_over(self, domain: Domain) -> Workload:
        """What should be right."""
        asked = self.workload
        if asked is None:
            return Workload.usual(domain)
        wanted = Workload.all_of(domain, asked) if isinstance(asked, int) else Workload.of(domain, asked)
        if wanted.cells > MOST_CELLS:
            raise Refused(
                f"these marginals have {wanted.cells:,} cells, and at most {MOST_CELLS:,} fit: ask for fewer columns or coarser bins"
            )
        return wanted

    @property
    def asked(self) -> dict[str, Any]:
        """All that decides what is released, as plain values."""
        wanted: Any = self.workload
        if wanted is not None and not isinstance(wanted, int):
            over = self.workload_over(Domain(self.columns.names, (2,) * len(self.columns.names)))
            wanted = [[list(clique), weight] for clique, weight in sorted(over.weights.items())]
        return {
            "is": "Synthesize",
            "table": self.name,
            "relation": plain(self.relation),
            "columns": list(self.columns.names),
            "workload": wanted,
            "method": self.method,
            "bins": self.bins,
            "rows": self.rows,
            "contributions": None if self.contributions is None else dict(self.contributions),
        }


def _listed(asked: Any) -> Marginals:
    """A workload as it is given, read once: it may be an iterator."""
    if asked is None or (isinstance(asked, int) and not isinstance(asked, bool)):
        return cast(Marginals, asked)
    if isinstance(asked, bool | str) or not hasattr(asked, "__iter__"):
        raise Invalid('workload must be a number of columns, such as 2, or a list of marginals, such as [("age", "sex")]')
    return asked if isinstance(asked, Mapping) else list(asked)


def _bins(bins: int) -> int:
    if whole(bins, "bins", least=2) > MOST_BINS:
        raise Invalid(f"bins must be at most {MOST_BINS:,}")
    return bins


def _rows(limits: Contributions) -> int | None:
    if limits.rows is not None:
        return limits.rows
    return limits.groups * limits.per_group if limits.groups and limits.per_group else None
