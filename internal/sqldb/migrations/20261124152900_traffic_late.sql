-- +goose Up

-- Hard bounces of messages that were accepted before.
ALTER TABLE traffic ADD COLUMN late BIGINT NOT NULL DEFAULT 0;
