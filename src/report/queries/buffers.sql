-- The buffers of run ?1's plan that have memory of their own, in the order of their numbers.
SELECT
  b.buffer AS buffer,
  b.name AS name,
  b.kind AS kind,
  b.bytes AS bytes,
  b."offset" AS arena_offset,
  b.first_step AS first_step,
  b.last_step AS last_step
FROM buffer b
WHERE b.run = ?1 AND b.alias_of IS NULL
ORDER BY b.buffer;
