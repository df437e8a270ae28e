"""The only way to alter what an agent will be told."""
