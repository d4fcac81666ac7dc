-- +goose Up
-- One row that is written to find out whether the database takes writes.
CREATE TABLE write_probe (
	name TEXT PRIMARY KEY,
	at   BIGINT NOT NULL
);
