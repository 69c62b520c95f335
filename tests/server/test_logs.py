"""Logs: lines of JSON without data; reasons go to the owner's file."""

from __future__ import annotations

import io
import json
import logging
import os
import stat
from pathlib import Path

import pytest

from discreet.server.logs import Libraries, Log


def failed(what: str) -> ValueError:
    try:
        raise ValueError(what)
    except ValueError as error:
        return error


def test_a_line_an_event() -> None:
    out = io.StringIO()
    log = Log(out, None)
    log.request("GET", "/api/v1/jobs/{number}", 200, "ann\n", 1.234)
    log.request("BREW\r\n", "(none)", 405, None, None)
    log.event("hello", count=3)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["request", "request", "hello"]
    assert (lines[0]["route"], lines[0]["account"], lines[0]["ms"]) == ("/api/v1/jobs/{number}", "ann\n", 1.2)
    assert lines[1]["method"] == "(other)"


def test_reasons_are_for_the_owner_alone(tmp_path: Path) -> None:
    out, file = io.StringIO(), tmp_path / "failures"
    log = Log(out, file)
    log.failed("job7", failed("the patient Maria \ud800"))
    log.crashed("/api/v1/me", failed("the patient Maria"))
    log.engine_failed("clinic", failed("the patient Maria"))
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(one["event"], one["error"]) for one in events] == [
        ("job failed", "ValueError"),
        ("request failed", "ValueError"),
        ("engine failed", "ValueError"),
    ]
    assert "Maria" not in out.getvalue()
    assert file.read_text(encoding="utf-8").count("the patient Maria") >= 3
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600


def test_libraries_say_that_they_spoke_and_the_owner_reads_what(tmp_path: Path) -> None:
    out, file = io.StringIO(), tmp_path / "failures"
    logger = logging.getLogger("some.library")
    handler = Libraries(Log(out, file))
    logger.addHandler(handler)
    try:
        logger.error("Maria was here", exc_info=failed("Maria again"))
        logger.info("not of interest")
    finally:
        logger.removeHandler(handler)
    [event] = [json.loads(line) for line in out.getvalue().splitlines()]
    assert (event["event"], event["logger"], event["level"]) == ("library", "some.library", "ERROR")
    assert "Maria again" in file.read_text(encoding="utf-8")


def test_a_quiet_log(capsys: pytest.CaptureFixture[str]) -> None:
    log = Log.quiet()
    log.failed("a", failed("b"))
    log.event("c")
    assert capsys.readouterr() == ("", "")
    Log.to_screen().event("d")
    assert '"event": "d"' in capsys.readouterr().err
