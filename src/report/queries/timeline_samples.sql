-- The first ?2 samples of run ?1.
SELECT step AS step, variant AS variant, begin_ns AS begin_ns, duration_ns AS duration_ns FROM sample WHERE run = ?1 ORDER BY pass LIMIT ?2;
