"""Say how exact the answer must be; see what that costs, try it for nothing, and only then pay."""

import tempfile
from pathlib import Path

import discreet

folder = Path(tempfile.mkdtemp())
rows = (f"{i % 2_000},{['er', 'ward', 'lab'][i % 3]},{i * 37 % 400}.5" for i in range(20_000))
(folder / "visits.csv").write_text("patient_id,dept,cost\n" + "\n".join(rows) + "\n")

with discreet.connect(
    folder / "visits.csv",
    unit="patient_id",
    epsilon=2,
    columns={"patient_id": "integer", "cost": "real"},  # a CSV file's columns are text unless something is said
    bounds={"cost": (0, 500)},
    keys={"dept": ["er", "ward", "lab"]},
    contributions={"rows": 10},
) as db:
    query = db.sql("SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY dept")
    price = query.price({"mean_cost": 10}, size=6_000)
    print(f"a mean within ±10 in a group of 6,000 visits costs ε = {float(price):g}")
    print(query.dry_run(epsilon=price))  # the whole road on made-up rows
    print(query.release(epsilon=price))
    print(query.release(epsilon=price))  # the same question again is free
    print(db.remaining)
