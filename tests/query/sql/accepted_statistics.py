"""Accepted questions: statistics and groups."""
# ruff: noqa: E501

STATISTICS: list[tuple[str, str]] = [
    (
        "SELECT COUNT(DISTINCT person_id) FILTER (WHERE urgent) FROM visits",
        "visits ASK count_units=count_units(case(urgent, 1, NULL))",
    ),
    (
        "SELECT CORR(cost, quantity), COVAR_POP(cost, cost) FROM visits",
        "visits ASK corr_cost_quantity=correlation(cost, case(is_null(cost), NULL, quantity)), covar_pop_cost_cost=covar(cost, cost, population)",
    ),
    (
        "SELECT SKEWNESS(cost) FILTER (WHERE urgent) FROM visits",
        "visits ASK skewness=skewness(case(urgent, cost, NULL))",
    ),
    (
        "SELECT COUNT(*) FROM visits",
        "visits ASK count=count()",
    ),
    (
        "select count(*) from VISITS",
        "visits ASK count=count()",
    ),
    (
        "SELECT COUNT(1) AS n FROM visits;",
        "visits ASK n=count()",
    ),
    (
        "SELECT COUNT(cost) FROM visits",
        "visits ASK count_cost=count_of(cost)",
    ),
    (
        "SELECT COUNT(person_id) FROM visits",
        "visits ASK count_person_id=count()",
    ),
    (
        "SELECT COUNT(DISTINCT person_id) FROM visits",
        "visits ASK count_units=count_units()",
    ),
    (
        "SELECT COUNT(DISTINCT person_id) AS people, COUNT(*) AS rows_ FROM visits",
        "visits ASK people=count_units(), rows_=count()",
    ),
    (
        "SELECT COUNT(DISTINCT dept) FROM visits",
        "visits ASK count_distinct_dept=count_distinct(dept)",
    ),
    (
        "SELECT COUNT_UNITS() FROM items",
        "items→orders ASK count_units=count_units()",
    ),
    (
        "SELECT COUNTIF(cost > 10) FROM visits",
        "visits ASK count=count_of(case(greater(cost, 10), 1, NULL))",
    ),
    (
        "SELECT COUNT(*) FILTER (WHERE cost > 10) FROM visits",
        "visits ASK count=count_of(case(greater(cost, 10), 1, NULL))",
    ),
    (
        "SELECT SUM(cost) FILTER (WHERE urgent) FROM visits",
        "visits ASK sum=sum(case(urgent, cost, NULL))",
    ),
    (
        "SELECT SUM(cost), AVG(cost), SUM(cost) / COUNT(*) AS mean FROM visits",
        "visits ASK sum_cost=sum(cost), avg_cost=mean(cost), count=count() SHOW sum_cost, avg_cost, mean=divide(sum_cost, count)",
    ),
    (
        "SELECT VARIANCE(cost), VAR_SAMP(cost), VAR_POP(cost) FROM visits",
        "visits ASK variance_cost=variance(cost), variance_pop_cost=variance(cost, population) SHOW variance_cost, variance_cost_2=variance_cost, variance_pop_cost",
    ),
    (
        "SELECT STDDEV(cost), STDDEV_SAMP(cost), STDDEV_POP(cost) FROM visits",
        "visits ASK stddev_cost=stddev(cost), stddev_pop_cost=stddev(cost, population) SHOW stddev_cost, stddev_cost_2=stddev_cost, stddev_pop_cost",
    ),
    (
        "SELECT MEDIAN(cost) FROM visits",
        "visits ASK median_cost=quantile(cost, 1/2)",
    ),
    (
        "SELECT QUANTILE(cost, 0.9), QUANTILE_CONT(cost, 0.25), APPROX_QUANTILE(cost, 0.75) FROM visits",
        "visits ASK quantile_cost=quantile(cost, 9/10), quantile_cost_2=quantile(cost, 1/4), quantile_cost_3=quantile(cost, 3/4)",
    ),
    (
        "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost) AS p90 FROM visits",
        "visits ASK p90=quantile(cost, 9/10)",
    ),
    (
        "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost DESC) AS p10 FROM visits",
        "visits ASK p10=quantile(cost, 1/10)",
    ),
    (
        "SELECT MIN(cost), MAX(cost) FROM visits",
        "visits ASK min_cost=quantile(cost, 1/100), max_cost=quantile(cost, 99/100)",
    ),
    (
        "SELECT MODE(dept) FROM visits",
        "visits ASK mode_dept=mode(dept)",
    ),
    (
        "SELECT MODE() WITHIN GROUP (ORDER BY dept) FROM visits",
        "visits ASK mode_dept=mode(dept)",
    ),
    (
        "SELECT dept, COUNT(*) FROM visits GROUP BY dept",
        "visits BY dept ASK count=count()",
    ),
    (
        "SELECT dept, COUNT(*) FROM visits GROUP BY 1",
        "visits BY dept ASK count=count()",
    ),
    (
        "SELECT dept AS d, COUNT(*) FROM visits GROUP BY d",
        "visits BY d=dept ASK count=count()",
    ),
    (
        "SELECT DEPT, count(*) AS n FROM visits GROUP BY Dept ORDER BY N DESC LIMIT 3",
        "visits BY dept ASK n=count() ORDER n desc LIMIT 3",
    ),
    (
        "SELECT COUNT(*) FROM visits GROUP BY dept",
        "visits BY dept ASK count=count() SHOW count",
    ),
    (
        "SELECT dept, COUNT(*) AS n, AVG(cost) AS mean_cost FROM visits GROUP BY dept",
        "visits BY dept ASK n=count(), mean_cost=mean(cost)",
    ),
    (
        "SELECT dept, urgent, COUNT(*) AS n FROM visits GROUP BY ALL",
        "visits BY dept, urgent ASK n=count()",
    ),
    (
        "SELECT 'all' AS label, COUNT(*) AS n FROM visits GROUP BY ALL",
        "visits ASK n=count() SHOW label='all', n",
    ),
    (
        "SELECT EXTRACT(MONTH FROM day) AS month, COUNT(*) AS n FROM visits GROUP BY EXTRACT(MONTH FROM day)",
        "visits BY month=month(day) ASK n=count()",
    ),
    (
        "SELECT MONTH(day), COUNT(*) AS n FROM visits GROUP BY 1",
        "visits BY month=month(day) ASK n=count()",
    ),
    (
        "SELECT YEAR(day) AS y, QUARTER(day) AS q, COUNT(*) AS n FROM visits GROUP BY y, q",
        "visits BY y=year(day), q=quarter(day) ASK n=count()",
    ),
    (
        "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits GROUP BY m",
        "visits BY m=start_of_month(day) ASK n=count()",
    ),
    (
        "SELECT CAST(seen AS DATE) AS d, HOUR(seen) AS h, COUNT(*) FROM visits GROUP BY d, h",
        "visits BY d=to_date(seen), h=hour(seen) ASK count=count()",
    ),
    (
        "SELECT ISODOW(day) AS w, COUNT(*) FROM visits GROUP BY w",
        "visits BY w=weekday(day) ASK count=count()",
    ),
    (
        "SELECT DATE_PART('year', day) AS y, COUNT(*) FROM visits GROUP BY y",
        "visits BY y=year(day) ASK count=count()",
    ),
    (
        "SELECT WIDTH_BUCKET(cost, 0, 500, 10) AS bin, COUNT(*) AS n FROM visits GROUP BY bin",
        "visits BY bin=width_bucket(cost, 0, 500, 10) ASK n=count()",
    ),
    (
        "SELECT FLOOR(cost / 20) * 20 AS bin, COUNT(*) FROM visits GROUP BY bin",
        "visits BY bin=multiply(floor(divide(cost, 20)), 20) ASK count=count()",
    ),
    (
        "SELECT ROUND(cost, -2) AS bin, COUNT(*) FROM visits GROUP BY bin",
        "visits BY bin=multiply(round(divide(cost, 100)), 100) ASK count=count()",
    ),
    (
        "SELECT FLOOR(cost / 100) AS bin, COUNT(*) FROM visits GROUP BY bin",
        "visits BY bin=floor(divide(cost, 100)) ASK count=count()",
    ),
    (
        "SELECT CASE WHEN cost > 100 THEN 'high' ELSE 'low' END AS level, COUNT(*) FROM visits GROUP BY level",
        "visits BY level=case(greater(cost, 100), 'high', 'low') ASK count=count()",
    ),
    (
        "SELECT CASE dept WHEN 'er' THEN 1 WHEN 'icu' THEN 2 END AS code, COUNT(*) FROM visits GROUP BY code",
        "visits BY code=case(equal(dept, 'er'), 1, equal(dept, 'icu'), 2, NULL) ASK count=count()",
    ),
    (
        "SELECT UPPER(dept) AS d, COUNT(*) FROM visits GROUP BY dept",
        "visits BY dept ASK count=count() SHOW d=upper(dept), count",
    ),
    (
        "SELECT LEFT(dept, 2) AS d, COUNT(*) FROM visits GROUP BY d",
        "visits BY d=substring(dept, 1, 2) ASK count=count()",
    ),
    (
        "SELECT SUBSTRING(dept, 2) AS d, COUNT(*) FROM visits GROUP BY d",
        "visits BY d=substring(dept, 2, 1000000) ASK count=count()",
    ),
    (
        "SELECT dept || '-' || 'x' AS d, COUNT(*) FROM visits GROUP BY d",
        "visits BY d=concat(dept, '-', 'x') ASK count=count()",
    ),
    (
        "SELECT CONCAT(dept, 'x') AS d, COUNT(*) FROM visits GROUP BY d",
        "visits BY d=concat(coalesce(dept, ''), 'x') ASK count=count()",
    ),
]
