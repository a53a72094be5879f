-- How the steps of run ?1 fall into groups: ?2 is op_type, layer, phase, source or kernel. A fusion belongs to several, in shares that sum to 1.
SELECT g.step AS step, g.label AS label, sum(g.share) AS share
FROM (
  SELECT
    p.step AS step,
    p.share AS share,
    CASE ?2
      WHEN 'op_type' THEN CASE WHEN o.id IS NULL THEN '(no operator)' ELSE coalesce(o.type, '') END
      WHEN 'layer' THEN coalesce(c.name, '')
      WHEN 'phase' THEN coalesce(o.phase, '')
      ELSE coalesce(CASE WHEN t.name IS NULL THEN y.name ELSE t.name || '.' || y.name END, f.text || ':' || a.line, '')
    END AS label
  FROM (
    SELECT s.step AS step, coalesce(nullif(b.op, 0), x.op, i.op, s.op) AS op, coalesce(b.place, i.place) AS place,
      coalesce(b.share, x.share, 1.0) AS share
    FROM step s
    LEFT JOIN instruction i ON i.id = s.instruction
    LEFT JOIN place_share b ON b.instruction = s.instruction
    LEFT JOIN op_share x ON x.instruction = s.instruction AND b.instruction IS NULL
    WHERE s.run = ?1 AND ?2 <> 'kernel'
  ) p
  LEFT JOIN op o ON o.id = p.op
  LEFT JOIN scope c ON c.id = o.scope
  LEFT JOIN place a ON a.id = p.place
  LEFT JOIN string f ON f.id = a.file
  LEFT JOIN place_symbol l ON l.place = p.place AND ?2 = 'source'
  LEFT JOIN op_symbol h ON h.op = p.op AND h.rank = 0 AND l.symbol IS NULL AND ?2 = 'source'
  LEFT JOIN symbol y ON y.id = coalesce(l.symbol, h.symbol)
  LEFT JOIN symbol t ON t.id = y.within AND t.sort = 'type'
  UNION ALL
  SELECT k.step, 1.0, k.label
  FROM (
    SELECT d.step AS step, group_concat(d.name, ' + ') AS label
    FROM (SELECT DISTINCT l.step AS step, k.name AS name
          FROM step_kernel l JOIN kernel k ON k.run = l.run AND k.kernel = l.kernel
          WHERE l.run = ?1 AND ?2 = 'kernel' ORDER BY l.step, l.position) d
    GROUP BY d.step
  ) k
) g
GROUP BY g.step, g.label
ORDER BY g.step, g.label;
