"""Accepted questions: windows over released rows."""
# ruff: noqa: E501

WINDOWS: list[tuple[str, str]] = [
    (
        "SELECT dept, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM visits GROUP BY dept ORDER BY r",
        "visits BY dept ASK n=count() SHOW dept, n, r OVER r=rank(order n desc) ORDER r",
    ),
    (
        "SELECT dept, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY dept",
        "visits BY dept ASK count=count() SHOW dept, share=divide(multiply(100, count), sum_over) OVER sum_over=sum(count)",
    ),
    (
        "SELECT dept, MONTH(day) AS m, AVG(COUNT(*)) OVER (PARTITION BY dept ORDER BY MONTH(day) ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS smooth FROM visits GROUP BY dept, m",
        "visits BY dept, m=month(day) ASK count=count() SHOW dept, m, smooth OVER smooth=avg(count by dept order m)[-2, 0]",
    ),
    (
        "SELECT dept, ROW_NUMBER() OVER (ORDER BY dept) AS r, COUNT(*) FROM visits GROUP BY ALL",
        "visits BY dept ASK count=count() SHOW dept, r, count OVER r=row_number(order dept)",
    ),
    (
        "SELECT dept, FIRST_VALUE(COUNT(*)) OVER (ORDER BY dept) AS f, NTILE(2) OVER (ORDER BY COUNT(*)) AS t FROM visits GROUP BY dept",
        "visits BY dept ASK count=count() SHOW dept, f, t OVER f=first(count order dept) OVER t=ntile(order count)",
    ),
    (
        "SELECT dept, COUNT(*) OVER () AS groups, COUNT(*) AS n FROM visits GROUP BY dept",
        "visits BY dept ASK n=count() SHOW dept, groups, n OVER groups=count()",
    ),
]
