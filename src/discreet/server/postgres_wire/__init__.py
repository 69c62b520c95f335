"""The server as a PostgreSQL server: psql, drivers and BI tools log in with a token and ask."""
