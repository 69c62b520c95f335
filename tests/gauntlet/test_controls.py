"""The harness sees what it is there to see: builds that are broken on purpose, each caught on neighbouring tables."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from gauntlet import world
from gauntlet.questions import Asked
from gauntlet.replay import differences, excesses, run

from discreet.errors import Refused
from discreet.mechanisms.quantile_interval import QuantileInterval
from discreet.plan import discovery as find
from discreet.plan import scaling
from discreet.plan.bounding import Sensitivity, Votes
from discreet.plan.range_discovery import RangeDiscovery
from discreet.plan.scaling import Scaled
from discreet.private import reveal
from discreet.query.relation import write as relation
from discreet.query.statistics import mode, percentile
from discreet.run import discovery as discovering
from discreet.run import execute as execution
from discreet.run import values, write
from discreet.run.execute import execute
from discreet.run.results import PlanResults
from discreet.session import query as requests
from discreet.session import run as road

SITES = "SELECT site, COUNT(*) AS n FROM visits GROUP BY site"
TOWNS = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
TREE = "SELECT town, site, COUNT(*) AS n FROM visits GROUP BY ROLLUP (town, site)"
AGES = "SELECT SUM(age) AS s FROM visits WHERE age > 1000"
MODES = "SELECT site, MODE(dept) AS m FROM visits GROUP BY site"
SUMS = "SELECT dept, SUM(cost) AS s, COUNT(*) AS n FROM visits GROUP BY dept"
Break = Callable[[pytest.MonkeyPatch], None]


def found(asked: Asked, pairs: list[tuple[str, str]]) -> list[str]:
    """All that the harness says of these pairs."""
    wrong = []
    for before, after in pairs:
        first = run(world.session(before, asked.adjacency), asked, seed=1)
        second = run(world.session(after, asked.adjacency), asked, script=first.calls)
        wrong += differences(first, second) + excesses(first, second, asked.adjacency == "add/remove")
    return wrong


# ── how much a unit moves ────────────────────────────────────────────────────────────────────────────────────────────


def halve_sensitivity(patch: pytest.MonkeyPatch) -> None:
    sound = Scaled.of.__func__  # type: ignore[attr-defined]

    def of(cls: type[Scaled], *args: Any) -> Scaled:
        scaled = sound(cls, *args)
        return Scaled(scaled.bits, -(-scaled.l1 // 2), scaled.l2 / 2)

    patch.setattr(Scaled, "of", classmethod(of))


def halve_weight_of_quantiles(patch: pytest.MonkeyPatch) -> None:
    def halved(*, weight: int, **more: Any) -> QuantileInterval:
        return QuantileInterval(weight=-(-weight // 2), **more)

    patch.setattr(percentile, "QuantileInterval", halved)


def forget_the_second_table(patch: pytest.MonkeyPatch) -> None:
    """Replacing is paid as adding."""

    def once(sensitivity: Sensitivity, adjacency: str, signed: bool) -> Sensitivity:
        return sensitivity

    patch.setattr(scaling, "between_neighbours", once)
    for statistic in (percentile, mode):
        patch.setattr(statistic, "is_replacement", lambda adjacency: False)


def drop_clamps(patch: pytest.MonkeyPatch) -> None:
    """Declared bounds are believed of values that are not within them."""
    patch.setattr(relation, "read_column", lambda column, text, dialect: text)
    patch.setattr(values, "_clamp", lambda text, low, high, kind: f"CAST({text} AS {kind})")
    sound = values._factor

    def unclamped(factor: Any, *rest: Any) -> str:
        return sound(evolve(factor, grid=evolve(factor.grid, most=2**40)), *rest)

    patch.setattr(values, "_factor", unclamped)


def do_not_weigh(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(write, "_pair_weight", lambda bounding, rows, groups, dialect: str(bounding.one))
    patch.setattr(write, "_group_weight", lambda limit, one, dialect: str(one))
    sound = write._rows_weighted
    patch.setattr(write, "_rows_weighted", lambda rows, bounding, *rest: sound(rows, evolve(bounding, rows=10**6), *rest))


def vote_with_every_row(patch: pytest.MonkeyPatch) -> None:
    """A unit votes for a value as often as it has rows with it."""
    sound = execution.write_votes

    def each_row(source: Any, expr: Any, value: str, votes: Any) -> Any:
        statement, once = sound(source, expr, value, votes), f" GROUP BY {', '.join(['__unit', *source.key_names, 'v'])}"
        assert once in statement.text
        return evolve(statement, text=statement.text.replace(once, "", 1))

    patch.setattr(execution, "write_votes", each_row)


def pay_for_one_group(patch: pytest.MonkeyPatch) -> None:
    """The winner of each group is priced as if it were the only one."""
    patch.setattr(Votes, "weight", property(lambda self: self.one))


def round_weights_up(patch: pytest.MonkeyPatch) -> None:
    """A unit of many rows is worth a little more than it pays for."""
    sound = write._rows_weighted

    def up(rows: str, bounding: Any, kept: Any, weighed: Any, dialect: Any) -> str:
        text = sound(rows, bounding, kept, weighed, dialect)
        down = dialect.floor_divide(str(bounding.one * bounding.rows), "u.n")
        assert down in text
        return text.replace(down, f"CAST(CEIL({bounding.one * bounding.rows} / u.n) AS BIGINT)")

    patch.setattr(write, "_rows_weighted", up)


def do_not_pay_for_rounding(patch: pytest.MonkeyPatch) -> None:
    sound = Scaled.of.__func__  # type: ignore[attr-defined]

    def of(cls: type[Scaled], *args: Any) -> Scaled:
        scaled = sound(cls, *args)
        return evolve(scaled, l1=scaled.l1 - args[3] - 1) if scaled.bits else scaled  # the number of cells

    patch.setattr(Scaled, "of", classmethod(of))


def halve_sensitivity_of_finds(patch: pytest.MonkeyPatch) -> None:
    sound = find.search
    patch.setattr(find, "search", lambda *args: evolve(sound(*args), sensitivity=Fraction(1, 2)))


def halve_sensitivity_of_ranges(patch: pytest.MonkeyPatch) -> None:
    sound = RangeDiscovery._laplace
    patch.setattr(RangeDiscovery, "_laplace", lambda self, epsilon: evolve(sound(self, epsilon), sensitivity=2**19))


def do_not_cap(patch: pytest.MonkeyPatch) -> None:
    """Each unit votes for all of its groups when groups are found."""
    sound = discovering.write_capped
    patch.setattr(discovering, "write_capped", lambda source, value, most, *rest, **more: sound(source, value, 99 * most, *rest, **more))


ROWS, GROUPS = {"rows": 3}, {"groups": 2, "per_group": 2}
EDGES, MANY = [("base", "base+edges")], [("base", "base+everywhere")]
MOVED: list[tuple[Break, Asked, list[tuple[str, str]], str]] = [
    (halve_sensitivity, Asked(SUMS, ROWS, "0", "add/remove"), EDGES, "ℓ1"),
    (halve_sensitivity, Asked(SUMS, GROUPS, "0", "add/remove"), EDGES, "ℓ1"),
    (halve_sensitivity, Asked(SITES, {"groups": 9, "per_group": 1}, "0.01", "add/remove"), MANY, "ℓ2²"),
    (halve_weight_of_quantiles, Asked("SELECT MEDIAN(cost) AS m FROM visits", ROWS, "0", "add/remove"), EDGES, "QuantileInterval"),
    (forget_the_second_table, Asked(SUMS, ROWS, "0", "replace-one"), [("base+edges", "base+lowest")], "ℓ1"),
    (drop_clamps, Asked(AGES, ROWS, "0", "add/remove"), [("base", "base+infinite")], "Laplace"),
    (do_not_weigh, Asked(SUMS, ROWS, "0", "add/remove"), MANY, "ℓ1"),
    (do_not_weigh, Asked(SUMS, GROUPS, "0", "add/remove"), MANY, "ℓ1"),
    (do_not_weigh, Asked("SELECT site, MEDIAN(cost) AS m FROM visits GROUP BY site", GROUPS, "0", "add/remove"), MANY, "weight"),
    (do_not_weigh, Asked(MODES, GROUPS, "0.01", "add/remove"), MANY, "NoisyMax"),
    (vote_with_every_row, Asked("SELECT MODE(dept) AS m FROM visits", ROWS, "0.01", "add/remove"), MANY, "NoisyMax"),
    (vote_with_every_row, Asked(MODES, GROUPS, "0.01", "add/remove"), [("base", "base+crowd")], "NoisyMax"),
    (pay_for_one_group, Asked(MODES, GROUPS, "0.01", "add/remove"), MANY, "NoisyMax"),
    (forget_the_second_table, Asked(MODES, GROUPS, "0.01", "replace-one"), [("base+edges", "base+lowest")], "NoisyMax"),
    (round_weights_up, Asked("SELECT COUNT(*) AS n FROM visits", {"rows": 7}, "0", "add/remove"), [("base", "base+crowd")], "ℓ1"),
    (do_not_pay_for_rounding, Asked("SELECT SUM(cost) AS s FROM visits", {"rows": 1}, "0", "add/remove"), [("base", "base+huge")], "ℓ1"),
    (halve_sensitivity_of_finds, Asked("SELECT COUNT(*) AS n FROM visits", None, "0", "add/remove"), MANY, "a score"),
    (halve_sensitivity_of_ranges, Asked("SELECT SUM(free) AS n FROM visits", ROWS, "0", "add/remove"), MANY, "ℓ1"),
    (do_not_cap, Asked(TOWNS, {"rows": 1}, "0.01", "add/remove"), MANY, "groups"),
    (do_not_cap, Asked(TREE, {"rows": 1}, "0.01", "add/remove"), MANY, "groups"),
    (do_not_weigh, Asked(TREE, {"rows": 1}, "0.01", "add/remove"), MANY, "ℓ"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("broken", "asked", "pairs", "named"), MOVED, ids=[f"{broken.__name__}-{i}" for i, (broken, *_) in enumerate(MOVED)]
)
def test_a_unit_that_moves_too_much(
    broken: Break, asked: Asked, pairs: list[tuple[str, str]], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found(asked, pairs) == []
    broken(monkeypatch)
    assert any(named in what and "move" in what for what in found(asked, pairs))


# ── what an onlooker sees ────────────────────────────────────────────────────────────────────────────────────────────


def patched_execute(patch: pytest.MonkeyPatch, around: Callable[[Any, Any], PlanResults]) -> None:
    patch.setattr(road, "execute", lambda plan, engine, progress=None: around(plan, engine))


def counts_in(engine: Any, limit: str = "") -> list[str]:
    """What a careless build might look at: the groups in the order in which the engine has them."""
    (names,) = reveal(engine.run(f"SELECT dept FROM visits {limit}")).values()
    return list(dict.fromkeys(str(name) for name in names.tolist()))


def order_by_the_data(patch: pytest.MonkeyPatch) -> None:
    def around(plan: Any, engine: Any) -> PlanResults:
        answers, seen = execute(plan, engine), counts_in(engine, "GROUP BY dept ORDER BY COUNT(*), MAX(cost)")
        order = sorted(
            range(len(answers.groups)), key=lambda i: seen.index(str(answers.groups[i][0])) if str(answers.groups[i][0]) in seen else 99
        )
        totals = {of: values[order] for of, values in answers.totals.items()}
        return evolve(answers, groups=tuple(answers.groups[i] for i in order), totals=totals)

    patched_execute(patch, around)


def leave_empty_groups_out(patch: pytest.MonkeyPatch) -> None:
    def around(plan: Any, engine: Any) -> PlanResults:
        answers, seen = execute(plan, engine), counts_in(engine)
        kept = [i for i, group in enumerate(answers.groups) if str(group[0]) in seen]
        totals = {of: values[kept] for of, values in answers.totals.items()}
        return evolve(answers, groups=tuple(answers.groups[i] for i in kept), totals=totals)

    patched_execute(patch, around)


def look_again_if_a_group_is_empty(patch: pytest.MonkeyPatch) -> None:
    def around(plan: Any, engine: Any) -> PlanResults:
        if len(counts_in(engine)) < len(plan.groups):
            counts_in(engine)
        return execute(plan, engine)

    patched_execute(patch, around)


def fail_on_null(patch: pytest.MonkeyPatch) -> None:
    sound = values._factor

    def unfilled(factor: Any, columns: Any, *rest: Any) -> str:
        return f"CASE WHEN {columns[factor.expr]} IS NULL THEN error('NULL') ELSE {sound(factor, columns, *rest)} END"

    patch.setattr(values, "_factor", unfilled)


def say_what_is_wrong(patch: pytest.MonkeyPatch) -> None:
    """An error of our own making that names what was found."""

    def around(plan: Any, engine: Any) -> PlanResults:
        if "None" in counts_in(engine):
            raise Refused("a department is missing")
        return execute(plan, engine)

    patched_execute(patch, around)


def pay_after(patch: pytest.MonkeyPatch) -> None:
    sound = road.release

    def release(plan: Any, pipeline: Any, *rest: Any) -> Any:
        execute(plan.steps, pipeline.engine)
        return sound(plan, pipeline, *rest)

    patch.setattr(requests, "release", release)


def price_by_the_data(patch: pytest.MonkeyPatch) -> None:
    sound = road.release

    def release(plan: Any, pipeline: Any, confidence: Any, note: str, progress: Any) -> Any:
        with pipeline.engine._lock:
            rows = pipeline.engine._execute("SELECT COUNT(*) AS n FROM visits")["n"][0]
        return sound(plan, pipeline, confidence, f"{note} of {rows} rows", progress)

    patch.setattr(requests, "release", release)


def tell(how: Callable[[str], None]) -> Break:
    def broken(patch: pytest.MonkeyPatch) -> None:
        def around(plan: Any, engine: Any) -> PlanResults:
            how(f"{len(counts_in(engine))} groups")
            return execute(plan, engine)

        patched_execute(patch, around)

    return broken


def skip_a_mechanism(patch: pytest.MonkeyPatch) -> None:
    """Nothing is added to a group in which nobody is: the mechanism is passed by."""

    def around(plan: Any, engine: Any) -> PlanResults:
        few = evolve(plan, totals=plan.totals[:1]) if "none" not in counts_in(engine) else plan
        answers = execute(few, engine)
        whole = {noisy.total: answers.totals.get(noisy.total, np.zeros(len(answers.groups), np.int64)) for noisy in plan.totals}
        return evolve(answers, plan=plan, totals=whole)

    patched_execute(patch, around)


ASKED = Asked(SUMS, ROWS, "0", "add/remove")
ALL = Asked("SELECT SUM(cost) AS s FROM visits", ROWS, "0", "add/remove")
ALONE = [
    ("empty", "empty+edges"),
    ("empty", "empty+missing"),
    ("base", "base+missing"),
    ("base", "base+everywhere"),
    ("base+everywhere", "base"),
]
SHOWN: dict[str, tuple[Break, str]] = {
    "order": (order_by_the_data, "response"),
    "groups left out": (leave_empty_groups_out, "rows"),
    "one statement more": (look_again_if_a_group_is_empty, "statements"),
    "an error of the engine": (fail_on_null, "error"),
    "an error of ours": (say_what_is_wrong, "error"),
    "paid after reading": (pay_after, "read before paying"),
    "a note in the ledger": (price_by_the_data, "debits"),
    "a line in the log": (tell(logging.getLogger("discreet").debug), "log"),
    "a line on the screen": (tell(print), "printed"),
    "a warning": (tell(lambda text: warnings.warn(text, stacklevel=2)), "log"),
    "a mechanism passed by": (skip_a_mechanism, "mechanisms"),
}


@pytest.fixture(scope="module", autouse=True)
def _sound_again() -> Iterator[None]:
    """Whatever was broken here is whole for those who come after."""
    yield
    assert found(ASKED, ALONE) + found(ALL, ALONE) == []


@pytest.mark.parametrize("name", SHOWN)
def test_something_that_varies_with_the_data(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, named = SHOWN[name]
    broken(monkeypatch)
    wrong = found(ALL if broken is fail_on_null else ASKED, ALONE)
    assert any(what.startswith(named) for what in wrong), wrong
