-- What step ?2 of run ?1 launches, in order, and where its text is.
SELECT
  l.position AS position,
  k.name AS name,
  k.language AS language,
  k.implementation AS implementation,
  k.compile_ns AS compile_ns,
  k.code_bytes AS code_bytes,
  k.content AS content,
  (SELECT count(*) FROM step_kernel o WHERE o.run = l.run AND o.kernel = l.kernel) AS launches
FROM step_kernel l
JOIN kernel k ON k.run = l.run AND k.kernel = l.kernel
WHERE l.run = ?1 AND l.step = ?2
ORDER BY l.position;
