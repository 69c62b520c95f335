"""Several tables under one policy: people, their visits, and a public list of hospitals; then explain, ask and verify."""

import tempfile
from pathlib import Path

from discreet.session.project import open_project

folder = Path(tempfile.mkdtemp())
people = (f"{i},{20 + i % 60}" for i in range(1_000))
visits = (f"{i % 1_000},{i % 4},{i * 7 % 90}" for i in range(8_000))
(folder / "people.csv").write_text("id,age\n" + "\n".join(people) + "\n")
(folder / "visits.csv").write_text("person,hospital,minutes\n" + "\n".join(visits) + "\n")
(folder / "hospitals.csv").write_text("hospital,city\n0,Bergen\n1,Delft\n2,Delft\n3,Leuven\n")
(folder / "discreet.toml").write_text("""
version = "2026-11"

[budget]
epsilon = 1.0

[tables.people]
source = "people.csv"
unit = "id"
one_row_per_unit = true
columns.id.type = "integer"
columns.age = { type = "integer", bounds = [0, 120] }

[tables.visits]
source = "visits.csv"
link = { column = "person", table = "people", key = "id" }   # whose visits these are
contributions = { rows = 8 }
columns.person.type = "integer"
columns.hospital.type = "integer"
columns.minutes = { type = "integer", bounds = [0, 120] }

[tables.hospitals]
source = "hospitals.csv"
public = true
columns.hospital = { type = "integer", unique = true }
""")

with open_project(folder) as db:
    query = db.sql(
        "SELECT h.city, COUNT(*) AS visits, AVG(v.minutes) AS mean_minutes "
        "FROM visits AS v JOIN hospitals AS h ON v.hospital = h.hospital GROUP BY h.city"
    )
    print(query.plan(epsilon=0.5).explain())
    release = query.release(epsilon=0.5)
    print(release)
    release.save(folder / "answer.json")

print(f"discreet verify {folder / 'answer.json'} --ledger {folder}")
