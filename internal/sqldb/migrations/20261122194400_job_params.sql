-- +goose Up
-- Jobs that have ended need neither what was asked of them, which may name people,
-- nor the place to go on from.
UPDATE job SET params = '{}', state = NULL WHERE finished_at IS NOT NULL;
