"""Tables that add up: what to measure of a family of tables with common cells, and the estimate in which every total is the sum of its parts."""
