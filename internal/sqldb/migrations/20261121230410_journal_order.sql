-- +goose Up

-- The order in which entries were appended, by the database's own count. Ids are
-- made by the clocks of the machines that append, which differ.
ALTER TABLE journal ADD COLUMN appended BIGINT;
