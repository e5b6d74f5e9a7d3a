"""What is true of GRPO dynamics: premises, derivations, claims and their verdicts (SymPy)."""
