-- The records of run ?1, lane ?2, level ?3.
SELECT data AS data FROM slice_level WHERE run = ?1 AND track = ?2 AND level = ?3 ORDER BY begin_ns;
