"""The course of whole matches, in compiled code: played and recorded, or replayed and counted.

A folder of its own, since compiled code is compiled anew after an edit of any file beside it.
"""
