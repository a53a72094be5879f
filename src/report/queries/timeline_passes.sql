-- Passes of run ?1 in the order of their times.
SELECT pass AS pass, begin_ns AS begin_ns, end_ns AS end_ns FROM pass WHERE run = ?1 ORDER BY begin_ns LIMIT 1000000;
