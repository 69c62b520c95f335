"""A long ledger: how long it takes to open it, to spend from it and to find an answer in it, by how many entries it has.

python benchmarks/long_ledger.py [--entries 1000 10000 100000]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

from discreet.ledger.chain import seal
from discreet.ledger.history import History
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.sqlite import SqliteStorage
from discreet.ledger.terms import Terms
from discreet.loss import record
from discreet.loss.charge import Charge
from discreet.loss.leaves import GaussianLoss, Pure
from discreet.loss.promise import Promised

TERMS = Terms(10**9, "1e-6", "id")
ROWS = [{"dept": f"d{i}", "n": 100 + i} for i in range(10)]


def main() -> None:
    """Print one line for each length."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", nargs="+", type=int, default=[1_000, 10_000, 100_000])
    print("entries | opening | verifying all | a spend (median of 200) | an answer found (median of 200) | state, bytes | file, MB")
    for entries in parser.parse_args().entries:
        with tempfile.TemporaryDirectory(prefix="benchmark-long-ledger-") as folder:
            print(" | ".join(measured(Path(folder) / "ledger", entries)), flush=True)


def measured(path: Path, entries: int) -> list[str]:
    """The cells of one line."""
    built(path, entries)
    opening = min(seconds(lambda: open_ledger(path).close()) for _ in range(3))
    ledger = open_ledger(path)
    verifying = seconds(ledger.verify)
    spends = [seconds(lambda i=i: ledger.spend(Pure("1/1000"), question=f"later {i}")) for i in range(200)]
    finds = [seconds(lambda i=i: ledger.find(f"q{2 * i * (entries // 1000 + 1) % entries}")) for i in range(200)]
    state = len(ledger._history.standing.text)
    cells = [
        f"{opening:.3f} s",
        f"{verifying:.1f} s",
        f"{1e3 * statistics.median(spends):.2f} ms",
        f"{1e3 * statistics.median(finds):.2f} ms",
    ]
    return [f"{entries:,}", *cells, f"{state:,}", f"{path.stat().st_size / 1e6:.0f}"]


def built(path: Path, entries: int) -> None:
    """Spends and releases in turn, all in one transaction: how durable each is, is not measured here."""
    Ledger(SqliteStorage(str(path), create=True), TERMS).close()
    loss = Promised(GaussianLoss("1e-9"), "1/1000", "1e-13")
    price = {"loss": record.to_json(loss), "charge": Charge.of(loss, pure=False).to_json(), "whole": None}
    storage, history = SqliteStorage(str(path), create=False), History()
    with storage.writing():
        for entry in list(storage.entries(0)):
            history.follow(entry)
        while history.length < entries:
            number = history.length
            body = {"question": f"q{number}", "key": f"k{number}", "note": "SELECT …", "analyst": None} | price
            answer = {"spend": number, "question": f"q{number}", "release": {"rows": ROWS}}
            checkpoint = [("checkpoint", None)] if history.due else []
            for kind, said in [*checkpoint, ("spend", body), ("release", answer)]:
                if kind == "release":
                    said["spend"] = history.length - 1
                step = history.judge(seal(history.length, kind, history.summary if said is None else said, history.head))
                storage.append(step.entry, step.standing.text)
                history.accept(step)
    storage.close()


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
