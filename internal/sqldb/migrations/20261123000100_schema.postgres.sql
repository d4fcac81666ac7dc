-- +goose Up

-- Rate limit windows that several processes share. A process acquires many permits at a time; a row
-- whose window has ended is reset.
CREATE TABLE rate_window (
	name       TEXT   NOT NULL PRIMARY KEY,
	started_at BIGINT NOT NULL,
	ends_at    BIGINT NOT NULL,
	used       BIGINT NOT NULL
);
CREATE INDEX rate_window_end ON rate_window (ends_at);

-- Returns a text if it is a date as YYYY-MM-DD; otherwise null. Both functions accept the same as
-- those of the same name that the program adds to SQLite.
-- +goose StatementBegin
CREATE FUNCTION day_of(t TEXT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
	s TEXT := btrim(t, E' \t\n\v\f\r');
BEGIN
	IF s !~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' OR left(s, 4) = '0000' THEN
		RETURN NULL;
	END IF;
	IF substr(s, 9)::INT > EXTRACT(DAY FROM make_date(left(s, 4)::INT, substr(s, 6, 2)::INT, 1) + INTERVAL '1 month - 1 day') THEN
		RETURN NULL;
	END IF;
	RETURN s;
END $$;
-- +goose StatementEnd

-- The microseconds of a date-time of RFC 3339. The offset may be missing, which means UTC, as may
-- the seconds; the T may be a space. Otherwise null.
-- +goose StatementBegin
CREATE FUNCTION moment_of(t TEXT) RETURNS BIGINT LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
	s      TEXT := btrim(t, E' \t\n\v\f\r');
	day    DATE;
	micros BIGINT;
	zone   TEXT;
BEGIN
	IF s !~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?$'
		OR day_of(left(s, 10)) IS NULL THEN
		RETURN NULL;
	END IF;
	day := make_date(left(s, 4)::INT, substr(s, 6, 2)::INT, substr(s, 9, 2)::INT);
	micros := ((day - DATE '1970-01-01')::BIGINT * 1440 + substr(s, 12, 2)::INT * 60 + substr(s, 15, 2)::INT) * 60000000;
	IF substr(s, 17, 1) = ':' THEN
		micros := micros + substr(s, 18, 2)::INT * 1000000 + rpad(left(COALESCE(substring(s FROM '\.([0-9]+)'), ''), 6), 6, '0')::INT;
	END IF;
	zone := substring(s FROM '[+-][0-9]{2}:[0-9]{2}$');
	IF zone IS NOT NULL THEN
		micros := micros - (left(zone, 1) || '1')::INT * (substr(zone, 2, 2)::INT * 60 + substr(zone, 5)::INT) * 60000000::BIGINT;
	END IF;
	RETURN micros;
END $$;
-- +goose StatementEnd

-- Rows are inserted and deleted by the thousand.
ALTER TABLE contact_search_queue SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

-- The clock of the limits that several processes share, in microseconds: that of the database,
-- since those of the processes may differ by seconds.
-- +goose StatementBegin
CREATE FUNCTION pace_clock() RETURNS BIGINT LANGUAGE sql VOLATILE
AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT';
-- +goose StatementEnd

-- Rate limits: the time of the next free slot of a limit. In nanoseconds, because the slots of a
-- fast limit are less than a microsecond apart.
CREATE TABLE pace_rate (
	name TEXT   NOT NULL,
	per  BIGINT NOT NULL,
	tat  BIGINT NOT NULL,
	PRIMARY KEY (name, per)
) WITH (fillfactor = 20);

-- Connection slots of processes. granted is the last answer, reserved what other processes
-- cannot get before the next request. The row without an owner is the name's lock.
CREATE TABLE pace_slot (
	name       TEXT   NOT NULL,
	owner      TEXT   NOT NULL,
	want       BIGINT NOT NULL,
	granted    BIGINT NOT NULL,
	reserved   BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	PRIMARY KEY (name, owner)
) WITH (fillfactor = 50);

-- Positions of journal entries: a sequence for each group of tenants (id.AllGroups), without a
-- cache, so that numbers drawn later are larger, in all sessions.
-- +goose StatementBegin
DO $$
DECLARE
	name INTEGER;
BEGIN
	FOR name IN SELECT MIN(key) FROM generate_series(1, 400) AS key GROUP BY (hashint4(key)::bigint + 2147483648) >> 26 LOOP
		EXECUTE format('CREATE SEQUENCE journal_place_%s CACHE 1 OWNED BY journal.pos', name);
	END LOOP;
END $$;
-- +goose StatementEnd

-- Free space on each page for the next version of its rows: a change of columns without an index
-- then stays on the page (a HOT update). Messages of a page are sent together, so the outbox has
-- space for a second version of each. That needs no more disk than versions on other pages would,
-- with an entry in each index.
ALTER TABLE contact_activity SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE outbox SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE send SET (fillfactor = 20);
-- Packs are stored inline and uncompressed, and are deleted within seconds.
ALTER TABLE hit_inbox SET (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
ALTER TABLE hit_inbox ALTER COLUMN hits SET STORAGE EXTERNAL;
ALTER TABLE journal_cursor SET (fillfactor = 20);
ALTER TABLE outbox_attempt SET (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- No two messages have the same key in these indexes, so deduplication would only find versions of
-- one message.
ALTER INDEX outbox_pkey SET (deduplicate_items = off);
ALTER INDEX outbox_contact SET (deduplicate_items = off);
ALTER INDEX outbox_due SET (deduplicate_items = off);
ALTER INDEX outbox_rank SET (deduplicate_items = off);
