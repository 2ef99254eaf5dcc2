"""From the options of a tournament to its results, and what reads them again.

command      ``python -m eval tournament``
live         the table while it is played
store        results.sqlite: every match with its moves, as they come
databases    how the file is opened: to write under a journal, to read without a trace
stored_rows  what is checked of a row before it is believed
summary      summary.json: what came of it
results      both read again
replay       ``python -m eval replay``: every match played again from its moves
export       ``python -m eval export``: a row a match, as CSV or Parquet
audit        ``python -m eval audit``: decisions put to the agents again, apart
"""
