-- +goose Up

-- What a tenant keeps about contacts beyond the built-in columns.
-- A deleted field stays until its values are erased from the contacts, so that
-- its key is not taken again by a field that would inherit them.
CREATE TABLE custom_field (
	tenant_id        TEXT   NOT NULL,
	id               TEXT   NOT NULL,
	name             TEXT   NOT NULL,
	field_key        TEXT   NOT NULL,
	field_type       TEXT   NOT NULL,
	enum_values      JSONB,
	value_constraint TEXT   NOT NULL,
	currency_code    TEXT,
	default_value    JSONB,           -- {"value": …}
	created_at       BIGINT NOT NULL,
	deleted_at       BIGINT,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX custom_field_key ON custom_field (tenant_id, field_key);
