-- The limits of run ?1's device: `limits` is memory or cache (bytes/s) or compute (FLOP/s); `provenance` is measured (in the run) or published.
SELECT c.limits AS limits, c.name AS name, c.per_s AS per_s, c.provenance AS provenance, c.source AS source
FROM run r
JOIN ceiling c ON c.device = r.device
WHERE r.id = ?1
ORDER BY CASE c.limits WHEN 'memory' THEN 0 WHEN 'compute' THEN 1 ELSE 2 END, c.per_s DESC, c.name, c.provenance;
