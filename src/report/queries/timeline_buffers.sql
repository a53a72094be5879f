-- Buffers of run ?1 that have memory of their own, the largest first.
SELECT name AS name, kind AS kind, bytes AS bytes, first_step AS first_step, last_step AS last_step
FROM buffer
WHERE run = ?1 AND alias_of IS NULL
ORDER BY bytes DESC, buffer
LIMIT 1000000;
