"""Draw every kind of plot from made-up visits: `python examples/gallery.py FOLDER` writes a PNG for each, and a page of inline drawings.

The data are made up, so nobody's privacy is at stake, and every run has the same patients; the noise is new in each.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import duckdb

import discreet

VISITS = """
COPY (
    WITH patients AS (
        SELECT i AS patient, [(hash(i * 16 + k) % 1000003) / 1000003 FOR k IN range(9)] AS u FROM range({people}) AS t(i)
    )
    SELECT patient,
           ['emergency', 'surgery', 'maternity', 'radiology', 'oncology'][1 + CAST(floor(5 * pow(u[1], 2)) AS INT)] AS ward,
           ['insured', 'public', 'private'][1 + CAST(floor(3 * pow(u[2], 1.4)) AS INT)] AS payer,
           CAST(18 + 75 * (u[3] + u[4]) / 2 AS INT) AS age,
           least(20 + 30 * u[5] - 90 * ln(1 - u[6]), 600) AS cost,
           DATE '2025-01-01' + CAST(364 * 2 * (1 - sqrt(1 - 0.75 * u[7])) AS INT) AS day,
           'town ' || lpad(CAST(1 + CAST(floor(250 * pow(u[8], 3)) AS INT) AS VARCHAR), 3, '0') AS town,
           'diagnosis group ' || chr(65 + CAST(floor(9 * u[9]) AS INT)) AS diagnosis
    FROM patients
) TO '{path}' (FORMAT parquet)
"""
WARDS = ["emergency", "surgery", "maternity", "radiology", "oncology"]
QUESTIONS: dict[str, tuple[str, str]] = {
    "bars": ("SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward", "1/10"),
    "histogram": ("SELECT WIDTH_BUCKET(cost, 0, 400, 16) AS bucket, COUNT(*) AS visits FROM visits GROUP BY bucket", "1/10"),
    "floors": ("SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) AS visits FROM visits GROUP BY decade", "1/10"),
    "grouped": ("SELECT ward, payer, COUNT(*) AS visits FROM visits GROUP BY ward, payer", "1/10"),
    "heat": ("SELECT diagnosis, ward, COUNT(*) AS visits FROM visits GROUP BY diagnosis, ward", "1/5"),
    "dates": ("SELECT DATE_TRUNC('week', day) AS week, COUNT(*) AS visits FROM visits GROUP BY week", "1/5"),
    "lines": ("SELECT DATE_TRUNC('month', day) AS month, payer, COUNT(*) AS visits FROM visits GROUP BY month, payer", "1/5"),
    "panels": ("SELECT ward, COUNT(*) AS visits, AVG(cost) AS mean_cost, SUM(cost) AS total FROM visits GROUP BY ward", "1/2"),
    "means": ("SELECT ward, AVG(cost) AS mean_cost FROM visits GROUP BY ward", "1/5"),
    "many": ("SELECT town, COUNT(*) AS visits FROM visits GROUP BY town", "1"),
    "one_row": ("SELECT COUNT(*) AS visits, AVG(cost) AS mean_cost, MEDIAN(age) AS median_age FROM visits", "1/2"),
    "empty": ("SELECT town, COUNT(*) AS visits FROM visits WHERE age > 200 GROUP BY town", "1/2"),
}


def releases(people: int = 20_000) -> dict[str, discreet.Release]:
    """The answer to each question, by the kind of plot that it makes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.parquet"
        duckdb.connect().execute(VISITS.format(people=people, path=path))
        with discreet.connect(
            path,
            unit="patient",
            epsilon=100,
            delta=1e-5,
            one_row_per_unit=True,
            bounds={"age": (0, 120), "cost": (0, 600)},
            keys={"ward": WARDS, "payer": ["insured", "public", "private"], "diagnosis": [f"diagnosis group {c}" for c in "ABCDEFGHI"]},
        ) as db:
            return {kind: db.sql(sql).release(epsilon) for kind, (sql, epsilon) in QUESTIONS.items()}


def write(found: dict[str, discreet.Release], folder: Path) -> None:
    """Write all plots into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for kind, release in found.items():
        release.plot(folder / f"{kind}.png", units={"cost": "€", "age": "years"})
        parts.append(f"<h3>{kind}</h3>{release._repr_html_()}")
    page = "<!doctype html><meta charset=utf-8><title>Plots</title><style>:root{color-scheme:light dark}</style>" + "".join(parts)
    (folder / "gallery.html").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="gallery-"))
    write(releases(), place)
    print(f"{len(QUESTIONS)} plots and gallery.html are in {place}")
