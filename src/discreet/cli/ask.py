"""`discreet ask` and `discreet explain`."""

from __future__ import annotations

import sys
from typing import Annotated

from typer import Argument, Option

from discreet.cli import screen
from discreet.cli.destination import require_drawable, require_writable, write
from discreet.cli.output import print_json
from discreet.cli.source import Declared, open_data, wished
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.session.query import Query
from discreet.session.release import Release
from discreet.session.session import Session

Data = Annotated[
    str, Argument(metavar="DATA", help="A Parquet or CSV file, the address of a database, or a discreet.toml (or its folder).")
]
Sql = Annotated[str, Argument(metavar="SQL", help="The question; - reads it from stdin.")]
Epsilon = Annotated[str | None, Option(help="What this question may cost.")]
QuestionDelta = Annotated[str | None, Option(help="The δ of this question; 1/32 of the budget's if not said.")]
Wished = Annotated[list[str] | None, Option("--error", metavar="COLUMN=5", help="Pay the least ε for this error instead.")]
Size = Annotated[int | None, Option(help="The size of the groups whose error matters.")]
Confidence = Annotated[str, Option(help="Of intervals and forecasts.")]
Other = Annotated[bool, Option("--other", help="One more group for all rows whose group is not shown.")]
Unit = Annotated[str | None, Option(metavar="COLUMN", help="The column that names the protected person.", rich_help_panel="Data file")]
EachRow = Annotated[bool, Option("--each-row", help="Protect each row by itself.", rich_help_panel="Data file")]
Budget = Annotated[str | None, Option(help="The whole ε, for all questions ever; said once.", rich_help_panel="Data file")]
Delta = Annotated[str | None, Option(help="The whole δ, said with --budget.", rich_help_panel="Data file")]
Bounds = Annotated[list[str] | None, Option(metavar="COLUMN=0:500", help="Bounds of a number.", rich_help_panel="Data file")]
Keys = Annotated[list[str] | None, Option(metavar="COLUMN=a,b,c", help="Groups that are public.", rich_help_panel="Data file")]
Limits = Annotated[
    str | None, Option(metavar="rows=10", help="How much of one person counts; or groups=3,per_group=5.", rich_help_panel="Data file")
]
Types = Annotated[
    list[str] | None, Option("--type", metavar="COLUMN=real", help="The type of a CSV file's column.", rich_help_panel="Data file")
]
OneRow = Annotated[bool, Option("--one-row-per-unit", help="Nobody ever has two rows.", rich_help_panel="Data file")]
Adjacency = Annotated[str | None, Option(metavar="add/remove", help="Or replace-one.", rich_help_panel="Data file")]
DataVersion = Annotated[str | None, Option(help="Of the data; another one makes old answers stale.", rich_help_panel="Data file")]
LedgerPath = Annotated[
    str | None,
    Option(
        "--ledger", metavar="PLACE", help="A file or the address of a database; beside the data if not said.", rich_help_panel="Data file"
    ),
]
WitnessPath = Annotated[str | None, Option("--witness", metavar="FILE", help="Of the ledger.", rich_help_panel="Data file")]


Engine = Annotated[
    str | None, Option(metavar="spark", help="Which engine reads the file; DuckDB if not said.", rich_help_panel="Data file")
]
Analyst = Annotated[str | None, Option(metavar="NAME", help="Who asks and pays, where analysts have budgets of their own.")]


def ask(
    data: Data,
    sql: Sql,
    epsilon: Epsilon = None,
    question_delta: QuestionDelta = None,
    error: Wished = None,
    size: Size = None,
    confidence: Confidence = "0.95",
    other: Other = False,
    as_json: Annotated[bool, Option("--json", help="Print the release as JSON, receipt and all.")] = False,
    as_csv: Annotated[bool, Option("--csv", help="Print the rows as CSV, with intervals; texts like =1+1 get an apostrophe.")] = False,
    plot: Annotated[str | None, Option(metavar="FILE", help="Draw it into a PNG, SVG or PDF file.")] = None,
    save: Annotated[str | None, Option(metavar="FILE", help="Keep answers and receipt, for `discreet verify`.")] = None,
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
    """Ask a question, pay for it, and print the answer with its error. The same question again is free."""
    if as_json and as_csv:
        raise Invalid("give --json or --csv, not both")
    for option, file in (("--save", save), ("--plot", plot)):
        require_writable(option, file)  # before anything is paid
    if plot is not None:
        require_drawable(plot)
    said = Declared(
        unit, each_row, budget, delta, tuple(bounds or ()), tuple(keys or ()), contributions, tuple(type_ or ()),
        one_row_per_unit, adjacency, data_version, ledger, witness, engine,
    )  # fmt: skip
    with screen.working("opening") as progress, open_data(data, said, analyst) as db:
        query = _query(db, sql, other)
        price = _price(query, epsilon, error, size, confidence, question_delta)
        release = query.release(price, question_delta, confidence=confidence, progress=progress)
        remaining = db.remaining
    _print(release, as_json, as_csv)
    if not as_json and not as_csv:
        screen.left(remaining)
    if save is not None:
        release.save(save)
    if plot is not None:
        release.plot(plot)


def explain(
    data: Data,
    sql: Sql,
    epsilon: Epsilon = None,
    question_delta: QuestionDelta = None,
    error: Wished = None,
    size: Size = None,
    confidence: Confidence = "0.95",
    other: Other = False,
    as_json: Annotated[bool, Option("--json", help="As plain values.")] = False,
    html: Annotated[str | None, Option(metavar="FILE", help="Write a page.")] = None,
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
    """Say what a question would do, cost and err, and why that is private. Reads no row and spends nothing."""
    said = Declared(
        unit, each_row, budget, delta, tuple(bounds or ()), tuple(keys or ()), contributions, tuple(type_ or ()),
        one_row_per_unit, adjacency, data_version, ledger, witness, engine,
    )  # fmt: skip
    require_writable("--html", html)
    with open_data(data, said, analyst) as db:
        query = _query(db, sql, other)
        plan = query.plan(_price(query, epsilon, error, size, confidence, question_delta), question_delta)
        explained = plan.explain()
    if html is not None:
        write(html, explained.to_html())
    elif as_json:
        print_json(explained.to_json(), indent=2)
    else:
        screen.explained(explained)


def _query(db: Session, sql: str, other: bool) -> Query:
    return db.sql(sys.stdin.read() if sql == "-" else sql, other=other)


def _price(
    query: Query, epsilon: str | None, error: list[str] | None, size: int | None, confidence: str, delta: str | None
) -> Number | None:
    """The ε that was said, or the least for a wished error; None leaves it to the question's own text."""
    wishes = wished(error or ())
    if wishes is None:
        if epsilon is None and query.question.epsilon is None:
            raise Invalid(
                "say how much this question may cost: --epsilon 0.1; or how close it must be: --error COLUMN=5, perhaps with --size"
            )
        return epsilon
    if epsilon is not None:
        raise Invalid("give --epsilon or --error, not both: one follows from the other")
    try:
        return query.price(wishes, size=size, confidence=confidence, delta=delta)
    except Invalid as error:
        raise Invalid(str(error).replace("size=…", "--size 1000")) from None


def _print(release: Release, as_json: bool, as_csv: bool) -> None:
    if as_json:
        print_json(screen.plain_values(release))
    elif as_csv:
        print(release.to_csv(), end="")
    else:
        screen.show(release)
