"""Agent Feedback Loop: feedback memory for coding agents.

Importing this package costs nothing: every room is imported where it is used.
"""

__version__ = "0.1.0"
