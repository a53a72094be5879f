-- Device of step ?2 of run ?1 as a log tells it; empty: not told.
SELECT coalesce(o.device, '') AS device FROM step s LEFT JOIN op o ON o.id = s.op WHERE s.run = ?1 AND s.step = ?2;
