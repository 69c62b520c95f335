"""Looking at releases from outside: what an attacker can prove with public numbers."""
