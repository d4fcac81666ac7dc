-- +goose Up

-- The clock of the limits that several processes share, in microseconds: the
-- database's, since those of the processes may differ by seconds.
-- +goose StatementBegin
CREATE FUNCTION pace_clock() RETURNS BIGINT LANGUAGE sql VOLATILE
AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT';
-- +goose StatementEnd

-- Rate limits: the moment of the next free slot of a limit. In nanoseconds,
-- because slots of a fast limit lie less than a microsecond's rounding apart.
CREATE TABLE pace_rate (
	name TEXT   NOT NULL,
	per  BIGINT NOT NULL,
	tat  BIGINT NOT NULL,
	PRIMARY KEY (name, per)
) WITH (fillfactor = 20);

-- Connections that a process may hold open. told is what it was last told, held
-- what nobody else may have meanwhile. The row without an owner is the name's
-- lock.
CREATE TABLE pace_slot (
	name       TEXT   NOT NULL,
	owner      TEXT   NOT NULL,
	want       BIGINT NOT NULL,
	told       BIGINT NOT NULL,
	held       BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	PRIMARY KEY (name, owner)
) WITH (fillfactor = 50);
