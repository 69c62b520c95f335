"""`discreet synthesize`."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from discreet.cli import screen
from discreet.cli.data import DataOptions
from discreet.cli.destination import FileOptions, require_writable
from discreet.cli.options import grouped
from discreet.cli.question import Analyst, QuestionDelta
from discreet.errors import Invalid
from discreet.extras import require

_ENDINGS = (".parquet", ".csv")


@grouped
def synthesize(
    data: DataOptions,
    table: Annotated[str, Argument(metavar="TABLE", help="The table; a file's table has the name of the file.")],
    epsilon: Annotated[str, Option(metavar="NUMBER", help="The price: the ε to spend on the whole table.")],
    output: Annotated[str, Option(metavar="FILE", help="Where to write the rows: a .parquet or .csv file.")],
    files: FileOptions,
    question_delta: QuestionDelta = None,
    columns: Annotated[str | None, Option(metavar="a,b,c", help="The columns to synthesize (default: all).")] = None,
    workload: Annotated[int | None, Option(metavar="NUMBER", help="Preserve the marginals of so many columns.")] = None,
    method: Annotated[str, Option(metavar="METHOD", help="auto, residuals, aim or mst.")] = "auto",
    bins: Annotated[int, Option(metavar="NUMBER", help="How many bins a numeric column has.")] = 32,
    size: Annotated[
        int | None, Option(metavar="ROWS", help="About how many records there are; too few are refused before anything is paid.")
    ] = None,
    rows: Annotated[int | None, Option(metavar="NUMBER", help="How many rows to write (default: as many as there are records).")] = None,
    device: Annotated[str, Option(metavar="DEVICE", help="Where the model is fitted: auto, cpu, or cuda (a GPU, with torch).")] = "auto",
    seconds: Annotated[
        float | None, Option(metavar="NUMBER", help="How long it may be predicted to compute (default: a minute, if the method is auto).")
    ] = None,
    report: Annotated[
        str | None, Option(metavar="FILE", help="Write how faithful the rows are, by what was measured: an .html file.")
    ] = None,
    analyst: Analyst = None,
) -> None:
    """Generate a synthetic table, pay for it from the budget, and write its rows to a file.

    The same table again is free.
    """
    if not output.lower().endswith(_ENDINGS):
        raise Invalid(f"--output: {output} is not a {' or '.join(_ENDINGS)} file. Nothing was paid; write for example --output rows.csv")
    require_writable("--output", output)
    if report is not None and not report.lower().endswith(".html"):
        raise Invalid(f"--report: {report} is not an .html file. Nothing was paid; write for example --report rows.html")
    require_writable("--report", report)
    files.require()  # before anything is paid
    is_csv = output.lower().endswith(".csv")
    if not is_csv:
        require("pyarrow")
    chosen = None if columns is None else [name.strip() for name in columns.split(",")]
    with screen.working("opening") as progress, data.open(analyst) as db:
        made = db.synthesize(
            table, epsilon, question_delta, columns=chosen, workload=workload, method=method, bins=bins, size=size, rows=rows,
            device=device, seconds=seconds, progress=lambda what, share: progress(f"{share:.0%} {what}"),
        )  # fmt: skip
        progress("writing rows")
        made.to_csv(output) if is_csv else made.to_parquet(output)
        remaining = db.remaining
    fidelity = made.report()
    screen.out.print(f"{made!r}\n{fidelity}", highlight=False, markup=False)
    screen.left(remaining)
    if report is not None:
        fidelity.to_html(report)
    files.write(made)
