-- +goose Up
-- Its one row says since when no broadcast may send; without it they may.
CREATE TABLE send_hold (
	name  TEXT PRIMARY KEY,
	since BIGINT NOT NULL
);
