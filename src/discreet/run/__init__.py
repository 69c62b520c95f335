"""Run a plan: write its SQL, execute it on an engine, turn noisy totals into output rows."""
