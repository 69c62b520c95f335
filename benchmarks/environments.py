"""Peers in virtual environments of their own (their dependencies conflict), driven one turn at a time over a pipe."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from attrs import frozen
from timing import Contender, Unmeasured

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src"
FOLDER = HERE / ".peers"
LIMIT = 100.0  # seconds that a peer may take for one answer


@frozen
class Peer:
    """A library to measure ourselves against."""

    name: str
    requirement: str
    module: str  # what `import` takes


OPENDP = Peer("OpenDP", "opendp==0.16.0 numpy", "opendp.prelude")
DP_ACCOUNTING = Peer("dp-accounting", "dp-accounting==0.6.0", "dp_accounting")
PRV = Peer("prv-accountant", "prv-accountant==0.2.0", "prv_accountant")
AUTODP = Peer("autodp", "autodp==0.2.3.1", "autodp.mechanism_zoo")
OPENDP_POLARS = Peer("OpenDP-Polars", "opendp[polars]==0.16.0 numpy", "polars, opendp.prelude")
QRLEW = Peer("Qrlew", "pyqrlew==0.9.27 duckdb==2.0.0 pandas pyarrow", "pyqrlew")
SMARTNOISE = Peer("SmartNoise", "smartnoise-sql==1.0.10 pyarrow", "snsql")
TUMULT = Peer("Tumult", "tmlt.analytics==0.21.0", "tmlt.analytics")
ALL = (OPENDP, DP_ACCOUNTING, PRV, AUTODP, OPENDP_POLARS, QRLEW, SMARTNOISE, TUMULT)


def install(peer: Peer) -> str | None:
    """Make a peer's environment unless it is there; give the reason when that fails."""
    home = FOLDER / peer.name.lower()
    mark = home / "ready"
    if mark.exists() and mark.read_text() == peer.requirement:
        return None
    print(f"installing {peer.requirement} into {home.relative_to(HERE.parent)} …", flush=True)
    shutil.rmtree(home, ignore_errors=True)
    steps = (
        [sys.executable, "-m", "venv", str(home)],
        [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.requirement.split()],
    )
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.strip()]
            return errors[-1][:200] if errors else f"exit status {done.returncode}"
    mark.write_text(peer.requirement)
    return None


@frozen
class Company:
    """The peers that are present, and why the others are not."""

    present: tuple[Peer, ...]
    absent: dict[str, str]

    @classmethod
    def invite(cls, wanted: bool) -> Company:
        """Install all peers, or none."""
        if not wanted:
            return cls((), {peer.name: "not asked for (--no-peers)" for peer in ALL})
        failures = {peer: install(peer) for peer in ALL}
        return cls(
            tuple(p for p, why in failures.items() if why is None),
            {p.name: f"does not install: {why}" for p, why in failures.items() if why is not None},
        )

    @contextmanager
    def process(self, peer: Peer, script: str) -> Iterator[Process | None]:
        """Run one of the scripts in `peers/` in a peer's environment; None when the peer is absent."""
        if peer not in self.present:
            yield None
            return
        with running(peer, script) as process:
            yield process


def python(peer: Peer | None) -> Path:
    """The interpreter of a peer's environment, or our own."""
    return Path(sys.executable) if peer is None else FOLDER / peer.name.lower() / "bin" / "python"


def environment() -> dict[str, str]:
    """The variables of a fresh process: our sources can be imported. Thread counts stay as users have them."""
    return {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONWARNINGS": "ignore"}


@contextmanager
def running(peer: Peer | None, script: str) -> Iterator[Process]:
    """Run a script in a peer's environment or, for None, our own; it ends when its input is closed."""
    command = [str(python(peer)), str(HERE / "peers" / script)]
    with (
        tempfile.TemporaryFile("w+") as complaints,  # a pipe nobody reads would fill up and stop the peer
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True, env=environment()) as pipe,
    ):
        yield Process(pipe, complaints)


class Process:
    """A script that waits for the name of a case and a number of repeats, and answers with JSON (see `peers/serve.py`)."""

    def __init__(self, pipe: subprocess.Popen[str], complaints: IO[str]) -> None:
        self._pipe, self._complaints = pipe, complaints
        self.ready: dict[str, Any] = self._read()

    def _read(self) -> dict[str, Any]:
        assert self._pipe.stdout is not None
        line = self._pipe.stdout.readline()
        if not line:
            self._complaints.seek(0)
            return {"error": (self._complaints.read().strip().splitlines() or ["no answer"])[-1][:200]}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, case: str, repeats: int = 1, limit: float = LIMIT) -> dict[str, Any]:
        """Run a case; `seconds`, and `value` where it has one. A peer that takes longer than `limit` seconds is ended."""
        if "error" in self.ready:
            raise Unmeasured(self.ready["error"])
        assert self._pipe.stdin is not None
        self._pipe.stdin.write(f"{repeats} {case}\n")
        self._pipe.stdin.flush()
        expired = threading.Event()

        def end() -> None:
            expired.set()
            self._pipe.kill()

        clock = threading.Timer(limit, end)
        clock.start()
        answer = self._read()
        clock.cancel()
        if expired.is_set():
            self.ready = answer = {"error": f"no answer within {limit:g} s"}
        if "error" in answer:
            raise Unmeasured(answer["error"])
        return answer

    def contender(self, name: str, case: str, work: int = 1, limit: float = LIMIT) -> Contender:
        """A case as a contender."""
        return Contender(name, lambda repeats: float(self.ask(case, repeats, limit)["seconds"]), work)
