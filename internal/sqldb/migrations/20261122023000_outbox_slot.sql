-- +goose Up

-- How the order of a send that is being planned is divided over time: of each
-- lane, the messages behind a place (rank, id) leave at due_at, up to the place
-- that the next slot begins behind. Those of a slot without a day are held back.
-- The rows go when the plan is done.
CREATE TABLE outbox_slot (
	tenant_id  TEXT   NOT NULL,
	stream_id  TEXT   NOT NULL,
	lane_id    TEXT   NOT NULL,
	after_rank TEXT   NOT NULL,
	after_id   TEXT   NOT NULL,
	due_at     BIGINT NOT NULL,
	day        TEXT   NOT NULL,
	PRIMARY KEY (tenant_id, stream_id, lane_id, after_rank, after_id)
);
