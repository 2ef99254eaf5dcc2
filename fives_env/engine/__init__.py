"""The rules, written once: compiled scalar functions over one record.

`keys` (random streams), `layout` (tiles on the table), `scoring` (what an event is worth), `deal`,
`turns` (whose turn, what an action does, how rounds and matches end), `choose` (random and greedy),
`rewards`, `view`, `features`, `belief`, `chance` (deals and draws from outside), `bits`; and
`loops`, which map them over a batch.
A function that takes `public` works on a GAME and on a VIEW alike, and reads public fields only.
"""
