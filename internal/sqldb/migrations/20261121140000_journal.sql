-- +goose Up

-- What happened, appended by whoever made it happen, in the same transaction.
-- pos is given after commit, by one sequencer, so that a follower reading in
-- order of pos never overtakes a slow writer.
CREATE TABLE journal (
	tenant_id    TEXT   NOT NULL,
	id           TEXT   NOT NULL,
	pos          BIGINT,
	type         TEXT   NOT NULL,
	contact_id   TEXT,
	broadcast_id TEXT,
	message_id   TEXT,
	occurred_at  BIGINT NOT NULL,
	data         JSONB  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX journal_pos ON journal (pos) WHERE pos IS NOT NULL;
CREATE INDEX journal_unplaced ON journal (id) WHERE pos IS NULL;

-- How far each follower has read.
CREATE TABLE journal_cursor (
	follower TEXT   NOT NULL PRIMARY KEY,
	pos      BIGINT NOT NULL
);

-- Who does what only one process may do. A lease that is not renewed ends.
CREATE TABLE lease (
	name     TEXT   NOT NULL PRIMARY KEY,
	owner    TEXT   NOT NULL,
	until_at BIGINT NOT NULL
);
