"""A Python without what only POSIX has: discreet imports, asks and keeps a ledger there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import discreet

# what Python on Windows does not have; `import` finds none of the modules either
LACKING = """
import os, sys
for name in ("register_at_fork", "fork", "forkpty", "pread", "pwrite", "preadv", "geteuid", "getuid", "chown", "fchmod", "fchown",
             "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "posix_spawn", "getpgid", "killpg", "sync", "fdatasync"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("fcntl", "pwd", "grp", "resource", "termios", "tty", "readline"):
    sys.modules[name] = None
"""
ASK = """
import discreet, duckdb
owner = duckdb.connect()
owner.execute("CREATE TABLE visits AS SELECT i AS id, 1 AS cost FROM range(1000) AS t(i)")
owner.execute("COPY visits TO 'visits.parquet'")
for ledger, witness in ((":memory:", None), ("a.ledger", None), ("b.ledger", "witness")):
    for epsilon in (1, 2):
        with discreet.connect("visits.parquet", unit="id", epsilon=9, ledger=ledger, witness=witness) as db:
            (row,) = db.ask("SELECT COUNT(*) AS n FROM visits", epsilon=epsilon).rows
            assert abs(row["n"] - 1000) < 60
            assert db.spent.epsilon == (epsilon if ledger == ":memory:" else epsilon * (epsilon + 1) // 2)
assert discreet.Laplace(epsilon=1).release(discreet.Private(42)) is not None
open("torn", "w").close()
import discreet.ledger.witness as w
w.Witness("torn").add(0, "0" * 64)
with open("torn", "ab") as file:
    file.write(b"1 0123")
w.Witness("torn").add(1, "1" * 64)
assert open("torn", "rb").read() == b"0 " + b"0" * 64 + b"\\n1 0123\\n1 " + b"1" * 64 + b"\\n"
print("done")
"""


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    source = str(Path(discreet.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env={**os.environ, "PYTHONPATH": source}, capture_output=True, text=True, timeout=120
    )


def test_without_what_only_posix_has(tmp_path: Path) -> None:
    done = run(LACKING + ASK, tmp_path)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_with_it_the_same_script_runs(tmp_path: Path) -> None:
    done = run(ASK, tmp_path)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
