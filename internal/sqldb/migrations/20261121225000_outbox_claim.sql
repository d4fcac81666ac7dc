-- +goose Up

-- A node claims a stretch of a stream's order (due_at, id) at a time, not its
-- messages one by one: one row here instead of a new version of each of them.
-- A message that is queued, lies in a stretch and has attempt_at is under way. A
-- claim of which some was put back is left with a stretch for each of the others.
CREATE TABLE outbox_claim (
	tenant_id TEXT   NOT NULL,
	stream_id TEXT   NOT NULL,
	id        TEXT   NOT NULL,
	owner     TEXT   NOT NULL,
	from_due  BIGINT NOT NULL,
	from_id   TEXT   NOT NULL,
	to_due    BIGINT NOT NULL,
	to_id     TEXT   NOT NULL,
	PRIMARY KEY (tenant_id, stream_id, id, from_id)
);
CREATE INDEX outbox_claim_owner ON outbox_claim (owner);

-- One who claims in a stream holds its row here, so that stretches never overlap.
-- It is apart from the stream's row, which changes with every result.
CREATE TABLE outbox_turn (
	tenant_id TEXT   NOT NULL,
	stream_id TEXT   NOT NULL,
	claims    BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, stream_id)
);

-- What was claimed one by one goes on as it would after a crash.
UPDATE outbox SET state = 'queued', owner = NULL, epoch = epoch + 1, uncertain = uncertain + 1, attempt_at = NULL
	WHERE state = 'claimed' AND attempt_at IS NOT NULL;
UPDATE outbox SET state = 'queued', owner = NULL, epoch = epoch + 1 WHERE state = 'claimed';
UPDATE outbox SET attempt_at = NULL WHERE state = 'queued' AND attempt_at IS NOT NULL;
DROP INDEX outbox_owned;
ALTER TABLE outbox DROP COLUMN owner;
