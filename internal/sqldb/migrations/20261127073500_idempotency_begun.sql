-- +goose Up

-- Package endpoint.

-- Whether the attempt has begun to have an effect outside of the database. Then no other attempt replaces it.
ALTER TABLE idempotency ADD COLUMN begun BOOLEAN NOT NULL DEFAULT false;
