"""The settings of a connection: SET, SHOW, RESET, and the options of the first message."""

from __future__ import annotations

import pytest

from discreet.errors import Error
from discreet.server.postgres_wire.sqlstates import Failure
from discreet.server.postgres_wire.variables import Variables, run_setting


def shown(variables: Variables, name: str) -> str:
    result, _ = run_setting(variables, f"SHOW {name}")
    return str(result.rows[0][0])


@pytest.mark.parametrize(
    ("statement", "name", "value"),
    [
        ("SET discreet.epsilon = 0.1", "discreet.epsilon", "0.1"),
        ("set discreet.epsilon to '1/10'", "discreet.epsilon", "1/10"),
        ("SET SESSION discreet.delta = 1e-7", "discreet.delta", "1e-7"),
        ("SET discreet.mode = ASK", "discreet.mode", "ask"),
        ("SET\n  discreet.mode\t= 'ask'", "discreet.mode", "ask"),
        ("SET discreet.intervals = false", "discreet.intervals", "off"),
        ("SET discreet.dialect = bigquery", "discreet.dialect", "bigquery"),
        ("SET TIME ZONE 'Europe/Zurich'", "TimeZone", "Europe/Zurich"),
        ("SET NAMES 'utf8'", "client_encoding", "UTF8"),
        ("SET application_name TO 'it''s'", "application_name", "it's"),
        ("SET some.other = 'thing'", "some.other", "thing"),
        ("SET datestyle = 'ISO, DMY'", "DateStyle", "ISO, MDY"),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "transaction_isolation", "read committed"),
    ],
)
def test_set_and_show(statement: str, name: str, value: str) -> None:
    variables = Variables("ann")
    assert run_setting(variables, statement)[0].tag == "SET"
    assert shown(variables, name) == value


@pytest.mark.parametrize(
    "statement",
    [
        "SET discreet.epsilom = 0.1",
        "SET discreet.epsilon = -1",
        "SET discreet.epsilon = 'much'",
        "SET discreet.delta = 2",
        "SET discreet.mode = 'free'",
        "SET discreet.intervals = perhaps",
        "SET discreet.dialect = latin",
        "SET client_encoding = 'LATIN1'",
        "SET DateStyle = German",
        "SET server_version = '99'",
        "SET standard_conforming_strings = off",
        "SET ROLE owner",
        "SET SESSION AUTHORIZATION owner",
        "SET nothing",
        "SET LOCAL discreet.epsilon = 0.1",
        "SHOW discreet.nothing",
        "SHOW nothing",
        "SET x = '" + "x" * 2000 + "'",
    ],
)
def test_what_is_refused(statement: str) -> None:
    variables = Variables("ann")
    before = dict(variables.all)
    with pytest.raises((Failure, Error)):
        run_setting(variables, statement)
    assert variables.all == before


def test_reset_gives_what_was_at_first() -> None:
    variables = Variables("ann", "0.05")
    assert variables.price == {"epsilon": "0.05"}
    run_setting(variables, "SET discreet.epsilon = 1")
    run_setting(variables, "SET other = 1")
    run_setting(variables, "RESET discreet.epsilon")
    assert variables.price == {"epsilon": "0.05"}
    run_setting(variables, "SET discreet.mode = ask")
    run_setting(variables, "SET discreet.mode TO DEFAULT")
    assert variables["discreet.mode"] == "cached"
    run_setting(variables, "SET discreet.mode = ask")
    run_setting(variables, "DISCARD ALL")
    assert variables["discreet.mode"] == "cached"
    assert variables.get("other") is None


def test_reset_goes_back_to_the_options_of_the_first_message() -> None:
    variables = Variables("ann", "0.05")
    variables.set_at_startup({"discreet.mode": "ask", "options": "-c discreet.epsilon=0.1"})
    run_setting(variables, "SET discreet.epsilon = 1")
    run_setting(variables, "RESET ALL")  # as pools do before they lend a connection again
    assert (variables["discreet.mode"], variables["discreet.epsilon"]) == ("ask", "0.1")


def test_local_settings_last_until_the_transaction_ends() -> None:
    variables = Variables("ann")
    for statement in ("SET discreet.epsilon = 0.1", "SET LOCAL discreet.epsilon = 1", "SET LOCAL discreet.epsilon = 2", "SET LOCAL x = 1"):
        run_setting(variables, statement, transaction=True)
    assert (variables["discreet.epsilon"], variables.get("x")) == ("2", "1")
    run_setting(variables, "SET LOCAL discreet.mode = ask", transaction=True)
    run_setting(variables, "SET discreet.mode = ask", transaction=True)
    run_setting(variables, "SET LOCAL application_name = 'a'", transaction=True)
    assert variables.end_transaction() == {"application_name": ""}
    assert (variables["discreet.epsilon"], variables.get("x"), variables["discreet.mode"]) == ("0.1", None, "ask")
    assert run_setting(variables, "SET LOCAL lock_timeout = 5")[0].tag == "SET"  # no transaction, so nothing changes
    assert variables["lock_timeout"] == "0"


def test_options_of_the_first_message() -> None:
    variables = Variables("ann")
    variables.set_at_startup(
        {
            "user": "ann",
            "database": "clinic",
            "application_name": "psql",
            "options": "-c discreet.epsilon=0.1 --discreet.mode=ask -c x=a\\ b",
        }
    )
    assert (variables["discreet.epsilon"], variables["discreet.mode"], variables["x"]) == ("0.1", "ask", "a b")
    assert variables.reported["application_name"] == "psql"
    with pytest.raises(Failure):
        variables.set_at_startup({"options": "-c discreet.mod=ask"})


def test_clients_are_told_of_some_changes() -> None:
    variables = Variables("ann")
    assert run_setting(variables, "SET application_name = 'x'")[1] == {"application_name": "x"}
    assert run_setting(variables, "SET discreet.mode = 'ask'")[1] == {}
    assert variables.reported["session_authorization"] == "ann"


def test_settings_are_not_without_end() -> None:
    variables = Variables("ann")
    for number in range(200 - len(variables.all)):
        variables.set(f"x{number}", "1")
    with pytest.raises(Failure):
        variables.set("one_more", "1")


def test_all_are_listed() -> None:
    result, _ = run_setting(Variables("ann"), "SHOW ALL")
    assert ("discreet.mode", "cached", "") in result.rows
