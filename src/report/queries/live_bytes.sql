-- Live memory of run ?1 at each step, in plan order; empty where no memory was planned.
SELECT step AS step, live_bytes AS live_bytes FROM memory WHERE run = ?1 AND EXISTS (SELECT 1 FROM buffer WHERE run = ?1) ORDER BY step;
