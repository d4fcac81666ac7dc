-- +goose Up

-- How many processes ended without releasing the job, each soon after they had leased it.
ALTER TABLE job ADD COLUMN deaths BIGINT NOT NULL DEFAULT 0;
