"""Several questions that are asked together, at one price."""
