-- The file that the program of run ?1 was imported from.
SELECT coalesce(s.path, '') AS path
FROM run r
LEFT JOIN module m ON m.id = r.module
LEFT JOIN source s ON s.id = coalesce(m.source, r.source)
WHERE r.id = ?1;
