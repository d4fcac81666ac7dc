-- +goose Up

-- The arms of a broadcast, and the content that each was frozen as. What is short
-- of them is kept apart, for those who need not know what they say.
ALTER TABLE broadcast ADD COLUMN arms JSONB;
ALTER TABLE broadcast ADD COLUMN variants TEXT;
ALTER TABLE broadcast_run ADD COLUMN contents JSONB;
