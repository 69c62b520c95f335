"""What randomised algorithms cost: the algebra of privacy losses, its theorems, and budgets that survive adaptivity."""
