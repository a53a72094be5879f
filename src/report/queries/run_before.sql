-- The newest run before run ?1 that has times, of the same program on the same device, with caches alike: cold in both or in none.
SELECT max(e.id) AS run
FROM run r
JOIN run e ON e.id < r.id AND e.kind = r.kind
LEFT JOIN module m ON m.id = r.module
LEFT JOIN module n ON n.id = e.module
LEFT JOIN device d ON d.id = r.device
LEFT JOIN device b ON b.id = e.device
JOIN run_time t ON t.run = e.id AND t.timed_steps > 0
WHERE r.id = ?1 AND n.name IS m.name AND b.name IS d.name AND b.threads IS d.threads AND (r.kind <> 'recorded' OR e.source = r.source)
  AND EXISTS (SELECT 1 FROM run_option WHERE run = e.id AND name = 'cold' AND value = 'yes')
    = EXISTS (SELECT 1 FROM run_option WHERE run = r.id AND name = 'cold' AND value = 'yes');
