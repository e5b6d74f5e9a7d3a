"""What needs torch: policies, the trainer, and what is measured on a network before its run."""
