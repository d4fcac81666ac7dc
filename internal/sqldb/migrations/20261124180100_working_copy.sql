-- +goose Up

-- Package workingcopy.

-- Unfinished work of users on records, or on records that do not exist yet. Only the user who stored a
-- copy reads it. data is the text of a JSON object, size its length in bytes.
CREATE TABLE working_copy (
	updated_at    BIGINT  NOT NULL,
	base_revision BIGINT,
	tenant_id     INTEGER NOT NULL,
	size          INTEGER NOT NULL,
	user_id       UUID    NOT NULL,
	kind          TEXT    NOT NULL,
	record        TEXT    NOT NULL, -- the id of a record, or new-<uuid>
	title         TEXT    NOT NULL,
	data          TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, user_id, kind, record)
);
CREATE INDEX working_copy_age ON working_copy (tenant_id, updated_at);
CREATE INDEX working_copy_record ON working_copy (tenant_id, record);
