-- Sets the statistics of tables for which PostgreSQL has none: see assumePostgres.
DO $$
DECLARE
	t record;
	c record;
	filled boolean;
	fresh oid[] := '{}';
	restore text[] := '{}';
	step text;
BEGIN
	-- Processes that start at the same time run this one after another.
	PERFORM pg_advisory_xact_lock(1885430635, 1937006964);

	FOR t IN
		SELECT r.oid, r.oid::regclass::text AS name, r.relname
		FROM pg_class r
		JOIN pg_attribute a ON a.attrelid = r.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
		WHERE r.relkind = 'r' AND r.relnamespace = current_schema()::regnamespace
			AND pg_has_role(r.relowner, 'USAGE')
			AND EXISTS (SELECT FROM pg_index i WHERE i.indrelid = r.oid AND i.indkey[0] = a.attnum)
			AND NOT EXISTS (SELECT FROM pg_stats s
				WHERE s.schemaname = current_schema() AND s.tablename = r.relname AND s.attname = 'tenant_id')
		ORDER BY r.relname
	LOOP
		EXECUTE format('SELECT EXISTS (SELECT FROM %s)', t.name) INTO filled;
		IF NOT filled THEN -- checked again while no other session can write
			EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', t.name);
			EXECUTE format('SELECT EXISTS (SELECT FROM %s)', t.name) INTO filled;
		END IF;
		IF filled THEN
			EXECUTE format('ANALYZE %s', t.name);
		ELSE
			fresh := fresh || t.oid;
		END IF;
	END LOOP;
	-- TRUNCATE fails for a table that one with rows refers to.
	fresh := ARRAY(SELECT f FROM unnest(fresh) AS f
		WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.contype = 'f' AND k.confrelid = f AND k.conrelid <> ALL (fresh)));

	-- The inserted row has no meaning, and would violate these constraints.
	FOR c IN
		SELECT conrelid::regclass::text AS tab, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS def
		FROM pg_constraint WHERE contype IN ('c', 'f') AND conrelid = ANY (fresh)
		ORDER BY conrelid, contype, conname
	LOOP
		EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %s', c.tab, c.name);
		restore := restore || format('ALTER TABLE %s ADD CONSTRAINT %s %s', c.tab, c.name, c.def);
	END LOOP;

	FOR t IN SELECT f AS oid, f::regclass::text AS name FROM unnest(fresh) AS f LOOP
		EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER', t.name);
		EXECUTE (
			SELECT format('INSERT INTO %s (%s) VALUES (%s)', t.name, string_agg(quote_ident(attname), ', '),
				string_agg(CASE atttypid
					WHEN 'uuid'::regtype THEN '''00000000-0000-7000-8000-000000000000'''
					WHEN 'text'::regtype THEN '''00000000-0000-7000-8000-000000000000'''
					WHEN 'jsonb'::regtype THEN '''{}'''
					WHEN 'boolean'::regtype THEN 'FALSE'
					WHEN 'bytea'::regtype THEN ''''''
					ELSE '0' END, ', '))
			FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0 AND NOT attisdropped);

		-- The columns of keys, with the number of different values each has. A tenant owns a
		-- quarter of a table; a column that forms a unique key with it is unique; a contact or a
		-- message has a few rows; other columns within a key have some dozens of values.
		step := '';
		FOR c IN
			SELECT quote_ident(a.attname) AS name,
				CASE WHEN a.attname = 'tenant_id' THEN 4
					WHEN bool_or(i.indisunique AND i.indnkeyatts = 2 AND k.place = 2) THEN -1
					WHEN a.attname IN ('contact_id', 'message_id') THEN -0.2
					ELSE 50 END AS distinct_values
			FROM pg_index i
			CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
			JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
			WHERE i.indrelid = t.oid
			GROUP BY a.attname
		LOOP
			EXECUTE format('ALTER TABLE %s ALTER COLUMN %s SET (n_distinct = %s)', t.name, c.name, c.distinct_values);
			step := step || ', ' || c.name;
		END LOOP;
		EXECUTE format('ANALYZE %s (%s)', t.name, substr(step, 3));
		FOR c IN SELECT quote_ident(attname) AS name FROM pg_attribute WHERE attrelid = t.oid AND attoptions IS NOT NULL AND NOT attisdropped LOOP
			EXECUTE format('ALTER TABLE %s ALTER COLUMN %s RESET (n_distinct)', t.name, c.name);
		END LOOP;
		EXECUTE format('ALTER TABLE %s ENABLE TRIGGER USER', t.name);
	END LOOP;

	IF cardinality(fresh) > 0 THEN
		EXECUTE 'TRUNCATE ' || (SELECT string_agg(f::regclass::text, ', ') FROM unnest(fresh) AS f);
	END IF;
	FOREACH step IN ARRAY restore LOOP
		EXECUTE step;
	END LOOP;
END $$;
