"""`python -m discreet`: the demonstration."""

from discreet.cli.demo import main

main()
