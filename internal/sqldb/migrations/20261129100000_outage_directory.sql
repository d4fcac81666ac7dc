-- +goose Up

-- Package outage. An outage is one of a directory (mx.Directory); see 20261124161100_outage.sql.
ALTER TABLE outage RENAME COLUMN site TO directory;
ALTER TABLE outage_traffic RENAME COLUMN site TO directory;
ALTER TABLE outage_bounce RENAME COLUMN site TO directory;
