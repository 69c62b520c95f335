"""Questions: relations and statistics, parsed from SQL or built in Python."""
