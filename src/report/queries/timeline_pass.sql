-- When each step of pass ?2 of run ?1 began.
SELECT step AS step, begin_ns AS begin_ns, duration_ns AS duration_ns FROM sample WHERE run = ?1 AND pass = ?2 AND variant = 0 ORDER BY step;
