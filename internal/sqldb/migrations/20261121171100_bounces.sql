-- +goose Up

-- Bounces by time, for those who ask for the contacts that had any. No other
-- message is in it.
CREATE INDEX outbox_bounced ON outbox (tenant_id, ended_at, contact_id, stream_id) WHERE state = 'bounced';
