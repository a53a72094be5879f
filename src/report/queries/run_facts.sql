-- What run ?1 ran, where and how: a row a fact, so that two runs can be held against each other.
SELECT 'module' AS fact, coalesce(m.name, '') AS value FROM run r LEFT JOIN module m ON m.id = r.module WHERE r.id = ?1
UNION ALL
SELECT 'source', coalesce(s.path, '') FROM run r LEFT JOIN module m ON m.id = r.module LEFT JOIN source s ON s.id = coalesce(m.source, r.source) WHERE r.id = ?1
UNION ALL
SELECT 'program', coalesce(substr(s.sha256, 1, 12), '') FROM run r LEFT JOIN module m ON m.id = r.module LEFT JOIN source s ON s.id = coalesce(m.source, r.source) WHERE r.id = ?1
UNION ALL
SELECT 'status', status FROM run WHERE id = ?1
UNION ALL
SELECT 'kind', kind FROM run WHERE id = ?1
UNION ALL
SELECT f.fact, f.value
FROM run r
JOIN device d ON d.id = r.device
JOIN (SELECT id AS id, 'device' AS fact, name AS value FROM device
      UNION ALL SELECT id, 'machine', model FROM device
      UNION ALL SELECT id, 'threads', CAST(threads AS TEXT) FROM device
      UNION ALL SELECT id, 'driver', driver FROM device
      UNION ALL SELECT id, 'libraries', libraries FROM device) f ON f.id = d.id
WHERE r.id = ?1
UNION ALL
SELECT name, value FROM run_option WHERE run = ?1 AND name NOT IN ('device', 'threads');
