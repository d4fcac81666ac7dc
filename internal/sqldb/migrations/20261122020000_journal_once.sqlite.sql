-- +goose Up

-- Entries get their place when they are written. Those of an older program that
-- still wait for one come behind all others.
WITH fresh AS (
	SELECT tenant_id, id,
		(SELECT MAX(pos) FROM (SELECT 0 AS pos UNION ALL SELECT MAX(pos) FROM journal UNION ALL SELECT MAX(pos) FROM journal_cursor))
			+ ROW_NUMBER() OVER (ORDER BY appended NULLS FIRST, id) AS place
	FROM journal WHERE pos IS NULL)
UPDATE journal SET pos = fresh.place
FROM fresh WHERE journal.tenant_id = fresh.tenant_id AND journal.id = fresh.id;

UPDATE journal_cursor SET pos = (SELECT MAX(pos) FROM journal)
WHERE follower = 'sequencer' AND pos < (SELECT MAX(pos) FROM journal);
INSERT INTO journal_cursor (follower, pos)
SELECT 'sequencer', pos FROM journal WHERE pos = (SELECT MAX(pos) FROM journal)
ON CONFLICT DO NOTHING;

DROP INDEX journal_unplaced;
DROP INDEX journal_pos;
CREATE UNIQUE INDEX journal_pos ON journal (pos);
ALTER TABLE journal DROP COLUMN appended;
