-- What the import of the file behind run ?1 found, kept and dropped.
SELECT a.path AS path, a.format AS format, a.bytes AS bytes, a.modules AS modules, a.read AS read, a.kept AS kept, a.dropped AS dropped, a.notes AS notes
FROM run r
LEFT JOIN module m ON m.id = r.module
JOIN import_account a ON a.source = coalesce(m.source, r.source)
WHERE r.id = ?1;
