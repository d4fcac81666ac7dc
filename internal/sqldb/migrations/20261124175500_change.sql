-- +goose Up

-- Package change.

-- Tenants with open streams of changes. Changes of other tenants are not stored.
CREATE TABLE change_listener (
	tenant_id  INTEGER NOT NULL PRIMARY KEY,
	expires_at BIGINT  NOT NULL
);

-- Records that changed within a second, in one process. Rows are kept for a few minutes.
CREATE TABLE change_hint (
	tenant_id INTEGER NOT NULL,
	at        BIGINT  NOT NULL,
	id        UUID    NOT NULL,
	changes   JSONB   NOT NULL,
	PRIMARY KEY (tenant_id, at, id)
);

CREATE INDEX change_hint_at ON change_hint (at);
