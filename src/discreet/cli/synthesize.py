"""`discreet synthesize`."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from discreet.cli import screen
from discreet.cli.ask import (
    Adjacency,
    Analyst,
    Bounds,
    Budget,
    Data,
    DataVersion,
    Delta,
    EachRow,
    Engine,
    Keys,
    LedgerPath,
    Limits,
    OneRow,
    QuestionDelta,
    Types,
    Unit,
    WitnessPath,
)  # fmt: skip
from discreet.cli.destination import require_drawable, require_writable
from discreet.cli.source import Declared, open_data
from discreet.errors import Invalid
from discreet.extras import require

_ENDINGS = (".parquet", ".csv")


def synthesize(
    data: Data,
    table: Annotated[str, Argument(metavar="TABLE", help="The table; a file's is called as the file.")],
    output: Annotated[str, Option(metavar="FILE", help="Where the rows go: a .parquet or .csv file.")],
    epsilon: Annotated[str, Option(help="What the whole table may cost.")],
    question_delta: QuestionDelta = None,
    columns: Annotated[str | None, Option(metavar="a,b,c", help="Only these columns.")] = None,
    workload: Annotated[int | None, Option(metavar="3", help="Marginals of so many columns should be right.")] = None,
    method: Annotated[str, Option(help="auto, residuals, aim or mst.")] = "auto",
    bins: Annotated[int, Option(help="Of numbers.")] = 32,
    size: Annotated[int | None, Option(help="About how many records there are; refused if that is too few, before paying.")] = None,
    plot: Annotated[str | None, Option(metavar="FILE", help="Draw the columns beside what was measured, as PNG, SVG or PDF.")] = None,
    save: Annotated[str | None, Option(metavar="FILE", help="Keep all of it, for `Synthetic.load`.")] = None,
    unit: Unit = None,
    each_row: EachRow = False,
    budget: Budget = None,
    delta: Delta = None,
    bounds: Bounds = None,
    keys: Keys = None,
    contributions: Limits = None,
    type_: Types = None,
    one_row_per_unit: OneRow = False,
    adjacency: Adjacency = None,
    data_version: DataVersion = None,
    ledger: LedgerPath = None,
    witness: WitnessPath = None,
    engine: Engine = None,
    analyst: Analyst = None,
) -> None:
    """Make a synthetic table, pay for it, and write its rows. The same table again is free."""
    if not output.lower().endswith(_ENDINGS):
        raise Invalid(f"--output: rows are written as {' or '.join(_ENDINGS)}; end the file's name so. Nothing was paid")
    for option, file in (("--output", output), ("--save", save), ("--plot", plot)):
        require_writable(option, file)  # before anything is paid
    if output.lower().endswith(".parquet"):
        require("pyarrow")
    if plot is not None:
        require_drawable(plot)
    said = Declared(
        unit, each_row, budget, delta, tuple(bounds or ()), tuple(keys or ()), contributions, tuple(type_ or ()),
        one_row_per_unit, adjacency, data_version, ledger, witness, engine,
    )  # fmt: skip
    chosen = None if columns is None else [name.strip() for name in columns.split(",")]
    with screen.working("opening") as progress, open_data(data, said, analyst) as db:
        made = db.synthesize(
            table, epsilon, question_delta, columns=chosen, workload=workload, method=method, bins=bins, size=size,
            progress=lambda what, share: progress(f"{share:.0%} {what}"),
        )  # fmt: skip
        progress("making rows")
        made.to_csv(output) if output.lower().endswith(".csv") else made.to_parquet(output)
        remaining = db.remaining
    screen.out.print(repr(made), highlight=False, markup=False)
    screen.left(remaining)
    if save is not None:
        made.save(save)
    if plot is not None:
        made.plot(plot)
