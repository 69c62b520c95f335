"""The first minute: how long `make demo` takes from a clean clone, and how much it installs; then what development adds.

python benchmarks/first_minute.py [--rounds 3] [--demo-only]

Each round clones what is committed here into a new folder, so that nothing of an earlier one is reused but pip's own cache of downloads.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS, MEGABYTES = 45, 350  # the goal for `make demo`
STEPS = ("demo", "demo", "check", "check", "demo")  # each twice: the second time nothing is installed


def main() -> int:
    """Print one line for each step of each round; 1 if the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--demo-only", action="store_true", help="leave out what development adds")
    arguments = parser.parse_args()
    firsts = []
    print("round | step | seconds | .venv, MB")
    for number in range(1, arguments.rounds + 1):
        with tempfile.TemporaryDirectory(prefix="benchmark-first-minute-") as folder:
            clone = Path(folder) / "discreet"
            subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
            for place, step in enumerate(STEPS[:2] if arguments.demo_only else STEPS):
                took, size = seconds(step, clone), megabytes(clone / ".venv")
                print(f"{number} | make {step} | {took:.1f} | {size}", flush=True)
                firsts += [(took, size)] if place == 0 else []
    slowest, largest = max(took for took, _ in firsts), max(size for _, size in firsts)
    met = slowest < SECONDS and largest < MEGABYTES
    print(f"make demo from a clean clone: at most {slowest:.1f} s (goal {SECONDS}) and {largest} MB (goal {MEGABYTES})")
    return 0 if met else 1


def seconds(target: str, clone: Path) -> float:
    """How long a target takes in a clone."""
    began = time.perf_counter()
    done = subprocess.run(["make", target], cwd=clone, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"make {target} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return time.perf_counter() - began


def megabytes(folder: Path) -> int:
    """What a folder takes on the disk, as `du -sm` says it."""
    inodes = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            found = os.lstat(os.path.join(place, name))
            inodes[found.st_ino] = found.st_blocks * 512
    return -(-sum(inodes.values()) // 2**20)


if __name__ == "__main__":
    raise SystemExit(main())
