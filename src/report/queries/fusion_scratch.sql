-- Memory that the parts of run ?1's fusions need between them, where they were planned (replay --unfused).
SELECT f.step AS step, f.scratch_bytes AS scratch_bytes FROM fusion f WHERE f.run = ?1 AND f.parts > 0 AND f.tried = 0;
