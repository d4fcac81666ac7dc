-- +goose Up
-- Which secret key the installation was set up with, so that a process with
-- another one does not start: it could open nothing, and no link would be valid.
CREATE TABLE secret_key (
	name        TEXT NOT NULL PRIMARY KEY,
	fingerprint TEXT NOT NULL
);
