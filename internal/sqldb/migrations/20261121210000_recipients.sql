-- +goose Up

-- The few of a send's messages that came to nothing, for those who ask for them
-- alone.
CREATE INDEX outbox_rare ON outbox (tenant_id, stream_id, contact_id)
	WHERE state IN ('bounced', 'failed', 'skipped', 'held_back', 'cancelled');
