-- +goose Up

-- rule_revision counts the definitions a segment has had, so that a count of an
-- older one is not stored. counting_until is until when one process alone counts
-- it in the background.
ALTER TABLE segment ADD COLUMN rule_revision BIGINT NOT NULL DEFAULT 0;
ALTER TABLE segment ADD COLUMN counting_until BIGINT NOT NULL DEFAULT 0;

-- What a segment's rule refers to: other segments and lists, custom fields.
CREATE TABLE segment_reference (
	tenant_id  TEXT NOT NULL,
	segment_id TEXT NOT NULL,
	kind       TEXT NOT NULL,
	name       TEXT NOT NULL,
	PRIMARY KEY (tenant_id, segment_id, kind, name),
	FOREIGN KEY (tenant_id, segment_id) REFERENCES segment (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX segment_reference_name ON segment_reference (tenant_id, kind, name);

-- One row per tenant: who changes what segments refer to takes turns on it, so
-- that two at once do not build a circle, or on what the other deletes.
CREATE TABLE segment_turn (
	tenant_id TEXT NOT NULL PRIMARY KEY
);
