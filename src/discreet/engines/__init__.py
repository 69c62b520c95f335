"""Where rows live: an engine runs SQL of our own and gives private columns."""
