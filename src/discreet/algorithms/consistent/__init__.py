"""Tables that add up: what to measure of tables with common cells, and estimates in which every total is the sum of its parts."""
