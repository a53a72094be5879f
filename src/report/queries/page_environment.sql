-- What else is known of the machine of run ?1: caches, governor, load, quota; and its measured limits.
SELECT name AS fact, value AS value FROM device_detail WHERE device = (SELECT device FROM run WHERE id = ?1);
