"""The demonstration: six private questions on a million made-up visits, each with its error known first, and what is refused."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from rich.markup import escape
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text
from typer import Option

from discreet.address import credentials, is_address, without_credentials
from discreet.cli import textbook as mechanisms
from discreet.cli.hospital import HOSTILE, PEOPLE, POLICY, QUESTIONS, TABLES, TOO_MUCH, VISITS, Asked
from discreet.cli.screen import gauge, out, working
from discreet.engines.duckdb.generate import as_csv, exact_rows, write_tables
from discreet.errors import Error
from discreet.explain.forecast import Forecast
from discreet.ledger.price import amount
from discreet.plots.table import Series, decimals, format_cell, format_value
from discreet.session.plan import Plan
from discreet.session.project import FILE, open_project
from discreet.session.release import Release
from discreet.session.session import Session

SIZE = 100_000  # of the groups that forecasts are for
MOST = 12  # rows shown of each answer
SCHEMA = "discreet_demo"  # in a database
_COUNT = ('SELECT COUNT(*) AS n FROM "mine"', "--unit", "person_id", "--budget", "1", "--epsilon", "0.1")
OWN_FILE = (("explain", "mine.csv", *_COUNT), ("ask", "mine.csv", *_COUNT), ("init", "mine.csv"))  # what to try next
Files = Mapping[str, Path]


def demo(
    folder: Annotated[str | None, Option(metavar="FOLDER", help="Where to put its files; a new temporary folder if not said.")] = None,
    engine: Annotated[
        str | None, Option(metavar="ENGINE", help='"spark", or the address of a database, "postgresql://…"; DuckDB if not said.')
    ] = None,
    textbook: Annotated[bool, Option("--textbook", help="Mechanisms and accounting alone, without tables.")] = False,
) -> None:
    """Ask six private questions of a million made-up hospital visits."""
    if textbook:
        mechanisms.main()
        return
    place = Path(folder) if folder is not None else Path(tempfile.mkdtemp(prefix="discreet-demo-"))
    place.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    with working("making up a million visits"):
        files = write_tables(place, TABLES)
        (place / FILE).write_text(_policy(engine, files), encoding="utf-8")
    _begin(time.perf_counter() - began)
    with working("opening"):
        db = open_project(place)
    with db:
        first, second, *_ = [_ask(number, asked, db, files) for number, asked in enumerate(QUESTIONS, 1)]
        _again(db)
        _refusals(db)
    _keep(first, second, place)
    out.print(f"[dim]{time.perf_counter() - began:.1f} seconds in all, with setting up[/dim]\n")
    _next()


def _policy(engine: str | None, files: Files) -> str:
    """The policy, with the tables where the engine finds them; nothing else in it changes."""
    if engine is None or engine == "duckdb":
        return POLICY
    if not is_address(engine):
        return f'engine = "{engine}"\n{POLICY}'
    from discreet.engines.postgres.load import load_tables

    load_tables(engine, SCHEMA, as_csv(files))
    for variable, value in credentials(engine).items():  # they are not written down
        os.environ[variable] = value
    policy = POLICY
    for name in files:
        policy = policy.replace(f'"{name}.parquet"', f'"{without_credentials(engine)}#{SCHEMA}.{name}"')
    return policy


def _begin(took: float) -> None:
    out.print()
    out.print(Rule("discreet", style="cyan"))
    out.print(
        f"[bold]{VISITS:,} visits by {PEOPLE:,} people[/bold] who do not exist: everything here is made up [dim]({took:.1f} s)[/dim]."
    )
    out.print("Each person is protected with all of their visits. All answers together may cost ε = 3, δ = 10⁻⁶.")
    out.print("[dim]forecast: the error, known before paying · exactly: without noise, which only made-up people allow[/dim]\n")


def _ask(number: int, asked: Asked, db: Session, files: Files) -> Release:
    out.print(f"[bold cyan]{number}. {escape(asked.title)}[/bold cyan]  [dim]{escape(asked.about)}[/dim]", soft_wrap=True)
    out.print(Padding(Text(asked.sql, style="italic"), (0, 0, 0, 2), expand=False))
    query = db.sql(asked.sql)
    plan = query.plan(asked.epsilon)
    began = time.perf_counter()
    with working("asking"):
        release = query.release(asked.epsilon)
    took = time.perf_counter() - began
    out.print(Padding(_beside(release, plan, asked.guess, exact_rows(files, asked.sql)), (0, 0, 0, 2), expand=False))
    _left(db, asked.epsilon, took)
    return release


def _beside(release: Release, plan: Plan, guess: Mapping[str, float], exact: list[tuple[Any, ...]]) -> Table:
    """The answer with its error, what was forecast for a group of that size, and what it would be with neither noise nor limits."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    names, series = [column.name for column in release.columns], release.series
    forecast = plan.error(size=SIZE)
    for column in series:
        table.add_column(Text(column.name), justify="left" if column.is_key or not column.to_the_right else "right", no_wrap=True)
        if column.name in forecast:
            table.add_column("forecast", justify="right", no_wrap=True)
            table.add_column("exactly", justify="right", no_wrap=True)
    known = {tuple(row[names.index(key)] for key in release.keys): dict(zip(names, row, strict=True)) for row in exact}
    for answer, row in zip(release.rows[:MOST], range(MOST), strict=False):
        without = known.get(tuple(answer[key] for key in release.keys), {})
        here = plan.error(size=max(int(answer.get("visits", SIZE)), 1), at=guess)
        table.add_row(*(text for column in series for text in _cells(column, row, here, without)))
    if len(release) > MOST:
        table.add_row(Text(f"… and {len(release) - MOST} more", style="dim"))
    shown = {tuple(row[key] for key in release.keys) for row in release}
    hidden = [f"{row['visits']:,}" for group, row in known.items() if group not in shown]
    if hidden:
        table.add_row(Text(f"({len(hidden)} hidden)", style="yellow"), "", "", Text(", ".join(hidden), style="dim"))
    return table


def _cells(column: Series, row: int, forecast: Forecast, without: Mapping[str, Any]) -> list[Text]:
    found = format_cell(column, row)
    shown = Text(found.value, style="" if column.is_key else "bold green")
    shown.append(f" {found.error}" if found.error else "", style="green")
    if column.name not in forecast:
        return [shown]
    width, value = forecast[column.name], without.get(column.name)
    if column.name in forecast.ranks:
        of = "ranks" if isinstance(value, float) else "votes"
        return [shown, Text(f"± {width:,.0f} {of}", style="dim"), Text(format_value(value, grouped=True), style="dim")]
    digits = decimals(width) if isinstance(width, float) else 0
    return [shown, Text(f"± {width:,.{digits}f}", style="dim"), Text(f"{value:,.{digits}f}", style="dim")]


def _left(db: Session, paid: str, took: float) -> None:
    left = db.remaining.epsilon
    assert left is not None
    line = Text("  budget ").append_text(gauge(3 - float(left), 3.0, 24))
    out.print(line, f"ε = {amount(left)} left [dim]· paid {paid} · {took:.2f} s[/dim]\n")


def _again(db: Session) -> None:
    again = db.sql(QUESTIONS[0].sql).release(QUESTIONS[0].epsilon)
    out.print(
        "[bold cyan]Again?[/bold cyan] The first question once more:",
        "the same answer, [green]free[/green]." if again.repeated else "paid.",
    )


def _refusals(db: Session) -> None:
    out.print("[bold cyan]What is refused[/bold cyan]")
    for sql, epsilon in ((HOSTILE, "0.1"), TOO_MUCH):
        out.print(Text(f"  {sql}   at ε = {epsilon}", style="italic"))
        try:
            db.sql(sql).release(epsilon)
        except Error as refusal:
            out.print(Padding(Text("✗ ", style="red") + Text(str(refusal), style="default"), (0, 0, 0, 2), expand=False))
    out.print()


def _keep(first: Release, second: Release, place: Path) -> None:
    first.save(place / "visits.json")
    lines = [_typed("verify", str(place / "visits.json"), "--ledger", str(place)), _typed("budget", str(place))]
    try:
        second.plot(place / "mean_cost.png", column="mean_cost")
        lines.insert(0, f"{place / 'mean_cost.png'}   (the second answer, with error bars)")
    except Error as missing:
        out.print(Text(f"no plot: {missing}", style="yellow"))
    out.print("[bold cyan]Left for you[/bold cyan]")
    for line in lines:
        out.print(Text(f"  {line}"), soft_wrap=True)


def _next() -> None:
    out.print(
        "[bold cyan]Next, on a file of your own[/bold cyan]  [dim]the price and the error, free · the answer · a policy to edit[/dim]"
    )
    out.print("[dim]Replace mine.csv and mine (the name without its ending), and person_id (the column that says whose row it is).[/dim]")
    for words in OWN_FILE:
        out.print(Text(f"  {_typed(*words)}"), soft_wrap=True)


def _typed(*words: str) -> str:
    """A line that runs as it stands in this folder and this environment."""
    beside = Path(sys.executable).with_name("discreet.exe" if os.name == "nt" else "discreet")
    on_path = shutil.which("discreet")
    if on_path is not None and beside.exists() and beside.samefile(on_path):
        command = ["discreet"]
    elif beside.exists():  # the environment is not activated, as after `make demo`
        near = beside.is_relative_to(Path.cwd())
        command = [str(beside.relative_to(Path.cwd()) if near else beside)]
    else:
        command = [sys.executable, "-m", "discreet"]
    return (subprocess.list2cmdline if os.name == "nt" else shlex.join)([*command, *words])
