-- +goose Up

-- How many processes ended without releasing the job since its last step.
ALTER TABLE job ADD COLUMN deaths BIGINT NOT NULL DEFAULT 0;
