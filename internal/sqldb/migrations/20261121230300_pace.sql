-- +goose Up

-- How many permits of a limit per day are handed out. A process takes several
-- at once; taken is what the last taking got.
CREATE TABLE pace_day (
	name  TEXT   NOT NULL,
	day   TEXT   NOT NULL,
	used  BIGINT NOT NULL,
	taken BIGINT NOT NULL,
	PRIMARY KEY (name, day)
);
CREATE INDEX pace_day_day ON pace_day (day);
