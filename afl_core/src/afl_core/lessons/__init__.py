"""From a lesson to the words in a prompt."""
