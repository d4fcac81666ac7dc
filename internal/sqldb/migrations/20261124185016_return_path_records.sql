-- +goose Up

-- Package lane.

-- The DNS records that the relay of a lane needs for the host of the return path.
ALTER TABLE mta_config ADD COLUMN return_path_records JSONB NOT NULL DEFAULT '[]';
