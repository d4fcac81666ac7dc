-- +goose Up

-- A few rows, which are updated several times a second while events arrive.
ALTER TABLE event_seen SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
