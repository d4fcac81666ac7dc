-- +goose Up

-- A row that is there already is written all the same: that makes us wait for
-- an indexer that is just taking it away.
-- +goose StatementBegin
CREATE FUNCTION contact_search_created() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO contact_search_fresh (tenant_id, contact_id, search_text)
	SELECT tenant_id, id, search_text FROM created
	ON CONFLICT (tenant_id, contact_id) DO UPDATE SET search_text = excluded.search_text;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER contact_search_created AFTER INSERT ON contact
	REFERENCING NEW TABLE AS created FOR EACH STATEMENT EXECUTE FUNCTION contact_search_created();

-- +goose StatementBegin
CREATE FUNCTION contact_search_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO contact_search_fresh (tenant_id, contact_id, search_text)
	VALUES (NEW.tenant_id, NEW.id, NEW.search_text)
	ON CONFLICT (tenant_id, contact_id) DO UPDATE SET search_text = excluded.search_text;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER contact_search_changed AFTER UPDATE OF search_text ON contact
	FOR EACH ROW WHEN (OLD.search_text <> NEW.search_text) EXECUTE FUNCTION contact_search_changed();

-- +goose StatementBegin
CREATE FUNCTION contact_search_forgotten() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO contact_search_forgotten (tenant_id, contact_id) VALUES (NEW.tenant_id, NEW.id) ON CONFLICT DO NOTHING;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER contact_search_forgotten AFTER UPDATE OF anonymized_at ON contact
	FOR EACH ROW WHEN (OLD.anonymized_at IS NULL AND NEW.anonymized_at IS NOT NULL) EXECUTE FUNCTION contact_search_forgotten();

-- Rows come and go by the thousand.
ALTER TABLE contact_search_fresh SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
