-- +goose Up

-- Package auth.

-- The fields that an update changed: [{field, before, after}]. NULL: none, or not an update.
ALTER TABLE audit ADD COLUMN changes JSONB;
