"""Training: ``python -m train`` lists the ways."""
