"""Statistics, one class and one file each; `statistic.py` says what a class must know, `registry.py` lists them."""
