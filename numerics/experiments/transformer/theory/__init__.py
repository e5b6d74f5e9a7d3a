"""What is predicted: from what was measured on the network and, where said, a run's samples."""
