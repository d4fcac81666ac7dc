-- +goose Up

-- The lease of the process that migrates. Advisory locks are used instead.
DROP TABLE IF EXISTS schema_lock;
