"""Questions that are read, each with what it is read as (see clinic.shown)."""
# ruff: noqa: E501

ACCEPTED: list[tuple[str, str]] = [
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
    (
        "SELECT COUNT(*) FROM visits WHERE cost > 10 AND dept = 'er' AND NOT urgent",
        "visits[and(greater(cost, 10), equal(dept, 'er'), not(urgent))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE (cost > 10 AND (dept = 'er')) AND urgent",
        "visits[and(greater(cost, 10), equal(dept, 'er'), urgent)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost > 10 OR dept = 'er' OR urgent",
        "visits[or(greater(cost, 10), equal(dept, 'er'), urgent)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost BETWEEN 1 AND 2.5",
        "visits[and(greater_equal(cost, 1), less_equal(cost, 5/2))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost NOT BETWEEN 1 AND 2",
        "visits[not(and(greater_equal(cost, 1), less_equal(cost, 2)))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE dept IN ('er', 'lab')",
        "visits[in(dept, 'er', 'lab')] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE dept NOT IN ('er')",
        "visits[not(in(dept, 'er'))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost IS NULL",
        "visits[is_null(cost)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost IS NOT NULL",
        "visits[not(is_null(cost))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE urgent IS TRUE",
        "visits[coalesce(urgent, False)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE urgent IS NOT FALSE",
        "visits[not(coalesce(not(urgent), False))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE urgent = TRUE",
        "visits[equal(urgent, True)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE day >= '2024-01-01'",
        "visits[greater_equal(day, 2024-01-01)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE day = DATE '2024-02-29'",
        "visits[equal(day, 2024-02-29)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE day BETWEEN '2024-01-01' AND CAST('2024-12-31' AS DATE)",
        "visits[and(greater_equal(day, 2024-01-01), less_equal(day, 2024-12-31))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE day IN ('2024-01-01', '2024-01-02')",
        "visits[in(day, 2024-01-01, 2024-01-02)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE seen < '2024-01-01 12:30:00'",
        "visits[less(seen, 2024-01-01 12:30:00)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE seen < TIMESTAMP '2024-01-01 12:30:00'",
        "visits[less(seen, 2024-01-01 12:30:00)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE seen >= DATE '2024-01-01'",
        "visits[greater_equal(seen, 2024-01-01 00:00:00)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE '2024-01-01' <= day",
        "visits[less_equal(2024-01-01, day)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE dept LIKE 'e%'",
        "visits[like(dept, 'e%')] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE dept NOT LIKE 'e%'",
        "visits[not(like(dept, 'e%'))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE dept ILIKE 'E%'",
        "visits[like(lower(dept), 'e%')] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE STARTS_WITH(dept, 'e')",
        "visits[starts_with(dept, 'e')] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE LENGTH(TRIM(LOWER(dept))) = 2",
        "visits[equal(length(trim(lower(dept))), 2)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE COALESCE(cost, 0) > 1",
        "visits[greater(coalesce(cost, 0), 1)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE IFNULL(cost, 0) > 1",
        "visits[greater(coalesce(cost, 0), 1)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE NULLIF(dept, 'er') IS NULL",
        "visits[is_null(case(equal(dept, 'er'), NULL, dept))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE IF(urgent, cost, 0) > 1",
        "visits[greater(case(urgent, cost, 0), 1)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE quantity % 2 = 0 AND MOD(quantity, 3) = 1",
        "visits[and(equal(modulo(quantity, 2), 0), equal(modulo(quantity, 3), 1))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE quantity // 2 = 1",
        "visits[equal(truncate(divide(quantity, 2)), 1)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE -cost < -5 AND +cost > 1",
        "visits[and(less(negate(cost), -5), greater(cost, 1))] ASK count=count()",
    ),
    (
        "SELECT SUM(cost * quantity) AS revenue FROM visits",
        "visits ASK revenue=sum(multiply(cost, quantity))",
    ),
    (
        "SELECT SUM(cost / quantity) FROM visits",
        "visits ASK sum=sum(divide(cost, quantity))",
    ),
    (
        "SELECT SUM(ABS(cost - 250)), SUM(ROUND(cost)), SUM(ROUND(cost, 2)), SUM(CEIL(cost)), SUM(TRUNC(cost)) FROM visits",
        "visits ASK sum=sum(abs(subtract(cost, 250))), sum_2=sum(round(cost)), sum_3=sum(round(cost, 2)), sum_4=sum(ceil(cost)), sum_5=sum(truncate(cost))",
    ),
    (
        "SELECT SUM(SQRT(cost)), SUM(LN(cost + 1)), SUM(EXP(cost / 100)), SUM(POWER(cost, 2)), SUM(cost ** 3), SUM(POW(cost, 0.5)) FROM visits",
        "visits ASK sum=sum(sqrt(cost)), sum_2=sum(ln(add(cost, 1))), sum_3=sum(exp(divide(cost, 100))), sum_4=sum(multiply(cost, cost)), sum_5=sum(multiply(multiply(cost, cost), cost)) SHOW sum, sum_2, sum_3, sum_4, sum_5, sum_6=sum",
    ),
    (
        "SELECT SUM(LEAST(GREATEST(open, 0), 100)) FROM visits",
        "visits ASK sum=sum(least(greatest(open, 0), 100))",
    ),
    (
        "SELECT SUM(CLAMP(open, 0, 100)), AVG(CLIP(open, -5, 5)) FROM visits",
        "visits ASK sum=sum(least(greatest(open, 0), 100)), avg=mean(least(greatest(open, -5), 5))",
    ),
    (
        "SELECT SUM(CASE WHEN urgent THEN cost ELSE 0 END) FROM visits",
        "visits ASK sum=sum(case(urgent, cost, 0))",
    ),
    (
        "SELECT AVG(CAST(urgent AS INTEGER)) AS share FROM visits",
        "visits ASK share=mean(case(urgent, 1, not(urgent), 0, NULL))",
    ),
    (
        "SELECT AVG(urgent::INT) AS share FROM visits",
        "visits ASK share=mean(case(urgent, 1, not(urgent), 0, NULL))",
    ),
    (
        "SELECT SUM(CAST(quantity AS DOUBLE)) FROM visits",
        "visits ASK sum=sum(to_real(quantity))",
    ),
    (
        "SELECT SUM(CAST(cost AS BIGINT)) FROM visits",
        "visits ASK sum=sum(round(cost))",
    ),
    (
        "SELECT SUM(1.5e2 * cost) FROM visits",
        "visits ASK sum=sum(multiply(150, cost))",
    ),
    (
        "SELECT SUM(CASE WHEN TRUE THEN NULL ELSE cost END) FROM visits",
        "visits ASK sum=sum(case(True, NULL, cost))",
    ),
    (
        "SELECT MODE(CASE WHEN urgent THEN TRUE END), MODE(CASE WHEN urgent THEN 1 END) FROM visits",
        "visits ASK mode=mode(case(urgent, True, NULL)), mode_2=mode(case(urgent, 1, NULL))",
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept HAVING COUNT(*) > 100",
        "visits BY dept ASK n=count() HAVING greater(n, 100)",
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept HAVING n > 100 AND dept <> 'er'",
        "visits BY dept ASK n=count() HAVING and(greater(n, 100), not_equal(dept, 'er'))",
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept HAVING AVG(cost) > 3 ORDER BY SUM(cost) DESC, dept",
        "visits BY dept ASK n=count(), avg_cost=mean(cost), sum_cost=sum(cost) SHOW dept, n HAVING greater(avg_cost, 3) ORDER sum_cost desc, dept",
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept ORDER BY 2 DESC NULLS LAST, 1 ASC",
        "visits BY dept ASK n=count() ORDER n desc, dept",
    ),
    (
        "SELECT dept, 100.0 * COUNTIF(urgent) / COUNT(*) AS share FROM visits GROUP BY dept ORDER BY share",
        "visits BY dept ASK count=count_of(case(urgent, 1, NULL)), count_2=count() SHOW dept, share=divide(multiply(100, count), count_2) ORDER divide(multiply(100, count), count_2)",
    ),
    (
        "SELECT dept, ROUND(AVG(cost), 2) AS mean, COALESCE(SUM(cost), 0) AS total FROM visits GROUP BY dept",
        "visits BY dept ASK avg_cost=mean(cost), sum_cost=sum(cost) SHOW dept, mean=round(avg_cost, 2), total=coalesce(sum_cost, 0)",
    ),
    (
        "SELECT dept, CASE WHEN COUNT(*) > 10 THEN 'many' ELSE 'few' END AS size FROM visits GROUP BY dept",
        "visits BY dept ASK count=count() SHOW dept, size=case(greater(count, 10), 'many', 'few')",
    ),
    (
        "SELECT SQRT(VAR_POP(cost)) AS sd, EXP(AVG(LN(cost + 1))) AS geo FROM visits",
        "visits ASK variance_pop_cost=variance(cost, population), avg=mean(ln(add(cost, 1))) SHOW sd=sqrt(variance_pop_cost), geo=exp(avg)",
    ),
    (
        "SELECT AVG(cost) - MEDIAN(cost) AS skew, GREATEST(COUNT(*), 0) AS n FROM visits",
        "visits ASK avg_cost=mean(cost), median_cost=quantile(cost, 1/2), count=count() SHOW skew=subtract(avg_cost, median_cost), n=greatest(count, 0)",
    ),
    (
        "SELECT COUNT(*), COUNT(*) FROM visits",
        "visits ASK count=count() SHOW count, count_2=count",
    ),
    (
        "SELECT dept, dept AS again, COUNT(*) FROM visits GROUP BY dept",
        "visits BY dept ASK count=count() SHOW dept, again=dept, count",
    ),
    (
        "SELECT v.dept, COUNT(*) FROM visits v GROUP BY v.dept",
        "visits BY dept ASK count=count()",
    ),
    (
        "SELECT visits.dept, COUNT(*) FROM visits GROUP BY dept",
        "visits BY dept ASK count=count()",
    ),
    (
        "SELECT v.dept, COUNT(*) FROM visits AS v(p, s, cost, quantity, dept, day, seen, urgent, open) WHERE s > 1 GROUP BY v.dept",
        "visits{p=person_id, s=site_id, cost, quantity, dept, day, seen, urgent, open}[greater(s, 1)] BY dept ASK count=count()",
    ),
    (
        'SELECT "dept", COUNT(*) AS "How many" FROM "visits" GROUP BY "dept"',
        "visits BY dept ASK How many=count()",
    ),
    (
        'SELECT a, "A", COUNT(*) FROM "Mixed Case" GROUP BY a, "A"',
        "Mixed Case BY a, A ASK count=count()",
    ),
    (
        "SELECT region, SUM(cost) FROM visits v JOIN sites s ON v.site_id = s.id GROUP BY region",
        "(visits ⋈ sites on site_id=id) BY region ASK sum_cost=sum(cost)",
    ),
    (
        "SELECT region, SUM(cost) FROM sites s JOIN visits v ON v.site_id = s.id GROUP BY region",
        "(sites ⋈ visits on id=site_id) BY region ASK sum_cost=sum(cost)",
    ),
    (
        "SELECT region, SUM(cost) FROM visits v, sites s WHERE v.site_id = s.id AND cost > 1 GROUP BY region",
        "(visits ⋈ sites on site_id=id)[greater(cost, 1)] BY region ASK sum_cost=sum(cost)",
    ),
    (
        "SELECT region, COUNT(*) FROM visits v LEFT JOIN sites s ON v.site_id = s.id AND s.beds > 10 GROUP BY region",
        "(visits ⟕ sites[greater(beds, 10)] on site_id=id) BY region ASK count=count()",
    ),
    (
        "SELECT r.population, COUNT(*) FROM visits v JOIN sites s ON v.site_id = s.id JOIN regions r USING (region) GROUP BY 1",
        "((visits ⋈ sites on site_id=id) ⋈ regions{region_2=region, population} on region=region_2) BY population ASK count=count()",
    ),
    (
        "SELECT region, COUNT(*) FROM visits v JOIN sites s ON v.site_id = s.id JOIN regions USING (region) GROUP BY region",
        "((visits ⋈ sites on site_id=id) ⋈ regions{region_2=region, population} on region=region_2) BY region ASK count=count()",
    ),
    (
        "SELECT region, COUNT(*) FROM visits v INNER JOIN (SELECT id, region FROM sites WHERE beds > 5) s ON s.id = v.site_id GROUP BY region",
        "(visits ⋈ sites[greater(beds, 5)]{id, region} on site_id=id) BY region ASK count=count()",
    ),
    (
        "SELECT region, COUNT(*) FROM visits v JOIN sites s ON v.site_id = s.id AND v.cost > s.beds GROUP BY region",
        "(visits ⋈ sites on site_id=id)[greater(cost, beds)] BY region ASK count=count()",
    ),
    (
        "SELECT age, COUNT(*) FROM persons GROUP BY age",
        "persons BY age ASK count=count()",
    ),
    (
        "WITH v AS (SELECT person_id AS pid, cost * 2 AS c FROM visits WHERE cost > 0), j AS (SELECT v.pid, p.age, v.c FROM v JOIN persons p ON p.id = v.pid) SELECT age, SUM(c) FROM j GROUP BY 1",
        "(visits[greater(cost, 0)]{pid=person_id, c=multiply(cost, 2)} ⋈ persons on unit){pid, age, c} BY age ASK sum_c=sum(c)",
    ),
    (
        "SELECT r.drug, AVG(v.cost) FROM visits v JOIN rx r USING (person_id) GROUP BY r.drug",
        "(visits ⋈ rx{person_id_2=person_id, drug, dose} on unit) BY drug ASK avg_cost=mean(cost)",
    ),
    (
        "SELECT COUNT(DISTINCT person_id) FROM visits JOIN rx USING (person_id)",
        "(visits ⋈ rx{person_id_2=person_id, drug, dose} on unit) ASK count_units=count_units()",
    ),
    (
        "SELECT drug, COUNT(*) FROM visits v LEFT JOIN rx r ON v.person_id = r.person_id AND r.dose > 1 GROUP BY drug",
        "(visits ⟕ rx[greater(dose, 1)]{person_id_2=person_id, drug, dose} on unit) BY drug ASK count=count()",
    ),
    (
        "SELECT a.dept, b.dept AS other, COUNT(*) FROM visits a JOIN visits b ON a.person_id = b.person_id GROUP BY a.dept, b.dept",
        "(visits ⋈ visits{person_id_2=person_id, site_id_2=site_id, cost_2=cost, quantity_2=quantity, dept_2=dept, day_2=day, seen_2=seen, urgent_2=urgent, open_2=open} on unit) BY dept, other=dept_2 ASK count=count()",
    ),
    (
        "SELECT sku, COUNT(*), AVG(price) FROM items GROUP BY sku",
        "items→orders BY sku ASK count=count(), avg_price=mean(price)",
    ),
    (
        "SELECT sku, SUM(total) FROM items i JOIN orders o ON i.order_id = o.order_id GROUP BY sku",
        "(items→orders ⋈ orders{order_id_2=order_id, person_id, total} on order_id=order_id_2) BY sku ASK sum_total=sum(total)",
    ),
    (
        "SELECT sku, SUM(amount) FROM items i JOIN payments p ON i.order_id = p.order_id GROUP BY sku",
        "(items→orders ⋈ payments→orders{order_id_2=order_id, amount} on order_id=order_id_2) BY sku ASK sum_amount=sum(amount)",
    ),
    (
        "SELECT age, SUM(total) FROM orders o JOIN persons p ON o.person_id = p.id GROUP BY age",
        "(orders ⋈ persons on unit) BY age ASK sum_total=sum(total)",
    ),
    (
        "SELECT n, COUNT(*) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) GROUP BY n",
        "visits/(person_id; ; n=count()) BY n ASK count=count()",
    ),
    (
        "SELECT AVG(n) FROM (SELECT person_id, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY person_id HAVING COUNT(*) > 1) t",
        "visits/(person_id; ; n=count(), s=sum(cost))[greater(n, 1)] ASK avg_n=mean(n)",
    ),
    (
        "SELECT dept, AVG(s) FROM (SELECT person_id, dept, SUM(cost) AS s FROM visits GROUP BY person_id, dept) GROUP BY dept",
        "visits/(person_id; dept; s=sum(cost)) BY dept ASK avg_s=mean(s)",
    ),
    (
        "SELECT dept, AVG(s) FROM (SELECT dept, SUM(cost) AS s FROM visits GROUP BY person_id, dept) GROUP BY dept",
        "visits/(; dept; s=sum(cost)) BY dept ASK avg_s=mean(s)",
    ),
    (
        "SELECT AVG(hi - lo) FROM (SELECT person_id, MIN(cost) AS lo, MAX(cost) AS hi FROM visits GROUP BY 1)",
        "visits/(person_id; ; lo=min(cost), hi=max(cost)) ASK avg=mean(subtract(hi, lo))",
    ),
    (
        "SELECT AVG(d) FROM (SELECT person_id, COUNT(DISTINCT dept) AS d FROM visits GROUP BY person_id)",
        "visits/(person_id; ; d=count_distinct(dept)) ASK avg_d=mean(d)",
    ),
    (
        "SELECT AVG(m) FROM (SELECT AVG(cost) / 2 AS m, person_id FROM visits GROUP BY person_id)",
        "visits/(person_id; ; avg_cost=mean(cost)){m=divide(avg_cost, 2), person_id} ASK avg_m=mean(m)",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT person_id, dept FROM visits GROUP BY person_id, dept)",
        "visits/(person_id; dept; ) ASK count=count()",
    ),
    (
        "SELECT age, AVG(n) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) t JOIN persons p ON p.id = t.person_id GROUP BY age",
        "(visits/(person_id; ; n=count()) ⋈ persons on unit) BY age ASK avg_n=mean(n)",
    ),
    (
        "SELECT n, COUNT(*) FROM (SELECT person_id, COUNT(*) FILTER (WHERE urgent) AS n FROM visits GROUP BY person_id) GROUP BY n",
        "visits/(person_id; ; n=count_of(case(urgent, 1, NULL))) BY n ASK count=count()",
    ),
    (
        "SELECT x, COUNT(*) FROM (SELECT site_id AS x, person_id FROM visits UNION ALL SELECT 0, person_id FROM rx) u GROUP BY x",
        "(visits{x=site_id, person_id} + rx{x=0, person_id}) BY x ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT dept FROM visits UNION ALL SELECT drug FROM rx UNION ALL SELECT sku FROM items)",
        "(visits{dept} + rx{dept=drug} + items→orders{dept=sku}) ASK count=count()",
    ),
    (
        "SELECT dept, COUNT(*) FROM (SELECT * FROM visits) GROUP BY dept",
        "visits BY dept ASK count=count()",
    ),
    (
        "SELECT dept, COUNT(*) FROM (SELECT * EXCLUDE (cost, open) FROM visits) GROUP BY dept",
        "visits{person_id, site_id, quantity, dept, day, seen, urgent} BY dept ASK count=count()",
    ),
    (
        "SELECT dept, COUNT(*) FROM (SELECT v.*, region FROM visits v JOIN sites s ON s.id = v.site_id) GROUP BY dept",
        "(visits ⋈ sites on site_id=id){person_id, site_id, cost, quantity, dept, day, seen, urgent, open, region} BY dept ASK count=count()",
    ),
    (
        "FROM visits SELECT dept, COUNT(*) GROUP BY ALL",
        "visits BY dept ASK count=count()",
    ),
    (
        "(SELECT COUNT(*) FROM visits)",
        "visits ASK count=count()",
    ),
    (
        "WITH visits AS (SELECT * FROM visits WHERE cost > 1) SELECT COUNT(*) FROM visits",
        "visits[greater(cost, 1)] ASK count=count()",
    ),
    (
        "WITH a AS (SELECT person_id, cost FROM visits), b AS (SELECT * FROM a WHERE cost > 1) SELECT AVG(cost) FROM b",
        "visits{person_id, cost}[greater(cost, 1)] ASK avg_cost=mean(cost)",
    ),
    (
        "WITH a(who, what) AS (SELECT person_id, cost FROM visits) SELECT AVG(what) FROM a",
        "visits{who=person_id, what=cost} ASK avg_what=mean(what)",
    ),
    (
        "SELECT AVG(x) FROM (WITH a AS (SELECT cost AS x FROM visits) SELECT x FROM a WHERE x > 0) t",
        "visits{x=cost}[greater(x, 0)] ASK avg_x=mean(x)",
    ),
    (
        "SELECT AVG(c) FROM (SELECT cost AS c FROM (SELECT cost FROM visits WHERE cost > 1) a WHERE cost < 9) b",
        "visits[greater(cost, 1)]{cost}[less(cost, 9)]{c=cost} ASK avg_c=mean(c)",
    ),
    (
        "SELECT kind, AVG(level) FROM events WHERE level > 0 GROUP BY kind",
        "events[greater(level, 0)] BY kind ASK avg_level=mean(level)",
    ),
    (
        "SELECT /* hello */ COUNT(*) FROM visits -- there",
        "visits ASK count=count()",
    ),
    (
        "SELECT SUM(cost) /* sqlglot.anonymous */ FROM visits",
        "visits ASK sum_cost=sum(cost)",
    ),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, delta=1e-6, max_groups_contributed=3, privacy_unit_column=person_id) dept, COUNT(*) AS n FROM visits GROUP BY dept",
        "visits BY dept ASK n=count() PRIVACY 1/2 1/1000000 None 3 None",
    ),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_groups_contributed=2, privacy_unit_column=person_id) dept, COUNT(*, contribution_bounds_per_group => (0, 5)) AS n, AVG(cost, contribution_bounds_per_group => (0, 100)) AS m FROM visits GROUP BY dept",
        "visits/(; dept; share=count(), share_2=mean(cost)) BY dept ASK n=sum(least(greatest(share, 0), 5)), m=mean(least(greatest(share_2, 0), 100)) PRIVACY 1 None None 2 1",
    ),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=0) SUM(cost, contribution_bounds_per_row => (-1, 10.5)) AS s FROM visits",
        "visits ASK s=sum(least(greatest(cost, -1), 21/2)) PRIVACY 1 0 None None None",
    ),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_rows_contributed=4) SUM(cost) AS s FROM visits",
        "visits ASK s=sum(cost) PRIVACY 1 None 4 None None",
    ),
    (
        "SELECT dept, SUM(cost, contribution_bounds_per_group => (0, 50)) AS s, COUNT(*) AS n, COUNT(DISTINCT person_id) AS p FROM visits GROUP BY dept",
        "visits/(; dept; share=sum(cost), share_2=count()) BY dept ASK s=sum(least(greatest(share, 0), 50)), n=sum(share_2), p=count_units() PRIVACY None None None None 1",
    ),
    (
        "SELECT kind, SUM(level, contribution_bounds_per_group => (0, 3)) AS s FROM events GROUP BY kind",
        "events BY kind ASK s=sum(least(greatest(level, 0), 3)) PRIVACY None None None None 1",
    ),
    (
        "SELECT dept, COUNT(*) FROM visits GROUP BY (dept)",
        "visits BY dept ASK count=count()",
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept HAVING n BETWEEN 1 AND 5 OR dept IN ('er')",
        "visits BY dept ASK n=count() HAVING or(and(greater_equal(n, 1), less_equal(n, 5)), in(dept, 'er'))",
    ),
    (
        "SELECT dept, -COUNT(*) AS minus FROM visits GROUP BY dept ORDER BY -COUNT(*)",
        "visits BY dept ASK count=count() SHOW dept, minus=negate(count) ORDER negate(count)",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE dept = 'it''s -- not a comment; /* nor this */'",
        'visits[equal(dept, "it\'s -- not a comment; /* nor this */")] ASK count=count()',
    ),
    (
        "SELECT COUNT(*) FROM visits LIMIT 1",
        "visits ASK count=count() LIMIT 1",
    ),
    (
        "SELECT site_id + 1 AS s, COUNT(*) FROM visits GROUP BY site_id + 1 HAVING site_id + 1 > 2",
        "visits BY s=add(site_id, 1) ASK count=count() HAVING greater(s, 2)",
    ),
    (
        "SELECT (site_id + 1) * 2 AS s, COUNT(*) FROM visits GROUP BY site_id + 1",
        "visits BY add=add(site_id, 1) ASK count=count() SHOW s=multiply(add, 2), count",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE DATE(seen) = '2024-01-01'",
        "visits[equal(to_date(seen), 2024-01-01)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE MINUTE(seen) < 30 AND DAY(seen) = 1",
        "visits[and(less(minute(seen), 30), equal(day(seen), 1))] ASK count=count()",
    ),
    (
        "SELECT AVG(n) FROM (SELECT o.person_id, COUNT(*) AS n FROM items i JOIN orders o ON i.order_id = o.order_id GROUP BY o.person_id)",
        "(items→orders ⋈ orders{order_id_2=order_id, person_id, total} on order_id=order_id_2)/(person_id; ; n=count()) ASK avg_n=mean(n)",
    ),
    (
        "SELECT APPROX_COUNT_DISTINCT(dept) AS d FROM visits",
        "visits ASK d=count_distinct(dept)",
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept HAVING UPPER(dept) = 'ER' AND LENGTH(dept) > 1",
        "visits BY dept ASK n=count() HAVING and(equal(upper(dept), 'ER'), greater(length(dept), 1))",
    ),
    (
        "SELECT site_id, COUNT(*) AS n FROM visits GROUP BY site_id HAVING site_id BETWEEN 2 AND 4",
        "visits BY site_id ASK n=count() HAVING and(greater_equal(site_id, 2), less_equal(site_id, 4))",
    ),
    (
        "SELECT s.region, r.population, COUNT(*) AS n FROM sites s JOIN regions r ON s.region = r.region JOIN visits v ON v.site_id = s.id GROUP BY ALL",
        "((sites ⋈ regions{region_2=region, population} on region=region_2) ⋈ visits on id=site_id) BY region, population ASK n=count()",
    ),
    (
        "SELECT AVG(v.cost - t.m) AS d FROM visits v JOIN (SELECT person_id, AVG(cost) AS m FROM visits GROUP BY person_id) t ON t.person_id = v.person_id",
        "(visits ⋈ visits/(person_id; ; m=mean(cost)){person_id_2=person_id, m} on unit) ASK d=mean(subtract(cost, m))",
    ),
]
