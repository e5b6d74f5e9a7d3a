"""What is predicted, from what was measured on the network and nothing else."""
