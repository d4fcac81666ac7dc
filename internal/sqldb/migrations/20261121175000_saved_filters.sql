-- +goose Up

-- How people look at their contacts: what a list is filtered and sorted by,
-- and the columns it shows.
CREATE TABLE saved_filter (
	tenant_id  TEXT    NOT NULL,
	id         TEXT    NOT NULL,
	name       TEXT    NOT NULL,
	filters    JSONB   NOT NULL,
	definition JSONB,
	search     TEXT,
	statuses   JSONB   NOT NULL, -- [] is all but suppressed
	sort       TEXT    NOT NULL,
	ascending  BOOLEAN NOT NULL,
	columns    JSONB   NOT NULL,
	shared     BOOLEAN NOT NULL,
	created_by TEXT    NOT NULL, -- a user
	created_at BIGINT  NOT NULL,
	updated_at BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
