-- +goose Up

-- Rows come and go by the hundred in a second, and are few at any time.
ALTER TABLE outbox_flight SET (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
