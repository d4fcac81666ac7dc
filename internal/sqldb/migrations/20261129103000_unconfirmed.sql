-- +goose Up

-- Contacts that visitors of websites created by an address that nobody has confirmed, oldest first: see
-- contact.Unconfirmed.
CREATE INDEX contact_unconfirmed ON contact (tenant_id, id) WHERE global_status = 'pending' AND source = 'identify';

-- How many contacts unverified visitors created on a day, as days since 1970.
ALTER TABLE visitor_total ADD COLUMN pending_day BIGINT NOT NULL DEFAULT 0;
ALTER TABLE visitor_total ADD COLUMN pending_today BIGINT NOT NULL DEFAULT 0;
