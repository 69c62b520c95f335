"""Private questions in a marimo notebook: `marimo edit examples/tutorial_marimo.py`, or run it as a script."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import polars
    import sqlalchemy

    import discreet
    from discreet import dbapi

    return dbapi, discreet, mo, polars, sqlalchemy


@app.cell
def _(mo):
    mo.md("""
    # Private questions in marimo

    Twenty thousand visits that nobody made. Plans are free, answers are paid from one budget, and cells that run again are free too:
    the same question at the same price is the same stored answer.
    """)


@app.cell
def _(discreet, polars):
    visits = polars.DataFrame(
        {
            "patient": [i * 7919 % 5000 for i in range(20_000)],
            "dept": [["cardio", "ortho", "er"][i * 31 % 97 % 3] for i in range(20_000)],
            "cost": [float(i * 37 % 500) for i in range(20_000)],
        }
    )
    db = discreet.connect(
        {"visits": visits},
        unit="patient",
        epsilon=2,
        bounds={"cost": (0, 500)},
        keys={"dept": ["cardio", "ortho", "er"]},
        contributions={"rows": 4},
        ledger=":memory:",  # a file keeps what was spent: ledger="visits.ledger"
    )
    return (db,)


@app.cell
def _(db):
    question = db.sql("SELECT dept, COUNT(*) AS n, AVG(cost) AS mean_cost FROM visits GROUP BY dept")
    plan = question.plan(epsilon=0.5)  # free: what would happen, and the error to expect
    plan
    return plan, question


@app.cell
def _(plan, question):
    answer = question.release(epsilon=plan.epsilon)  # a table with intervals, and a plot
    answer
    return (answer,)


@app.cell
def _(answer, polars):
    frame = polars.DataFrame(answer)  # intervals are columns: n_low, n_high
    frame
    return (frame,)


@app.cell
def _(db, dbapi, sqlalchemy):
    # SQL cells see this engine: its tables are listed on the left, and its price is that of the connection
    engine = sqlalchemy.create_engine("discreet://", creator=lambda: dbapi.connect(db, epsilon=0.1))
    return (engine,)


@app.cell
def _(engine, mo):
    busy = mo.sql("SELECT dept, COUNT(*) AS n FROM visits WHERE cost > 250 GROUP BY dept", engine=engine)
    return (busy,)


@app.cell
def _(busy, db, frame):
    print(f"{len(frame)} groups with {', '.join(frame.columns)}")
    print(f"{len(busy)} busy groups; spent ε = {float(db.spent.epsilon):g}")


if __name__ == "__main__":
    app.run()
