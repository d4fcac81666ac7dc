-- +goose Up

-- Package contactlog. The contacts that a transaction changed, as the 16 bytes of each, and the addresses that it put on the
-- suppression list or removed from there. Rows are kept for a few minutes.
CREATE TABLE contact_log (
	tenant_id INTEGER NOT NULL,
	id        UUID    NOT NULL,
	contacts  BYTEA   NOT NULL,
	addresses JSONB   NOT NULL,
	PRIMARY KEY (tenant_id, id) -- WITHOUT ROWID
);

-- How many rows of a tenant's log were ever deleted, and one more for each time that addresses were erased from it.
CREATE TABLE contact_log_end (
	deleted   BIGINT  NOT NULL,
	tenant_id INTEGER NOT NULL,
	PRIMARY KEY (tenant_id) -- WITHOUT ROWID
);
