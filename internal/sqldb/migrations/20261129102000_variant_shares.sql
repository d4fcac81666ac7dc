-- +goose Up

-- Package broadcast. The variants without their contents, for lists; see variants of the same table.
ALTER TABLE broadcast RENAME COLUMN arms TO variant_shares;
