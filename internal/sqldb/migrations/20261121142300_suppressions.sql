-- +goose Up

-- Addresses a tenant must never mail.
CREATE TABLE suppression (
	tenant_id  TEXT   NOT NULL,
	email      TEXT   NOT NULL,
	reason     TEXT,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, email)
);
CREATE INDEX suppression_created ON suppression (tenant_id, created_at, email);
