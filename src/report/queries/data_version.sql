-- Changes when another process has written to the database. No parameters.
PRAGMA data_version;
