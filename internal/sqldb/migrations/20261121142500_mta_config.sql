-- +goose Up

-- The ways out: how a tenant hands its mail over (contract 5.5).
CREATE TABLE mta_config (
	tenant_id  TEXT    NOT NULL,
	id         TEXT    NOT NULL,
	key        TEXT    NOT NULL,
	name       TEXT    NOT NULL,
	type       TEXT    NOT NULL,
	active     BOOLEAN NOT NULL,
	settings   JSONB   NOT NULL,
	password   TEXT, -- sealed
	caps       JSONB   NOT NULL,
	retry_max_age_hours BIGINT NOT NULL,
	created_at BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX mta_config_key ON mta_config (tenant_id, key);
