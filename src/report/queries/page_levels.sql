-- How many records each level of each lane of run ?1 has: slices take 24 bytes, buckets 16.
SELECT track AS track, level AS level, sum(length(data)) / CASE WHEN level = -1 THEN 24 ELSE 16 END AS records
FROM slice_level
WHERE run = ?1
GROUP BY track, level
ORDER BY track, level;
