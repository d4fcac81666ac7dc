-- +goose Up

-- How many messages each open stream had handed over, every ten seconds of the
-- last minutes: what its speed is read from.
CREATE TABLE outbox_sample (
	tenant_id TEXT   NOT NULL,
	stream_id TEXT   NOT NULL,
	slot      BIGINT NOT NULL, -- the ten seconds; the first process to look in them writes
	at        BIGINT NOT NULL,
	sent      BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, stream_id, slot)
);
CREATE INDEX outbox_sample_slot ON outbox_sample (slot);

-- What kept messages of a stream back when a process last found that some
-- could not leave.
CREATE TABLE outbox_wait (
	tenant_id  TEXT   NOT NULL,
	stream_id  TEXT   NOT NULL,
	at         BIGINT NOT NULL,
	kind       TEXT   NOT NULL,
	lane_id    TEXT   NOT NULL,
	provider   TEXT   NOT NULL, -- '' when it is nobody's own limit
	most       BIGINT NOT NULL, -- 0 when it is no rate, else so many
	per        BIGINT NOT NULL, -- in so many microseconds
	until      BIGINT NOT NULL,
	reason     TEXT   NOT NULL,
	PRIMARY KEY (tenant_id, stream_id)
);
CREATE INDEX outbox_wait_at ON outbox_wait (at);
