"""Make the documentation site: run the pages that show results, write the reference from docstrings, build, check every link."""
