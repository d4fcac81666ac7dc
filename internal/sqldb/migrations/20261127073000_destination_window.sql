-- +goose Up

-- Package destination.

-- How many connections a destination accepts by its answers, in thousandths, and when that last changed; 0: not known.
ALTER TABLE destination ADD COLUMN window_milli BIGINT NOT NULL DEFAULT 0;
ALTER TABLE destination ADD COLUMN window_at BIGINT NOT NULL DEFAULT 0;
