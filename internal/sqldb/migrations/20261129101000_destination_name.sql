-- +goose Up

-- Package destination. See 20261124154700_destinations.sql: a destination has a name, and is no website.
ALTER TABLE destination RENAME COLUMN site TO name;
