-- +goose Up

-- How a broadcast's mail is spread over time and lanes, as its author wrote it;
-- '{}' is: now, on one lane.
ALTER TABLE broadcast ADD COLUMN delivery JSONB NOT NULL DEFAULT '{}';

-- The planning of a send whose messages are given days: which pass is under way
-- and how far it has come. Null: not planned.
ALTER TABLE broadcast_run ADD COLUMN plan JSONB;

-- A message of a planned send: its place in the order (best engaged first), and
-- the day, in the account's time zone, that it was given.
ALTER TABLE outbox ADD COLUMN rank TEXT;
ALTER TABLE outbox ADD COLUMN plan_day TEXT;
CREATE INDEX outbox_rank ON outbox (tenant_id, stream_id, lane_id, rank, id) WHERE rank IS NOT NULL AND state = 'queued';

-- What each day of a planned send is to carry on each lane, and has carried.
CREATE TABLE outbox_day (
	tenant_id TEXT   NOT NULL,
	stream_id TEXT   NOT NULL,
	lane_id   TEXT   NOT NULL,
	day       TEXT   NOT NULL,
	planned   BIGINT NOT NULL,
	sent      BIGINT NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, stream_id, lane_id, day)
);
CREATE INDEX outbox_day_lane ON outbox_day (tenant_id, lane_id, day);
