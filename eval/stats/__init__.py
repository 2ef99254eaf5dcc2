"""What matches say, as pure functions: no file, no picture, no agent.

intervals    shares and means with their 95 % intervals
scores       matches won and points a round, over pairs
ratings      Elo, with the worth of a place in the turn order
seats        what leading first is worth
sprt         the sequential test: stop once it is decided
nash         who would be chosen if everybody chose well
habits       how agents play: knocks, scores, blocked rounds
findings     all of it about one tournament, for a report
"""
