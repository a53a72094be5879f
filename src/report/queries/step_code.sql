-- The code that step ?2 of run ?1 launches, in order, each once; `text` is the row of its text.
SELECT k.name AS name, k.language AS language, k.implementation AS implementation, k.content AS text, c.bytes AS bytes, min(l.position) AS position
FROM step_kernel l
JOIN kernel k ON k.run = l.run AND k.kernel = l.kernel
JOIN content c ON c.id = k.content
WHERE l.run = ?1 AND l.step = ?2
GROUP BY k.kernel
ORDER BY k.language <> 'c', min(l.position);
