"""From YAML text to validated, frozen models whose errors name file, line, column and field."""
