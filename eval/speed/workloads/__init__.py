"""What is measured: of the `library`, of `agents` (decisions), of `training`."""
