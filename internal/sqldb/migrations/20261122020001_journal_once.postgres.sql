-- +goose Up

-- Nobody follows meanwhile, and then nobody appends.
LOCK TABLE journal_cursor, journal IN ACCESS EXCLUSIVE MODE;

-- Entries get their place when they are written. Those that still wait for one
-- come behind all others.
WITH fresh AS (
	SELECT tenant_id, id,
		(SELECT GREATEST(0, (SELECT MAX(pos) FROM journal), (SELECT MAX(pos) FROM journal_cursor)))
			+ ROW_NUMBER() OVER (ORDER BY appended NULLS FIRST, id) AS place
	FROM journal WHERE pos IS NULL)
UPDATE journal SET pos = fresh.place
FROM fresh WHERE journal.tenant_id = fresh.tenant_id AND journal.id = fresh.id;

-- One number at a time, so that what is drawn later is larger, in all sessions.
CREATE SEQUENCE journal_place CACHE 1 OWNED BY journal.pos;
SELECT setval('journal_place', highest.pos)
FROM (SELECT GREATEST((SELECT MAX(pos) FROM journal), (SELECT MAX(pos) FROM journal_cursor)) AS pos) AS highest
WHERE highest.pos > 0;

DROP INDEX journal_unplaced;
DROP INDEX journal_pos;
CREATE UNIQUE INDEX journal_pos ON journal (pos);

-- A transaction takes a lock, shared with all others, before it draws its first
-- place, and holds it until it has ended: journal.appending asks who holds it.
-- CASE looks at one thing after the other.
ALTER TABLE journal
	DROP COLUMN appended,
	ALTER COLUMN pos SET NOT NULL,
	ALTER COLUMN pos SET DEFAULT
		CASE WHEN pg_advisory_xact_lock_shared(1885430635, 1785689458) IS NOT NULL THEN nextval('journal_place') END;
DROP SEQUENCE journal_appended;

-- A program that is older than this, and still runs, goes by it and now stops following.
DELETE FROM journal_cursor WHERE follower = 'sequencer';
