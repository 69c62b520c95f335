"""DuckDB, embedded: files and data frames."""
