"""What is asked of a synthetic table: which rows and columns, what should be right, and how; read and checked before it is priced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite
from typing import Any, Literal, TypeAlias, cast, final

from attrs import evolve, field, frozen

from discreet.algorithms.marginals.device import check_device
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.duration import SECONDS
from discreet.algorithms.marginals.methods import NAMES, Name
from discreet.algorithms.marginals.workload import MOST_CELLS, Workload
from discreet.errors import Invalid, Refused
from discreet.exact import whole
from discreet.query.canonical import plain
from discreet.query.fluent import QueryBuilder
from discreet.query.relation.node import Relation, Scan, check_private
from discreet.session.pipeline import Pipeline
from discreet.session.synthesize.discover import Columns, Undeclared, columns_of, undeclared
from discreet.session.synthesize.domains import Domains
from discreet.session.synthesize.profiled import profiled_domains
from discreet.tables.profile import TableProfile
from discreet.tables.profiled import typed
from discreet.tables.table import Contributions
from discreet.tables.unit import Link

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
    known: Domains = field(factory=Domains, repr=False)  # what is public about columns beside their declarations
    device: str = "auto"  # where a model over the whole domain is fitted; no part of what is asked
    seconds: float | None = None  # that it may be predicted to compute

    @classmethod
    def of(
        cls, pipeline: Pipeline, table: QueryBuilder[Any], columns: Sequence[str] | None, workload: Marginals, method: str, bins: int,
        size: int | None, contributions: Mapping[str, int] | None, other: bool | Sequence[str] = False,
        edges: Mapping[str, Sequence[Any]] | None = None, known: Domains | None = None, device: str = "auto", seconds: float | None = None,
    ) -> SynthesisSpec:  # fmt: skip
        """Read it as people give it; `known` are domains that were released before, and `edges` come before them."""
        if isinstance(table, list | tuple | dict):
            raise Refused(
                "tables are synthesised one at a time, and rows of two synthetic tables do not belong together: join them first, "
                "db.synthesize(db.table('a').join(db.table('b'), on='id'), …)"
            )
        if not isinstance(table, QueryBuilder) or table.keys or table.statistics:
            raise Invalid("synthesize takes a table's name, or db.table(...) before it is grouped or counted")
        check_private(table.relation)
        pipeline.require_own(table.relation)
        if method not in ("auto", *NAMES):
            raise Invalid(f"method must be auto, {', '.join(NAMES)}")
        check_device(device)
        declared = pipeline.catalog.table(table.said[0])
        limits = Contributions.of(contributions) or table.contributions or (declared.contributions if declared else Contributions())
        plain_table = declared is not None and len(table.said) == 1
        present = [column.name for column in declared.columns if not column.nullable] if declared and plain_table else []
        kinds = {name: column.kind for name, column in table.relation.schema.items()}
        profiled = profiled_domains(declared, bins) if declared is not None and plain_table else Domains()
        domains = profiled | (known or Domains()) | Domains.given(edges, kinds)
        links = _links(pipeline, table.said[0]) if plain_table else ()
        chosen, one_row = columns_of(table.relation, columns, present, other, domains, links), table.relation.one_row
        rows = 1 if one_row else _rows(limits)
        missing = undeclared(chosen, one_row, rows, domains)
        if len(table.said) > 1 and missing:
            named = ", ".join([*missing.values, *missing.bounds])
            raise Refused(
                "discovery needs a whole declared table, not rows that were filtered, joined or computed: declare "
                + (f"keys or bounds of {named}" if named else "contributions={'rows': …}")
            )
        listed = _listed(workload)
        spec = cls(
            table.said[0], table, chosen, missing, listed, cast(Name, method), _bins(bins), None if size is None else whole(size, "size"),
            rows, contributions, domains, device, _seconds(seconds),
        )  # fmt: skip
        spec.workload_over(Domain(chosen.names, (2,) * len(chosen.names)))  # or its names or weights are wrong, before anything is found
        return spec

    def typed(self, profile: TableProfile) -> SynthesisSpec:
        """The same of columns with the types that the table's profile found; what is asked stays what it was."""
        relation = self.relation
        if not isinstance(relation, Scan) or not relation.table.untyped:
            return self
        found = evolve(relation, table=typed(relation.table, profile))
        return evolve(self, table=evolve(self.table, relation=found), columns=evolve(self.columns, schema=dict(found.schema)))

    @property
    def limit(self) -> float:
        """How many seconds it may be predicted to compute: a minute where the method is free, any number where it is given."""
        return self.seconds if self.seconds is not None else SECONDS if self.method == "auto" else inf

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
            raise Refused(f"these marginals have {wanted.cells:,} cells, more than {MOST_CELLS:,}: ask for fewer columns or coarser bins")
        return wanted

    def require_without(self, lost: Mapping[str, str]) -> None:
        """Refuse if a marginal that is asked for has a column that is left out, for the reason that is given."""
        asked = () if self.workload is None or isinstance(self.workload, int) else self.workload
        if why := [f"{name}: {lost[name]}" for name in sorted(lost) if any(name in names for names in asked)]:
            raise Refused(f"the workload asks for columns that are left out. {'; '.join(why)}. Only what was not declared was paid for.")

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
            "other": sorted(self.columns.other),
            "known": self.known.told,
            "workload": wanted,
            "method": self.method,
            "bins": self.bins,
            "rows": self.rows,
            "contributions": None if self.contributions is None else dict(self.contributions),
        } | ({} if self.seconds is None else {"seconds": self.seconds})


def _links(pipeline: Pipeline, name: str) -> set[str]:
    """The columns of a table that lead to rows of other tables, or by which rows of other tables lead to its own."""
    units = [(table.name, table.unit) for table in pipeline.catalog.tables]
    return {unit.column if owner == name else unit.key for owner, unit in units if isinstance(unit, Link) and name in (owner, unit.table)}


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


def _seconds(seconds: Any) -> float | None:
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not isfinite(seconds) or seconds <= 0:
        raise Invalid("seconds must be a positive number, such as 30: the longest that the computation may be predicted to take")
    return float(seconds)


def _rows(limits: Contributions) -> int | None:
    if limits.rows is not None:
        return limits.rows
    return limits.groups * limits.per_group if limits.groups and limits.per_group else None
