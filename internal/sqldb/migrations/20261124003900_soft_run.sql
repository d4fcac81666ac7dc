-- +goose Up

-- Package contact.

-- When the contact's bounces were last forgotten, because it was restored or subscribed again. Reports
-- that arrive later count only the bounces after it.
ALTER TABLE contact_activity ADD COLUMN bounces_cleared_at BIGINT;
