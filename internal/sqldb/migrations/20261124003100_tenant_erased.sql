-- +goose Up

-- Package tenant.

-- When the rows of a deleted tenant were deleted from all other tables: package retention. Null: they
-- were not.
ALTER TABLE tenant ADD COLUMN erased_at BIGINT;
