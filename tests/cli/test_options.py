"""Groups of options: declared once, shared by commands, and built before the command runs."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from attrs import Factory, frozen
from typer import Argument, Option, Typer
from typer.main import get_command
from typer.testing import CliRunner

from discreet.cli.app import COMMANDS
from discreet.cli.data import DataOptions
from discreet.cli.options import grouped


@frozen
class Place:
    data: Annotated[str, Argument()]
    bounds: Annotated[list[str], Option()] = Factory(list)
    each_row: Annotated[bool, Option("--each-row")] = False


@frozen
class Cost:
    epsilon: Annotated[str, Option()]
    level: Annotated[str, Option(help="The level.")] = "0.95"


@pytest.fixture
def seen() -> list[Any]:
    return []


@pytest.fixture
def app(seen: list[Any]) -> Typer:
    made = Typer()

    @made.command()
    @grouped
    def first(place: Place, sql: Annotated[str, Argument()], cost: Cost, quick: Annotated[bool, Option("--quick")] = False) -> None:
        """The first."""
        seen.append((place, sql, cost, quick))

    @made.command()
    @grouped
    def second(place: Place) -> None:
        """The second."""
        seen.append(place)

    return made


def test_groups_are_built_from_what_was_typed(app: Typer, seen: list[Any]) -> None:
    words = ["first", "a.csv", "SELECT 1", "--epsilon", "0.1", "--bounds", "x=0:1", "--bounds", "y=0:2", "--each-row", "--quick"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert seen == [(Place("a.csv", ["x=0:1", "y=0:2"], True), "SELECT 1", Cost("0.1"), True)]


def test_defaults_are_those_of_the_class_and_are_not_shared(app: Typer, seen: list[Any]) -> None:
    for _ in range(2):
        assert CliRunner().invoke(app, ["second", "a.csv"]).exit_code == 0
    assert seen == [Place("a.csv"), Place("a.csv")]
    seen[0].bounds.append("x=0:1")
    assert CliRunner().invoke(app, ["second", "a.csv"]).exit_code == 0
    assert seen[1:] == [Place("a.csv"), Place("a.csv")]


def test_a_field_without_a_default_is_required(app: Typer) -> None:
    for words, missing in ((["first", "a.csv", "SELECT 1"], "--epsilon"), (["second"], "data")):
        ended = CliRunner().invoke(app, words)
        assert ended.exit_code == 2
        assert missing in ended.output.lower()


def test_commands_have_their_own_name_and_help(app: Typer) -> None:
    first, second = (get_command(app).commands[name] for name in ("first", "second"))  # type: ignore[attr-defined]
    assert (first.help, second.help) == ("The first.", "The second.")
    assert [one.name for one in first.params] == ["data", "bounds", "each_row", "sql", "epsilon", "level", "quick"]
    assert next(one.help for one in first.params if one.name == "level") == "The level."


def test_declarations_are_the_same_in_every_command_that_has_them() -> None:
    app = Typer()
    for command in COMMANDS:
        app.command()(command)
    commands = get_command(app).commands  # type: ignore[attr-defined]
    names = list(DataOptions.__annotations__)
    shown = {name: [(one.name, one.help, one.default) for one in commands[name].params if one.name in names] for name in commands}
    with_data = ("ask", "explain", "synthesize")
    assert all([name for name, _, _ in shown[command]] == names for command in with_data)
    assert shown["ask"] == shown["explain"] == shown["synthesize"]


def test_each_command_is_in_the_file_of_its_name() -> None:
    assert [command.__module__ for command in COMMANDS] == [f"discreet.cli.{command.__name__}" for command in COMMANDS]
