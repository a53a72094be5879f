-- What ran in pass ?2 of run ?1, by begin. SQLite sorts it beside the memory where it is long.
SELECT step AS step, begin_ns AS begin_ns, duration_ns AS duration_ns, executions AS executions, variant AS variant
FROM sample
WHERE run = ?1 AND pass = ?2
ORDER BY begin_ns, step, variant;
