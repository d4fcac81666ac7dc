-- +goose Up

-- Attempts that have begun and whose end is not written yet: one row for those
-- of a claim that began together, instead of a new version of each message's. An
-- attempt is under way when its message is still queued in the epoch noted here;
-- what has landed is deleted now and then.
CREATE TABLE outbox_flight (
	owner     TEXT   NOT NULL,
	seq       BIGINT NOT NULL,
	tenant_id TEXT   NOT NULL,
	stream_id TEXT   NOT NULL,
	begun_at  BIGINT NOT NULL,
	messages  TEXT   NOT NULL,
	PRIMARY KEY (owner, seq)
);

-- Of what was under way when this version came, nobody knows the end.
UPDATE outbox SET epoch = epoch + 1, uncertain = uncertain + 1 WHERE state = 'queued' AND attempt_at IS NOT NULL;
ALTER TABLE outbox DROP COLUMN attempt_at;
