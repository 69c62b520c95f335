"""Run a plan: write its SQL, execute it on an engine, turn noisy totals into the rows that are shown."""
