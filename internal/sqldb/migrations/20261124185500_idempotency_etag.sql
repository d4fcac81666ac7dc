-- +goose Up

-- Package endpoint.

-- The revision of the record in a stored response. Keys that begin with session: are hashes of a user,
-- a path and a key; their bodies are sealed.
ALTER TABLE idempotency ADD COLUMN etag TEXT;
