"""What may be asked of rows: total, typed expressions and relations in which every row belongs to one unit."""
