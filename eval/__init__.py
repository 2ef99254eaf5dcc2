"""The lab's measuring side, room by room, in reading order; imports go down in this list.

report/      one page that shows what was found
ladder/      strength against greedy and time of a move of every agent
speed/       how fast everything is
openspiel/   equilibria of small games
exact/       small games walked: how much a best response makes of an agent
tournament/  who meets whom, results as they come, and what reads them again
stats/       what matches say: pure functions
arena/       where matches are played

What all use: `commands` (what the command line takes), `terminal` (tables for the eye), `wording`
(numbers as text), `style` (the look of pictures), `provenance` (on what it was measured), `matches`
(what was played), `run_files` (what train calls its files).
"""
