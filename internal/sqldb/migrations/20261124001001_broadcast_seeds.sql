-- +goose Up

-- The seed lists that a broadcast names; NULL: those included by default.
ALTER TABLE broadcast ADD COLUMN seed_lists JSONB;

-- The progress of adding seed copies (broadcast.Seeding); NULL: there are none.
ALTER TABLE broadcast_run ADD COLUMN seeding JSONB;
