-- Fills the large tables of tenants with rows of two tenants, and prevents their analysis. Columns
-- of keys differ from row to row; sends, segments and the like have twenty values. The contents do
-- not matter, since only plans are read.
DO $$
DECLARE
	t record;
	c record;
BEGIN
	FOR c IN
		SELECT k.conrelid::regclass::text AS tab, quote_ident(k.conname) AS name
		FROM pg_constraint k WHERE k.contype IN ('c', 'f') AND k.connamespace = current_schema()::regnamespace AND k.conrelid <> 0
	LOOP
		EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %s', c.tab, c.name);
	END LOOP;
	FOR t IN
		SELECT r.oid, r.oid::regclass::text AS name FROM pg_class r
		WHERE r.relkind = 'r' AND r.relnamespace = current_schema()::regnamespace
			AND r.relname IN ('contact', 'contact_activity', 'contact_search_queue', 'engagement', 'hit', 'job', 'journal', 'outbox',
				'segment_member', 'sink_message', 'suppression')
	LOOP
		EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER', t.name);
		EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', t.name);
		EXECUTE (
			SELECT format('INSERT INTO %s (%s) SELECT %s FROM generate_series(1, 4000) AS i', t.name, string_agg(quote_ident(attname), ', '),
				string_agg(CASE
					WHEN attname = 'tenant_id' THEN 'i % 2'
					WHEN atttypid = 'uuid'::regtype AND attname IN ('send_id', 'send_id', 'segment_id', 'broadcast_id', 'lane_id') THEN '(''00000000-0000-7000-8000-'' || lpad((i % 20)::text, 12, ''0''))::uuid'
					WHEN atttypid = 'uuid'::regtype THEN '(''00000000-0000-7000-8000-'' || lpad(i::text, 12, ''0''))::uuid'
					WHEN atttypid = 'text'::regtype AND attname IN ('kind', 'type', 'state', 'status') THEN '''v'' || i % 20'
					WHEN atttypid = 'text'::regtype THEN '''00000000-0000-7000-8000-'' || lpad(i::text, 12, ''0'')'
					WHEN atttypid = 'jsonb'::regtype THEN '''{}'''
					WHEN atttypid = 'boolean'::regtype THEN 'FALSE'
					WHEN atttypid = 'bytea'::regtype THEN ''''''
					ELSE 'i' END, ', '))
			FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0 AND NOT attisdropped);
	END LOOP;
END $$;
