-- +goose Up

-- Which process does what only one may do. Others go by epoch and beat, which
-- change with every taking over and every renewal; until_at is for people.
CREATE TABLE leader (
	name     TEXT   NOT NULL PRIMARY KEY,
	owner    TEXT,
	epoch    BIGINT NOT NULL,
	beat     BIGINT NOT NULL,
	until_at BIGINT NOT NULL
);
