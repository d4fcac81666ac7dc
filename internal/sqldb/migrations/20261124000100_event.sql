-- +goose Up

-- Package event.

-- Events that were recorded with an idempotency key, for seven days. key is a hash. Events are
-- looked up by the primary key (event.queueReplays).
CREATE TABLE event_key (
	tenant_id  INTEGER NOT NULL,
	key        UUID    NOT NULL,
	event_id   UUID    NOT NULL,
	contact_id UUID    NOT NULL,
	warnings   JSONB,
	expires_at BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, key)
);
-- Keys that have expired: event.pruneKeys.
CREATE INDEX event_key_expiry ON event_key (tenant_id, expires_at);
