-- +goose Up

-- Package tenant.

-- How mails of the account look. Members that are absent have the defaults of the program.
ALTER TABLE tenant ADD COLUMN brand JSONB NOT NULL DEFAULT '{}';
