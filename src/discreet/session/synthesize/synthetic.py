"""The synthetic table: rows, answers with their errors, and what was measured for it. All of it is public."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from discreet.algorithms.marginals.device import check_device
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement, merge_measurements, total_of
from discreet.algorithms.marginals.methods import model_of
from discreet.algorithms.marginals.model import Model
from discreet.algorithms.marginals.result import Result
from discreet.algorithms.marginals.rows import make_rows
from discreet.algorithms.marginals.workload import Workload
from discreet.errors import Invalid
from discreet.exact import whole
from discreet.extras import require as require_extra
from discreet.ledger.price import price
from discreet.ledger.receipt import Kind, Receipt
from discreet.plots.table import Series
from discreet.session.released import Released
from discreet.session.shape import require
from discreet.session.synthesize.answers import Answers, ModelAnswer
from discreet.session.synthesize.domains import Coding
from discreet.session.synthesize.others import about_clipped, about_others, beyond_from, shares_of_others
from discreet.session.synthesize.recording import check_measured, coding_from, measurement_from_json, measurement_to_json
from discreet.session.synthesize.report import FidelityReport, fidelity
from discreet.session.synthesize.score import Compared, compared
from discreet.tables.kind import Kind as ColumnKind

_COMPARED = 300  # marginals that are scored
MOST_ROWS = 10**8  # that are generated


@final
@frozen(eq=False, repr=False, slots=False)
class Synthetic(Released):
    """Synthetic rows, no real person. Everything here follows from what was measured and costs nothing again."""

    KINDS: ClassVar[tuple[Kind, ...]] = ("synthetic table",)

    receipt: Receipt
    measured: tuple[NoisyMeasurement, ...]
    repeated: bool = field(default=False)
    asked_rows: int | None = None  # how many rows are generated, if not as many as there are records
    device: str = "auto"  # where the model is fitted, if it must be

    @classmethod
    def of(cls, receipt: Receipt, result: Result) -> Synthetic:
        """A table that was just made; its model need not be fitted again."""
        made = cls(receipt, result.measured)
        made.__dict__["model"] = result.model
        return made

    # ── what it is made of ───────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def codings(self) -> tuple[Coding, ...]:
        """The columns with their codes."""
        return tuple(coding_from(plain) for plain in self.receipt.discovered["codings"])

    @cached_property
    def domain(self) -> Domain:
        """The columns and how many codes each has."""
        return Domain(tuple(coding.name for coding in self.codings), tuple(coding.size for coding in self.codings))

    @cached_property
    def workload(self) -> Workload:
        """The marginals that it should get right."""
        return Workload(self.domain, {tuple(clique): weight for clique, weight in self.receipt.discovered["workload"]})

    @property
    def method(self) -> str:
        """How it was made."""
        return str(self.receipt.discovered["method"])

    @cached_property
    def beyond(self) -> dict[str, float]:
        """The share of each column's numbers that may lie beyond its bins, where bins were found; with confidence 0.95."""
        return beyond_from(self.receipt.discovered.get("beyond", {}))

    @cached_property
    def model(self) -> Model:
        """The distribution that rows and answers come from."""
        return model_of(self.receipt.discovered["method"], self.domain, self.measured, self.device)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.domain.names

    @property
    def total(self) -> float:
        """How many records there are, by what was measured."""
        return max(1.0, float(self.measured[0].values[0])) if self.method == "residuals" else total_of(merge_measurements(self.measured))

    def __len__(self) -> int:
        return max(1, round(self.total)) if self.asked_rows is None else self.asked_rows

    def with_rows(self, rows: int) -> Synthetic:
        """The same table with so many rows; they follow from the model, so that costs nothing."""
        made = Synthetic(self.receipt, self.measured, self.repeated, row_count(rows), self.device)
        made.__dict__["model"] = self.model
        return made

    def on(self, device: str) -> Synthetic:
        """The same table, whose model is fitted on a device (auto, cpu or cuda) if it is not fitted yet."""
        check_device(device)
        if device == self.device:
            return self
        made = Synthetic(self.receipt, self.measured, self.repeated, self.asked_rows, device)
        if "model" in self.__dict__:
            made.__dict__["model"] = self.model
        return made

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def codes(self) -> list[NDArray[np.int64]]:
        """The rows as codes, one array for each column."""
        if len(self) > MOST_ROWS:
            raise Invalid(f"there are more than {MOST_ROWS:,} rows, too many to be made at once: ask with .answer(...) or .marginal(...)")
        return make_rows(self.model, len(self), self.workload)

    @cached_property
    def data(self) -> dict[str, list[Any]]:
        """The rows as values, by column."""
        return {coding.name: coding.decode(codes) for coding, codes in zip(self.codings, self.codes, strict=True)}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows, a dict for each."""
        return [dict(zip(self.data, row, strict=True)) for row in zip(*self.data.values(), strict=True)]

    @property
    def series(self) -> tuple[Series, ...]:
        """The columns as they are shown."""
        return tuple(Series(name, values) for name, values in self.data.items())

    @property
    def whole_or_missing(self) -> tuple[str, ...]:
        """The columns of whole numbers that have a code for NULL."""
        return tuple(coding.name for coding in self.codings if coding.kind is ColumnKind.INTEGER and coding.can_be_missing)

    # ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _answers(self) -> Answers:
        return Answers(self.codings, self.model, self.measured, self.method == "residuals", self.beyond)

    def answer(self, where: Mapping[str, Any] | None = None, mean: str | None = None) -> ModelAnswer:
        """How many records have these values, or the mean of a number over them; from the model, not from rows.

        `where={"dept": "er", "age": (30, 39), "sex": ["f", "x"]}`: a value, several in a list, a pair of ends for a number, None for none.
        """
        return self._answers.answer(where, mean)

    def marginal(self, *columns: str) -> list[dict[str, Any]]:
        """How many records each combination of some columns has, with standard errors; None where not all was measured."""
        return self._answers.marginal(*columns)

    # ── how good it is ───────────────────────────────────────────────────────────────────────────────────────────────

    def compared(self, cliques: Sequence[Clique] | None = None) -> list[Compared]:
        """Measured marginals beside the model's and the rows': those of the workload that were measured, or some others."""
        chosen = self._measured_cliques if cliques is None else cliques
        return compared(self.domain, self.measured, self.method == "residuals", self.model, self.codes, chosen)

    @property
    def _measured_cliques(self) -> list[Clique]:
        if self.method != "residuals":
            return sorted({one.clique for one in self.measured}, key=lambda clique: (len(clique), clique))
        return list(dict.fromkeys([*((i,) for i in self.domain.columns), *self.workload.cliques]))[:_COMPARED]

    def score(self) -> list[dict[str, Any]]:
        """How far model and rows are from each measured marginal, and how much of that noise explains, as shares of all records."""
        total = self.model.total
        return [
            {
                "marginal": self.domain.shown(one.clique),
                "model": float(np.abs(one.model - one.measured).sum() / total),
                "rows": float(np.abs(one.rows * (total / len(self)) - one.measured).sum() / total),
                "noise": one.noise * one.measured.size / total,
            }
            for one in self.compared()
        ]

    def report(self) -> FidelityReport:
        """How faithful the rows are: columns and pairs beside what was measured and what noise explains; no real row is read."""
        found = fidelity(self.domain, self.measured, self.method == "residuals", self.model, self.codes)
        said = (*about_others(shares_of_others(self.codings, self.model)), *about_clipped(self.codings, self.beyond))
        return evolve(found, not_known=said)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        column: str | Sequence[str] | None = None,
        *,
        ax: Any = None,
        title: str | None = None,
        units: Mapping[str, str] | None = None,
        most: int | None = None,
    ) -> Any:
        """Each column, or those that are named, as it was measured and as it is in the rows; a file if a path is given.

        `ax` draws one column into axes of Matplotlib and returns them; `most` is the number of values shown of each column, the most
        frequent ones as measured.
        """
        require_extra("matplotlib")
        from discreet.plots.synthetic import Panel, draw_marginals

        panels = []
        names = self.columns if column is None else [column] if isinstance(column, str) else column
        for one in self.compared([self.domain.clique([name]) for name in names]):
            coding = self.codings[one.clique[0]]
            rows = one.rows * (self.model.total / len(self))  # as many as there are records, however many were generated
            name = coding.name if coding.name not in (units or {}) else f"{coding.name} ({(units or {})[coding.name]})"
            panels.append(Panel(name, [coding.label(code) for code in range(coding.size)], one.measured, rows, one.noise))
        return draw_marginals(panels, path, ax=ax, title=title, most=most)

    # ── keeping ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def answers(self) -> dict[str, Any]:
        """What was measured, as plain values."""
        asked = {} if self.asked_rows is None else {"rows": self.asked_rows}
        return {"measured": [measurement_to_json(one) for one in self.measured]} | asked

    @classmethod
    def from_answers(cls, answers: Any, receipt: Receipt, repeated: bool) -> Synthetic:
        """Read back what `answers` gave."""
        rows = answers.get("rows")
        measured = tuple(measurement_from_json(one) for one in answers["measured"])
        found = cls(receipt, measured, repeated, None if rows is None else row_count(rows))
        check_measured(receipt.discovered["method"], found.workload, found.measured)
        require(set(found.beyond) <= set(found.columns))
        return found

    def explain(self) -> str:
        """Who is protected, what was measured and charged, and what the same table costs several units together."""
        return "\n".join([repr(self), *super().explain().splitlines()])

    def __repr__(self) -> str:
        lines = [
            f"Synthetic({self.receipt.request['table']}: {len(self):,} rows × {len(self.columns)} columns; {self.method}, "
            f"{len(self.measured):,} measurements; {price(self.epsilon, self.delta)})",
            "  " + ", ".join(f"{coding.name} ({coding.size})" for coding in self.codings),
            f"  protects {self.receipt.protected}{self.receipt.where and f'; {self.receipt.where}'}"
            + (" (made before, so free now)" if self.repeated else ""),
            *(f"  {note}" for note in self.receipt.notes),
        ]
        return "\n".join(lines)


def row_count(rows: int) -> int:
    """How many rows are generated."""
    if whole(rows, "rows") > MOST_ROWS:
        raise Invalid(f"rows must be at most {MOST_ROWS:,}: generate a table once and repeat its rows")
    return rows
