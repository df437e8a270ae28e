"""SQLite: connection, numbered migrations, one repository file an aggregate."""
