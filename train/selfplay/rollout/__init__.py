"""From a batch of games and a network to samples: what is seen, played, paid and credited."""
