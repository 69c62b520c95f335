"""The console: pages for people, rendered here; they can be read without JavaScript."""
