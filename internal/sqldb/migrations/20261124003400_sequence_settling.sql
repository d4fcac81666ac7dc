-- +goose Up

-- Package sequence.

-- What pauses, ends or moves all contacts in a sequence is one row: the sequence's. Its enrollments
-- follow page by page. epoch numbers these changes, pending has those that some enrollments have yet
-- to follow ({"epoch", "kind", "at", …}; NULL: none), pending_after is the last enrollment that has.
ALTER TABLE sequence ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sequence ADD COLUMN pending JSONB;
ALTER TABLE sequence ADD COLUMN pending_after UUID;
CREATE INDEX sequence_pending ON sequence (tenant_id, id) WHERE pending IS NOT NULL;

-- The last change of the sequence that the enrollment has followed.
ALTER TABLE enrollment ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
