"""A profile is bought: pay once, then count every column in a few scans, and release the counts with noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from operator import itemgetter
from typing import final

import numpy as np
from attrs import Factory, evolve, field, frozen
from numpy.typing import NDArray

from discreet.algorithms.marginals.domain import Domain
from discreet.engines.engine import Columns, Engine
from discreet.ledger.chain import Entry
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.groups import Keys
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.partition_selection import WeightedGaussianSelection
from discreet.mechanisms.sensitivity import is_replacement
from discreet.plan.discovery import LIMITS
from discreet.query.post import in_order
from discreet.query.relation.expr import Column, Expr, Literal, call
from discreet.query.relation.node import Relation, Scan, Select
from discreet.run.discovery import limit_statement
from discreet.run.keys import received
from discreet.run.source import Source
from discreet.run.write import write_capped
from discreet.session.pipeline import Pipeline
from discreet.session.profile.cells import CELLS, Counts, Grid, bounded_grid, coarse_grid, fine_grid, middle_grid
from discreet.session.profile.kinds import CODES, kind_found, with_parsed
from discreet.session.profile.plan import ProfilePlan, Task, task_as
from discreet.session.profile.profile import Profile
from discreet.session.profile.ranges import Rows, as_counts, body_found, histogram_of, range_found
from discreet.session.synthesize.counted import EngineCounts
from discreet.tables.kind import Kind, Value, can_be_read
from discreet.tables.profile import ColumnProfile, TableProfile, ValueCount, best_limit
from discreet.tables.type_found import TypeFound

Progress = Callable[[str, float], None]
_CLEAR = Fraction(99_999, 100_000)  # the probability that noise on all cells stays below what counts as seen
_TOGETHER = 16  # columns that are counted in one statement
_VISIBLE = 4  # standard deviations of noise that an average cell should have
_SHOW_ZEROS = 3  # standard deviations of noise from which on a share of zeros is told
SHOWN = 1000  # values of a column that are kept, the most frequent


def release(plan: ProfilePlan, pipeline: Pipeline, progress: Progress) -> Profile:
    """Give the stored profile; else charge the ledger, then read, then store."""

    def run(paid: Entry) -> Profile:
        found = Counting(plan, pipeline.engine, progress).found()
        return Profile(plan.priced.receipt(paid, notes=plan.notes), found.to_json())

    return pipeline.payments.pay_once(plan, plan.priced.question, f"profile of {plan.table.name}", run, Profile.from_text)


@final
@frozen(eq=False)
class Counting:
    """The measurements of one profile; once types are found, of tasks and rows that have them."""

    plan: ProfilePlan
    engine: Engine
    progress: Progress
    tasks: tuple[Task, ...] = field(default=Factory(lambda self: self.plan.tasks, takes_self=True))
    relation: Relation = field(default=Factory(lambda self: self.plan.relation, takes_self=True))

    def found(self) -> TableProfile:
        """Count and release everything: limits, types that nobody declared, three histograms for each number, values."""
        plan = self.plan
        sizes, sd_units = self._rows_per_unit() if plan.limits_rows else ((), 0.0)
        noise = float(np.sqrt(2) / plan.asked_epsilon)
        limit = None if plan.relation.one_row else plan.table.contributions.rows or best_limit(sizes, sd_units, noise)
        types = self._types(limit or 1)
        columns, rows = self._typed({name: kind for name, (kind, _) in types.items()})._columns(limit or 1)
        columns = tuple(evolve(one, type_found=types[one.name][1]) if one.name in types else one for one in columns)
        self.progress("done", 1.0)
        units = sum(count for _, count in sizes) if sizes else rows.count
        return TableProfile(plan.table.name, columns, rows.count, units, max(rows.sd, sd_units), limit, sizes, "")

    def _columns(self, weight: int) -> tuple[tuple[ColumnProfile, ...], Rows]:
        """What is found about each column, of kinds that are known, and the number of rows."""
        self.progress("coarse histograms", 0.1)
        coarse = {task.column.name: coarse_grid(task.column.kind) for task in self.tasks if task.how == "range"}
        first = self._counts(_codes(coarse) | {"": Literal(0)}, _sizes(coarse) | {"": 2}, "coarse", weight)
        rows = Rows(first[""].counts[0], first[""].sd)
        zeros = {
            name: first[name].counts[-1]
            for name, grid in coarse.items()
            if grid.zero and first[name].counts[-1] > _SHOW_ZEROS * first[name].sd
        }
        self.progress("histograms", 0.3)
        ends = {name: range_found(grid, first[name]) for name, grid in coarse.items()}
        middle = {name: middle_grid(coarse[name], *found, self._cells(name, "middle", rows)) for name, found in ends.items() if found}
        second = self._counts(_codes(middle), _sizes(middle), "middle", weight)
        self.progress("finer histograms", 0.5)
        bodies = {name: body_found(grid, second[name]) for name, grid in middle.items()}
        fine = {name: fine_grid(grid, second[name], bodies[name], self._cells(name, "fine", rows)) for name, grid in middle.items()}
        fine |= {task.column.name: bounded_grid(task.column) for task in self.tasks if task.how == "bounded"}
        listed = {task.column.name: task for task in self.tasks if task.how == "listed"}
        codes = _codes(fine) | {name: _listed_code(task) for name, task in listed.items()}
        third = self._counts(codes, _sizes(fine) | {name: len(_listed(task)) + 2 for name, task in listed.items()}, "fine", weight)
        columns = []
        for place, task in enumerate(self.tasks):
            name, column = task.column.name, task.column
            if task.how == "values":
                self.progress(f"values of {name}", 0.6 + 0.4 * place / len(self.tasks))
                columns.append(self._values(task, weight))
            elif task.how == "listed":
                columns.append(_listed_profile(task, third[name]))
            elif name in fine:
                histogram = histogram_of(fine[name], third[name], rows, middle.get(name), bodies.get(name), self._noise_of_sums)
                found = ColumnProfile(name, column.kind, histogram, sd=histogram.sd, declared=column.bounds, zeros=zeros.get(name))
                columns.append(found)
            else:
                columns.append(ColumnProfile(name, column.kind, zeros=zeros.get(name)))
        return tuple(columns), rows

    @property
    def _noise_of_sums(self) -> float:
        """The noise, as a standard deviation, on a sum of numbers of magnitude 1 in a typical later question: a mean at half this price."""
        return float(4 * np.sqrt(2) / self.plan.asked_epsilon)

    def _cells(self, name: str, stage: str, rows: Rows) -> int:
        """How many cells a histogram may have so that each is likely to be seen."""
        sd = _deviation(self.plan.counting((name, stage), 1, Fraction(1)), 1)
        return int(min(max(rows.count / (_VISIBLE * sd), 4), CELLS if stage == "fine" else CELLS // 2))

    # ── rows per unit ────────────────────────────────────────────────────────────────────────────────────────────────

    def _rows_per_unit(self) -> tuple[tuple[tuple[int, float], ...], float]:
        """How many units have each number of rows, on the list of limits; each unit is counted once."""
        source = Source(self.relation, (), None, self.engine.dialect)
        statement = limit_statement("rows", source)
        both = 2 if is_replacement(self.plan.catalog.adjacency) else 1
        mechanism = self.plan.counting(("", "units"), both, Fraction(both))
        counts = mechanism.release(self.engine.run(statement.text, statement.given).map(partial(_by_place, places=len(LIMITS))))
        return tuple(zip(LIMITS, as_counts(np.asarray(counts), 1), strict=True)), _deviation(mechanism, 1)

    # ── types ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _types(self, weight: int) -> dict[str, tuple[Kind, TypeFound]]:
        """The kinds of the columns that nobody declared, from noisy counts of what their texts parse as."""
        names = [task.column.name for task in self.tasks if task.how == "untyped"]
        if not names or not isinstance(self.relation, Scan):
            return {}
        self.progress("types", 0.05)
        relation, codes = with_parsed(self.relation, names)
        counts = evolve(self, relation=relation)._counts(codes, dict.fromkeys(names, CODES), "kinds", weight)
        return {name: kind_found(counts[name]) for name in names}

    def _typed(self, kinds: Mapping[str, Kind]) -> Counting:
        """The same measurements of columns with the kinds that were found."""
        if not kinds or not isinstance(self.relation, Scan):
            return self
        columns = self.relation.table.columns
        found = {one.name: one.parsed_as(kinds[one.name]) for one in columns if one.name in kinds}
        table = evolve(self.relation.table, columns=tuple(found.get(one.name, one) for one in columns))
        tasks = (task_as(found[one.column.name], self.plan.asked_delta) if one.column.name in found else one for one in self.tasks)
        return evolve(self, tasks=tuple(tasks), relation=evolve(self.relation, table=table))

    # ── cells ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _counts(self, codes: Mapping[str, Expr], sizes: Mapping[str, int], stage: str, rows: int) -> dict[str, Counts]:
        """The noisy number of rows of every code of every column; of all rows, under the empty name."""
        found: dict[str, Counts] = {}
        every = list(codes)
        for start in range(0, len(every), _TOGETHER):  # the codes of very many columns in one statement are slow
            found |= self._counted({name: codes[name] for name in every[start : start + _TOGETHER]}, sizes, stage, rows)
        return found

    def _counted(self, codes: Mapping[str, Expr], sizes: Mapping[str, int], stage: str, rows: int) -> dict[str, Counts]:
        plan, names = self.plan, [f"__code{i}" for i in range(len(codes))]
        relation = Select(self.relation, tuple(zip(names, codes.values(), strict=True)))
        domain = Domain(tuple(codes), tuple(sizes[name] for name in codes))
        counts = EngineCounts(self.engine, relation, names, domain, rows, plan.catalog.adjacency)
        cells = counts.marginals([(i,) for i in range(len(codes))])
        found = {}
        for i, name in enumerate(codes):
            mechanism = plan.counting((name, self._stage(name, stage)), counts.l1_sensitivity, counts.l2_sensitivity)
            noisy = as_counts(np.asarray(mechanism.release(cells.map(itemgetter((i,))))), counts.one)
            found[name] = Counts(noisy, _deviation(mechanism, counts.one), mechanism.error(_CLEAR, len(noisy)) / counts.one)
        return found

    def _stage(self, name: str, stage: str) -> str:
        """The measurement that a column's counts pay for."""
        if not name:
            return "rows"
        task = next(task for task in self.tasks if task.column.name == name)
        return stage if task.how in ("range", "untyped") else task.how

    # ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _values(self, task: Task, rows: int) -> ColumnProfile:
        """The values of a column that enough units have, the most frequent first."""
        name, kind = task.column.name, task.column.kind
        mechanism = self.plan.finding(name, rows)
        source = Source(self.relation, ((name, Column(name)),), None, self.engine.dialect)
        spread = mechanism.unit if isinstance(mechanism, WeightedGaussianSelection) else None
        statement = write_capped(source, None, rows, self.plan.priced.question, spread)
        found: dict[Value | None, float] = {}
        for batch in self.engine.stream(statement.text, statement.given):  # values are decided one by one, a batch at a time
            sized = mechanism.release(batch.map(_sized))
            found |= {received(label[0], kind): count / (spread or 1) for label, count in sized.items()}
        order = sorted(found, key=lambda value: (-found[value], in_order(value)))[:SHOWN]
        kept = tuple(ValueCount(value, found[value]) for value in order if can_be_read(value, kind))
        sd = float(mechanism.scale) if isinstance(mechanism, WeightedGaussianSelection) else float(2**0.5 / mechanism.noise.epsilon)
        return ColumnProfile(name, kind, values=kept, sd=sd, least=mechanism.error(0.5))


# ── private columns, and what is made of released counts ─────────────────────────────────────────────────────────────


def _by_place(columns: Columns, places: int) -> NDArray[np.int64]:
    at = np.zeros(places, np.int64)
    np.add.at(at, np.clip(columns["v"].astype(np.int64), 0, places - 1), np.maximum(columns["w"].astype(np.int64), 0))
    return at


def _sized(columns: Columns) -> tuple[Keys, NDArray[np.int64]]:
    return Keys((columns["k0"],)), columns["s0"].astype(np.int64)


def _codes(grids: Mapping[str, Grid]) -> dict[str, Expr]:
    return {name: grid.code(name) for name, grid in grids.items()}


def _sizes(grids: Mapping[str, Grid]) -> dict[str, int]:
    return {name: grid.codes for name, grid in grids.items()}


def _deviation(mechanism: Laplace | Gaussian, one: int) -> float:
    return float(mechanism.scale) / one * (1.0 if isinstance(mechanism, Gaussian) else 2**0.5)


def _listed(task: Task) -> tuple[Value, ...]:
    keys: Sequence[Value | None] = (False, True) if task.column.keys is None else task.column.keys
    return tuple(key for key in keys if key is not None)


def _listed_code(task: Task) -> Expr:
    """The number of a row's value in the list; then one for other values, and one for NULL."""
    values, column = _listed(task), Column(task.column.name)
    parts: list[Expr] = [call("is_null", column), Literal(len(values) + 1)]
    for i, value in enumerate(values):
        parts += [call("equal", column, Literal(value)), Literal(i)]
    return call("case", *parts, Literal(len(values)))


def _listed_profile(task: Task, found: Counts) -> ColumnProfile:
    values: tuple[Value | None, ...] = _listed(task)
    counts = found.counts
    if task.column.keys is None or None in task.column.keys:
        values, counts = (*values, None), (*counts[: len(values)], counts[-1])
    counted = tuple(ValueCount(value, count) for value, count in zip(values, counts, strict=False))
    return ColumnProfile(task.column.name, task.column.kind, values=counted, sd=found.sd)
