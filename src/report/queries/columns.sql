-- Tables and views of the database with their columns: for the tree beside the SQL editor. No parameters.
SELECT s.type AS type, s.name AS name, c.name AS "column", c.type AS column_type
FROM sqlite_schema s
JOIN pragma_table_info(s.name) c
WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite%'
ORDER BY s.type DESC, s.name, c.cid;
