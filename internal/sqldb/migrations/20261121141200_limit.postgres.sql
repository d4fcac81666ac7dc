-- +goose Up

-- Rate limit windows that several processes share. A process takes permits in
-- bulk; a row whose window has ended begins again.
CREATE TABLE rate_window (
	name       TEXT   NOT NULL PRIMARY KEY,
	started_at BIGINT NOT NULL,
	ends_at    BIGINT NOT NULL,
	used       BIGINT NOT NULL
);
CREATE INDEX rate_window_end ON rate_window (ends_at);
