-- Records of run ?1, lane ?2 and level ?3 from ?4 to ?5 ns, at most ?6 chunks: those that begin in it, and the one before.
SELECT data AS data
FROM slice_level
WHERE run = ?1 AND track = ?2 AND level = ?3
  AND begin_ns BETWEEN coalesce((SELECT max(begin_ns) FROM slice_level WHERE run = ?1 AND track = ?2 AND level = ?3 AND begin_ns <= ?4), ?4)
  AND ?5
ORDER BY begin_ns
LIMIT ?6;
