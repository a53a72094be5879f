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
SELECT coalesce(w.words, o.name), o.value || coalesce(w.unit, '')
FROM run_option o
LEFT JOIN (SELECT 'budget_s' AS name, 'budget' AS words, ' s' AS unit
           UNION ALL SELECT 'link_gbps', 'link', ' Gbit/s') w ON w.name = o.name
WHERE o.run = ?1 AND o.name NOT IN ('device', 'threads', 'device_auto', 'counters_how', 'cold');
