"""A request for a synthetic table: planned free of charge, released for a price."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, final

from attrs import field, frozen

from discreet.errors import Invalid
from discreet.exact import Number
from discreet.hints import suggests_arguments
from discreet.plots.page import html_lines
from discreet.query.fluent import NOT_COPIED, QueryBuilder
from discreet.session.pipeline import Pipeline
from discreet.session.synthesize.discover import BINS
from discreet.session.synthesize.plan import SynthesisPlan
from discreet.session.synthesize.run import release
from discreet.session.synthesize.spec import Marginals, SynthesisSpec
from discreet.session.synthesize.synthetic import Synthetic, row_count


class SynthesisOptions(TypedDict, total=False):
    """What `Session.synthesize` can be told beside the table and the price."""

    columns: Sequence[str] | None
    workload: Marginals
    method: str
    bins: int
    size: int | None
    contributions: Mapping[str, int] | None
    other: bool | Sequence[str]
    edges: Mapping[str, Sequence[Any]] | None
    rows: int | None
    device: str
    seconds: float | None


@final
@frozen(eq=False, repr=False)
class SynthesisRequest:
    """A synthetic table that is asked for: `plan` shows what it costs and how good it will be, `release` pays."""

    pipeline: Pipeline = field()
    spec: SynthesisSpec
    rows: int | None = None  # how many are generated

    @classmethod
    @suggests_arguments("synthesize")
    def of(
        cls, pipeline: Pipeline, table: QueryBuilder[Any], *, columns: Sequence[str] | None = None, workload: Marginals = None,
        method: str = "auto", bins: int = BINS, size: int | None = None, contributions: Mapping[str, int] | None = None,
        other: bool | Sequence[str] = False, edges: Mapping[str, Sequence[Any]] | None = None, rows: int | None = None,
        device: str = "auto", seconds: float | None = None,
    ) -> SynthesisRequest:  # fmt: skip
        """Read it as people ask for it (`Session.synthesize`)."""
        number = None if rows is None else row_count(rows)
        spec = SynthesisSpec.of(
            pipeline, table, columns, workload, method, bins, size, contributions, other, edges, device=device, seconds=seconds
        )
        return cls(pipeline, spec, number)

    def plan(self, epsilon: Number, delta: Number | None = None) -> SynthesisPlan:
        """What would happen at this price; reads and spends nothing."""
        return SynthesisPlan.of(self.spec, self.pipeline, *self.pipeline.price(epsilon, delta))

    def release(self, epsilon: Number, delta: Number | None = None, *, progress: Callable[[str, float], None] | None = None) -> Synthetic:
        """Pay, and make the table; the same request at the same price again is free."""
        made = release(self.plan(epsilon, delta), self.pipeline, progress).on(self.spec.device)
        return made if self.rows is None else made.with_rows(self.rows)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    def __repr__(self) -> str:
        return f"SynthesisRequest({self.spec.name}: {', '.join(self.spec.columns.names)[:100]})"

    def _repr_html_(self) -> str:
        return html_lines(repr(self), [".plan(epsilon=…) shows the error and spends nothing; .release(epsilon=…) pays"])
