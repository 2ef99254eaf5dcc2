"""``python -m eval report``: one page about runs, tournaments and speed.

command      what goes on the page
parts        the files that it is made from
pages/       its sections: a tournament, several, a training run
blocks       what a page is made of: text, tables, pictures
page         blocks as HTML
markdown     blocks as Markdown
agent_plots  pictures of agents
learning     the learning curve
"""
