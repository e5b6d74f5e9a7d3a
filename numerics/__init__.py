"""What the dynamics of GRPO come to in numbers; running it needs no SymPy."""

__version__ = "0.1.0"
