"""The scratch folder: it goes away with its process, by whichever door that leaves."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from discreet.engines.duckdb import scratch as module
from discreet.engines.duckdb.scratch import PREFIX, Scratch

PROGRAM = """
import sys, time
from discreet.engines.duckdb.engine import DuckDB
engine = DuckDB.open({"t": sys.argv[1]})
engine.run("SELECT * FROM t")
print("ready", flush=True)
time.sleep(60)
"""

pytestmark = pytest.mark.skipif(module.fcntl is None, reason="needs locks of files")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files that nobody else uses."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path / "temporary"


def start(tmp_path: Path) -> subprocess.Popen[str]:
    (tmp_path / "t.csv").write_text("a,b\n1,SECRET\n")
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path / "t.csv")], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    return program


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_what_a_killed_process_left_is_removed_at_the_next_start(tmp_path: Path, place: Path, how: signal.Signals) -> None:
    killed, running = start(tmp_path), start(tmp_path)
    try:
        assert len(names(place)) == 2
        killed.send_signal(how)
        assert killed.wait(30) == -how  # no handler of ours stands in the way
        assert len(names(place)) == 2
        mine = Scratch()
        left = names(place)
        assert len(left) == 2  # mine and that of the one that runs; the killed one's is gone
        assert mine.path.name in left
        mine.remove()
        assert len(names(place)) == 1
        assert list((place / names(place)[0]).glob("source-0/*.parquet"))  # and it still has its files
    finally:
        for program in (killed, running):
            program.kill()
            program.wait(30)
            assert program.stdout is not None
            program.stdout.close()


def test_only_its_owner_can_read_it(place: Path) -> None:
    scratch = Scratch()
    assert stat.S_IMODE(scratch.path.stat().st_mode) == 0o700
    assert scratch.path.parent == place
    scratch.remove()
    scratch.remove()  # twice is fine
    assert names(place) == []


def test_what_is_not_ours_is_left_alone(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / (PREFIX + "no-lock")).mkdir()
    (place / (PREFIX + "a-file")).write_text("")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "owner").write_text("")
    (place / (PREFIX + "link")).symlink_to(tmp_path / "elsewhere")
    other = Scratch()
    os.close(other._lock)  # as if its process were dead, but another user's
    monkeypatch.setattr(os, "getuid", lambda: -1)
    mine = Scratch()
    mine.remove()
    assert names(place) == sorted([PREFIX + "no-lock", PREFIX + "a-file", PREFIX + "link", other.path.name])
    assert (tmp_path / "elsewhere" / "owner").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_removes_nothing(place: Path) -> None:
    scratch = Scratch()
    if (child := os.fork()) == 0:  # pragma: no cover
        scratch.remove()
        Scratch().remove()
        os._exit(0 if scratch.path.exists() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    scratch.remove()
    assert names(place) == []
