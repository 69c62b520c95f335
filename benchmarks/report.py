"""What a workload reports: aligned plain-text tables, and goals with what was measured for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import field, frozen


@frozen
class Table:
    """Rows of text under headings; the first columns are labels and lean left, numbers lean right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    labels: int = 1

    def __str__(self) -> str:
        lines = [list(self.columns), *map(list, self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]

        def aligned(line: Sequence[str]) -> str:
            cells = [cell.ljust(w) if i < self.labels else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))]
            return "  ".join(cells).rstrip()

        rule = "  ".join("─" * w for w in widths)
        return "\n".join([self.title, "", aligned(self.columns), rule, *map(aligned, self.rows), *("· " + note for note in self.notes)])


@frozen
class Goal:
    """A promise about speed; `met` is None when it could not be measured."""

    what: str
    target: str
    measured: str
    met: bool | None

    @classmethod
    def at_least(cls, what: str, target: float, ratio: float | None) -> Goal:
        """A ratio that must be reached."""
        return cls(what, f"≥ {target:g}×", times(ratio), None if ratio is None else ratio >= target)

    @classmethod
    def at_most(cls, what: str, target: float, seconds: float | None) -> Goal:
        """A time that must not be exceeded."""
        return cls(what, f"≤ {duration(target)}", duration(seconds), None if seconds is None else seconds <= target)

    @classmethod
    def within(cls, what: str, target: float, ratio: float | None) -> Goal:
        """A ratio that must not be exceeded."""
        return cls(what, f"≤ {target:g}×", times(ratio), None if ratio is None else ratio <= target)


@frozen
class Report:
    """The outcome of one workload."""

    tables: list[Table]
    goals: list[Goal] = field(factory=list)


def summary(goals: Sequence[Goal]) -> Table:
    """Goal, measured, met or not."""
    said = {True: "met", False: "NOT MET", None: "not measured"}
    return Table("Goals", ["goal", "target", "measured", ""], [[g.what, g.target, g.measured, said[g.met]] for g in goals])


def progress(about: str) -> Callable[[str], None]:
    """Say at once what was done, for whoever waits; it is not part of the report."""
    return lambda done: print(f"  {about}: {done}", flush=True)


def times(ratio: float | None) -> str:
    """A ratio with three significant digits.

    >>> times(1.2345), times(0.04567), times(12345), times(None)
    ('1.23×', '0.046×', '12,345×', '–')
    """
    if ratio is None:
        return "–"
    return f"{ratio:,.0f}×" if ratio >= 100 else f"{ratio:.1f}×" if ratio >= 10 else f"{ratio:.2f}×" if ratio >= 0.1 else f"{ratio:.3f}×"


def duration(seconds: float | None) -> str:
    """A time in the unit that suits it.

    >>> duration(1.5), duration(0.0123), duration(4.56e-6), duration(None)
    ('1.50 s', '12.3 ms', '4.56 µs', '–')
    """
    if seconds is None:
        return "–"
    unit, size = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)) if seconds >= s), ("ns", 1e-9))
    return f"{seconds / size:.3g} {unit}" if seconds / size >= 10 else f"{seconds / size:.2f} {unit}"


def millions(seconds_each: float | None) -> str:
    """A rate in millions each second."""
    if not seconds_each:
        return "–"
    rate = 1e-6 / seconds_each
    return f"{rate:.0f}" if rate >= 100 else f"{rate:.1f}" if rate >= 10 else f"{rate:.2f}" if rate >= 0.1 else f"{rate:.3f}"


def power(size: int) -> str:
    """A power of ten as people write it.

    >>> power(1), power(10), power(1000)
    ('1', '10', '10³')
    """
    return str(size) if size < 1000 else "10" + str(len(str(size)) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
