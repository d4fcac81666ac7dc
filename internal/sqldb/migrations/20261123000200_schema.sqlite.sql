-- +goose Up

-- +goose StatementBegin
CREATE TRIGGER contact_search_created AFTER INSERT ON contact BEGIN
	INSERT INTO contact_search_fresh (tenant_id, contact_id, search_text)
	VALUES (NEW.tenant_id, NEW.id, NEW.search_text)
	ON CONFLICT (tenant_id, contact_id) DO UPDATE SET search_text = excluded.search_text;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER contact_search_changed AFTER UPDATE OF search_text ON contact WHEN OLD.search_text <> NEW.search_text BEGIN
	INSERT INTO contact_search_fresh (tenant_id, contact_id, search_text)
	VALUES (NEW.tenant_id, NEW.id, NEW.search_text)
	ON CONFLICT (tenant_id, contact_id) DO UPDATE SET search_text = excluded.search_text;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER contact_search_forgotten AFTER UPDATE OF anonymized_at ON contact WHEN OLD.anonymized_at IS NULL AND NEW.anonymized_at IS NOT NULL BEGIN
	INSERT INTO contact_search_forgotten (tenant_id, contact_id) VALUES (NEW.tenant_id, NEW.id) ON CONFLICT DO NOTHING;
END;
-- +goose StatementEnd
