"""CSV files on the command line: types and delimiters are declared, and asked for where they are missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TYPES = {"id": "integer", "fare": "real", "day": "date"}
ASKED = "SELECT SUM(fare) AS s FROM trips WHERE day < DATE '2024-01-15'"


def test_the_command_line_takes_both(run: Any, tmp_path: Path) -> None:
    trips = tmp_path / "trips.csv"
    trips.write_text("id;fare;day\n" + "".join(f"{i};{i % 10}.5;2024-01-{1 + i % 28:02d}\n" for i in range(280)))
    told = ("--unit", "id", "--budget", "500", "--epsilon", "100", "--bounds", "fare=0:10", "--contributions", "rows=1")
    refused = run("ask", trips, ASKED, *told)
    assert 'declare delimiter=";"' in refused.err
    refused = run("ask", trips, "SELECT COUNT(*) FROM trips WHERE day < DATE '2024-01-15'", "--delimiter", ";", *told[:6])
    assert "--type id=text" in refused.err
    assert refused.err.startswith("refused")
    ran = run(
        "ask", trips, ASKED, "--delimiter", ";", *told, *(word for name, kind in TYPES.items() for word in ("--type", f"{name}={kind}"))
    )
    assert ran.code == 0, ran.err
