"""A server under load, and whether the time of its answers tells about private rows. Starts `discreet serve` in a process of its own.

    python benchmarks/served.py load --minutes 5 --analysts 100 --new 15 --repeated 100
    python benchmarks/served.py timing --questions 10000

load: a table of 100,000 rows. Each analyst keeps a connection open. Printed are the errors, whether the ledger's sums are exact, how long
repeated answers took beside the library in this process, and how long after the end of its slot a new one arrived.

timing: two servers whose tables differ in one person, whose text is 2 MB long; every question copies each text 16 times and compares it
with a pattern. Printed is the area under the ROC curve (0.5: the times tell nothing), for the one who asks and for another account who
asks something else meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "src")]  # the sources beside this folder, installed or not

import numpy as np  # noqa: E402
import polars  # noqa: E402

import discreet  # noqa: E402
from discreet.server.datasets import DataSets  # noqa: E402
from discreet.server.store.accounts import Accounts  # noqa: E402
from discreet.server.store.database import open_database  # noqa: E402
from discreet.server.store.tokens import Tokens  # noqa: E402

POLICY = """
[budget]
epsilon = 1000000
delta = 1e-6
[tables.visits]
source = "visits.parquet"
unit = "person"
contributions = { rows = 4 }
[tables.visits.columns.cost]
bounds = [0, 500]
[tables.visits.columns.dept]
keys = ["eyes", "heart", "skin"]
"""
LONG = 2_000_000  # characters of one person's text
COSTLY = "LOWER(UPPER(" * 8 + "note" + "))" * 8  # copies the text 16 times
Times = list[float]


def main() -> int:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    which = parser.add_subparsers(dest="which", required=True)
    load_options = which.add_parser("load")
    load_options.add_argument("--minutes", type=float, default=5.0)
    load_options.add_argument("--analysts", type=int, default=100)
    load_options.add_argument("--new", type=float, default=15.0, help="new questions a second, in all")
    load_options.add_argument("--repeated", type=float, default=100.0, help="repeated questions a second, in all")
    timing_options = which.add_parser("timing")
    timing_options.add_argument("--questions", type=int, default=10_000)
    timing_options.add_argument("--at-once", type=int, default=12)
    timing_options.add_argument("--slot", type=float, default=1.0, help="seconds")
    timing_options.add_argument("--minutes", type=float, default=60.0, help="ask no more after this time")
    timing_options.add_argument("--same", action="store_true", help="both tables without that person: what two processes differ in anyway")
    timing_options.add_argument("--no-slots", action="store_true", help="what the slots hide")
    options = parser.parse_args()
    if options.which == "load":
        load(options.minutes, options.analysts, options.new, options.repeated)
    else:
        timing(options.questions, options.at_once, options.slot, options.minutes * 60, options.no_slots, options.same)
    return 0


# ── a server ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Running:
    """`discreet serve` on a folder, with accounts and tokens that were made beforehand."""

    def __init__(self, folder: Path, table: polars.DataFrame, analysts: int, *, rows: float, more: tuple[str, ...] = ()) -> None:
        (folder / "visits").mkdir(parents=True)
        table.write_parquet(folder / "visits" / "visits.parquet")
        (folder / "visits" / "discreet.toml").write_text(POLICY)
        self.policy, self.database = folder / "visits" / "discreet.toml", str(folder / "server.db")
        self.names = [f"analyst{i}" for i in range(analysts)]
        self.tokens = self._accounts()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = [sys.executable, "-m", "discreet", "serve", str(self.policy), "--port", str(self.port), "--database", self.database]
        self._command += ["--rows", f"{rows:g}", *more]
        self.start()

    def _accounts(self) -> dict[str, str]:
        database = open_database(self.database)
        accounts = Accounts(database)
        accounts.add("owner", "owner", None)
        for name in self.names:
            accounts.add(name, "analyst", "owner")
        tokens = {name: Tokens(database, accounts).add(name, "benchmark", "all", 1, None, "owner")[1] for name in self.names}
        database.close()
        open_data = DataSets({"visits": self.policy})
        for data in open_data:
            for name in self.names:
                data.ledger.grant(name, 10_000, "1e-9")
        open_data.close()
        return tokens

    def start(self) -> None:
        """Start, or start again."""
        environment = os.environ | {"PYTHONPATH": str(HERE.parent / "src")}
        self.process = subprocess.Popen(self._command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            assert self.process.poll() is None, "the server did not start"
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop it, as systemd would."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


class Client:
    """One connection that stays open; just enough HTTP."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token, self._streams, self._used = port, token, None, 0.0  # type: ignore[var-annotated]

    async def release(self, sql: str, epsilon: str) -> tuple[int, dict[str, str], bytes, float]:
        """Ask; the status, headers, body, and how long it took."""
        if self._streams is None or time.perf_counter() - self._used > 5:  # the server closes connections that are idle
            if self._streams is not None:
                self._streams[1].close()
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        body = json.dumps({"request": [["sql", [sql], {}]], "price": {"epsilon": epsilon}}).encode()
        head = f"POST /api/v1/datasets/visits/releases HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self._token}\r\n"
        begin = time.perf_counter()
        writer.write(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): text.strip() for name, _, text in (line.partition(":") for line in lines[1:] if line)}
        said = await reader.readexactly(int(headers["content-length"]))
        self._used = time.perf_counter()
        return int(lines[0].split()[1]), headers, said, time.perf_counter() - begin


def table_of(rows: int) -> polars.DataFrame:
    """Made-up visits, the same in every run."""
    rng = np.random.default_rng(0)
    return polars.DataFrame(
        {
            "person": rng.integers(0, rows // 4, rows),
            "cost": rng.gamma(2.0, 50.0, rows).round(2),
            "dept": rng.choice(["eyes", "heart", "skin"], rows),
            "note": ["nothing"] * rows,
        }
    )


# ── load ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def load(minutes: float, analysts: int, new: float, repeated: float) -> None:
    """Many analysts at once: no error, exact sums, and the overhead of the server."""
    with tempfile.TemporaryDirectory() as folder:
        server = Running(Path(folder), table_of(100_000), analysts, rows=1e5)
        try:
            memory = Memory(server.process.pid)
            found = asyncio.run(_loaded(server, minutes * 60, new, repeated))
            memory.stop()
        finally:
            server.stop()
        fresh, again, errors, slot, before = found
        with discreet.connect(server.policy, analyst="owner") as db:
            spent = [entry for entry in db.ledger.entries() if entry.kind == "spend"]
            exact = all(one.spent.epsilon == Fraction(len(mine), 10) for one, mine in _by_analyst(db.ledger, spent))
            alone = _library(db)
        print(
            f"{analysts} analysts, {minutes:g} min: {len(fresh):,} new, {len(again):,} repeated answers, {len(errors)} errors", errors[:3]
        )
        print(f"debits: {len(spent):,} for {len(fresh):,} new answers and {before} before that; every analyst's sum exact: {exact}")
        print(f"new: after the end of the slot ({slot:g} s): {_spread([took - slot for took in fresh])}")
        print(f"repeated: {_spread(again)}; library alone {alone:.1f} ms")
        print(memory)


def _spread(seconds: Times) -> str:
    ordered = sorted(1000 * one for one in seconds)
    return f"median {statistics.median(ordered):.1f} ms, p95 {ordered[int(0.95 * len(ordered))]:.1f} ms"


async def _loaded(server: Running, seconds: float, new: float, repeated: float) -> tuple[Times, Times, list[int], float, int]:
    clients = {name: [Client(server.port, server.tokens[name]) for _ in range(3)] for name in server.names}
    fresh, again, errors, number = Times(), Times(), list[int](), iter(range(10**9))
    mine = {name: [question(next(number)) for _ in range(2)] for name in server.names}
    busy: set[int] = set()

    async def ask(name: str, sql: str, times: Times) -> None:
        client = next((one for one in clients[name] if id(one) not in busy), None)
        if client is None:
            client = Client(server.port, server.tokens[name])
            clients[name].append(client)
        busy.add(id(client))
        try:
            status, _, _, took = await client.release(sql, "0.1")
        finally:
            busy.discard(id(client))
        times.append(took) if status == 200 else errors.append(status)

    warm = Times()
    for first in range(0, len(server.names), 6):  # what will be repeated, some at a time
        some = server.names[first : first + 6]
        await asyncio.gather(*(ask(name, sql, warm) for name in some for sql in mine[name]))
    slot = _slot(min(warm))
    fresh.clear()
    tasks, begin, rng = [], time.perf_counter(), np.random.default_rng(1)
    plan = sorted([(t, True) for t in np.arange(0, seconds, 1 / new)] + [(t, False) for t in np.arange(0, seconds, 1 / repeated)])
    for at, is_new in plan:
        await asyncio.sleep(max(0.0, begin + at - time.perf_counter()))
        name = server.names[int(rng.integers(len(server.names)))]
        sql = question(next(number)) if is_new else mine[name][int(rng.integers(2))]
        tasks.append(asyncio.create_task(ask(name, sql, fresh if is_new else again)))
    await asyncio.gather(*tasks)
    return fresh, again, errors, slot, len(warm)


def question(number: int) -> str:
    """A question that nobody asked yet."""
    return f"SELECT dept, COUNT(*) AS n FROM visits WHERE cost > {number % 400}.{number:06d} GROUP BY dept"


def _slot(least: float) -> float:
    """The slot that an answer of this time left at: the longest of the list that is not longer."""
    return max(slot for slot in (0.25 * 2**i for i in range(10)) if slot <= least)


def _by_analyst(ledger: Any, spent: list[Any]) -> list[tuple[Any, list[Any]]]:
    return [(one, [entry for entry in spent if entry.body["analyst"] == name]) for name, one in ledger.analysts().items()]


def _library(db: Any) -> float:
    sql = question(0)
    db.sql(sql).release(epsilon="0.1")
    times = []
    for _ in range(200):
        begin = time.perf_counter()
        db.sql(sql).release(epsilon="0.1")
        times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times)


class Memory:
    """The memory of a process, every five seconds."""

    def __init__(self, process: int) -> None:
        self._process, self._ended, self._begin = process, threading.Event(), time.monotonic()
        self._seen: list[tuple[float, float]] = []
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(5):
            pages = int(Path(f"/proc/{self._process}/statm").read_text().split()[1])
            self._seen.append((time.monotonic() - self._begin, pages * os.sysconf("SC_PAGE_SIZE") / 1e6))

    def stop(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()

    def __str__(self) -> str:
        later = np.array(self._seen[len(self._seen) // 2 :])
        growth = np.polyfit(later[:, 0], later[:, 1], 1)[0] * 8 * 3600
        first, last = self._seen[0][1], later[-1, 1]
        return f"memory: {first:,.0f} MB at first, {last:,.0f} MB at last; the second half grows by {growth:,.0f} MB in 8 hours"


# ── timing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def timing(questions: int, at_once: int, slot: float, seconds: float, no_slots: bool, same: bool) -> None:
    """Times of answers on two neighbouring tables, one question on each in turn."""
    plain = table_of(2_000)
    person = polars.DataFrame({"person": [10**6], "cost": [499.0], "dept": ["eyes"], "note": ["ab" * (LONG // 2)]})
    more = ("--no-slots",) if no_slots else ("--slot", f"{slot:g}")
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        servers = [
            Running(Path(one), plain, 2, rows=2e3, more=more),
            Running(Path(other), plain if same else polars.concat([plain, person.cast(plain.schema)]), 2, rows=2e3, more=more),
        ]
        try:
            seen = asyncio.run(_timed(servers, questions, at_once, slot, seconds))
        finally:
            for server in servers:
                server.stop()
    for who, (without, with_person) in seen.items():
        error = ((len(without) + len(with_person) + 1) / (12 * len(without) * len(with_person))) ** 0.5
        print(f"{who}: {len(without):,} + {len(with_person):,} times, AUC {area(without, with_person):.4f} (standard error {error:.4f})")


async def _timed(servers: list[Running], questions: int, at_once: int, slot: float, seconds: float) -> dict[str, tuple[Times, Times]]:
    seen: dict[str, tuple[Times, Times]] = {"the one who asks": ([], []), "another account": ([], [])}
    clients = [[[Client(one.port, one.tokens[name]) for name in one.names] for one in servers] for _ in range(at_once)]

    async def ask(lane: int, number: int) -> None:
        for place in (0, 1) if number % 2 else (1, 0):
            sql = f"SELECT COUNT(*) AS n FROM visits WHERE cost > 498 AND {COSTLY} LIKE '%a%bc{number}%'"
            other = f"SELECT COUNT(*) AS n FROM visits WHERE cost < 1.{number:06d}"
            asker, bystander = clients[lane][place]
            found = await asyncio.gather(asker.release(sql, "0.01"), bystander.release(other, "0.01"))
            for (status, _, said, took), times in zip(found, seen.values(), strict=True):
                assert status == 200, said[:300]
                times[place].append(took)

    begin = time.monotonic()

    async def lane(which: int) -> None:
        await asyncio.sleep(2 * slot * which / at_once)  # not all at the same moment
        for number in range(which, questions, at_once):
            if time.monotonic() - begin < seconds:
                await ask(which, number)

    await asyncio.gather(*(lane(which) for which in range(at_once)))
    return seen


def area(less: Times, more: Times) -> float:
    """The probability that a time of the second list exceeds one of the first."""
    both = np.concatenate([less, more])
    ranks = np.empty(len(both))
    ranks[np.argsort(both)] = np.arange(1, len(both) + 1)
    return float((ranks[len(less) :].sum() - len(more) * (len(more) + 1) / 2) / (len(less) * len(more)))


if __name__ == "__main__":
    raise SystemExit(main())
