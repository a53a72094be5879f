-- Every step of run ?1 in plan order, with what all panels say about a step.
SELECT
  t.step AS step,
  t.name AS name,
  t.computation AS computation,
  t.opcode AS opcode,
  t.kind AS kind,
  t.class AS class,
  t.key AS key,
  t.precision AS precision,
  t.instruction AS instruction,
  coalesce(o.type, '') AS op_type,
  coalesce(o.name, '') AS op_name,
  coalesce(o.phase, '') AS phase,
  coalesce(c.name, '') AS scope,
  coalesce(f.text, '') AS source_file,
  coalesce(p.line, 0) AS source_line,
  t.n AS n,
  t.calls AS calls,
  t.min_ns AS min_ns,
  t.q1_ns AS q1_ns,
  t.median_ns AS median_ns,
  t.q3_ns AS q3_ns,
  t.mad_ns AS mad_ns,
  t.ci_low_ns AS ci_low_ns,
  t.ci_high_ns AS ci_high_ns,
  t.pass_ns AS pass_ns,
  t.flops AS flops,
  t.bytes AS bytes,
  t.saved_bytes AS saved_bytes,
  r.intensity_flop_per_byte AS intensity_flop_per_byte,
  r.bound_by AS bound_by,
  r.attainable_ns AS attainable_ns,
  r.gb_per_s AS gb_per_s,
  r.gflop_per_s AS gflop_per_s,
  r.attainable_gflop_per_s AS attainable_gflop_per_s,
  r.roof_percent AS roof_percent,
  r.published_percent AS published_percent,
  r.basis AS basis,
  t.worst_error AS worst_error,
  t.flags AS flags,
  coalesce(x.why, '') AS why
FROM step_time t
JOIN roofline r ON r.run = t.run AND r.step = t.step
JOIN step x ON x.run = t.run AND x.step = t.step
LEFT JOIN op o ON o.id = t.op
LEFT JOIN scope c ON c.id = o.scope
LEFT JOIN instruction i ON i.id = t.instruction
LEFT JOIN place p ON p.id = i.place
LEFT JOIN string f ON f.id = p.file
WHERE t.run = ?1
ORDER BY t.step;
