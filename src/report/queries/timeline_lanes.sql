-- Lanes and levels of the timeline of run ?1. The recursion steps from one to the next by the primary key: nothing is scanned.
WITH RECURSIVE at(n) AS (
  SELECT (SELECT track * 128 + level + 1 FROM slice_level WHERE run = ?1 ORDER BY track, level LIMIT 1)
  UNION ALL
  SELECT (SELECT track * 128 + level + 1 FROM slice_level
          WHERE run = ?1 AND (track, level) > (n / 128, n % 128 - 1) ORDER BY track, level LIMIT 1)
  FROM at WHERE n IS NOT NULL
)
SELECT
  n / 128 AS track,
  n % 128 - 1 AS level,
  (SELECT data FROM slice_level WHERE run = ?1 AND track = n / 128 AND level = n % 128 - 1 ORDER BY begin_ns LIMIT 1) AS first_chunk,
  (SELECT data FROM slice_level WHERE run = ?1 AND track = n / 128 AND level = n % 128 - 1 ORDER BY begin_ns DESC LIMIT 1) AS last_chunk
FROM at
WHERE n IS NOT NULL
LIMIT 65536;
