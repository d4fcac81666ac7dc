-- +goose Up

-- Old rows are deleted in steps, every day a small share of the table. With the default of a fifth of
-- the table, their space would be reused only after months.
ALTER TABLE journal SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000);
ALTER TABLE hit SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
