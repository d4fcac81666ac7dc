-- +goose Up

-- Package webhook.

-- Calls: the requests of steps of sequences and actions of automations. They have a queue for each
-- URL; url is NULL in the queues of endpoints.
ALTER TABLE webhook_queue ADD COLUMN url TEXT;
ALTER TABLE webhook_delivery ADD COLUMN timeout_s INTEGER; -- of a call; NULL: an event for an endpoint
ALTER TABLE webhook_delivery ADD COLUMN headers JSONB;     -- of a call, by name

-- The secret with which a tenant's calls are signed.
CREATE TABLE webhook_call_secret (
	tenant_id  INTEGER NOT NULL,
	secret     TEXT    NOT NULL,
	created_at BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id)
);
