-- +goose Up

-- How many hits of a message are kept.
ALTER TABLE engagement ADD COLUMN hits BIGINT NOT NULL DEFAULT 0;
UPDATE engagement SET hits = (
	SELECT COUNT(*) FROM hit WHERE hit.tenant_id = engagement.tenant_id AND hit.message_id = engagement.message_id);

-- Whether a hit was fetched by a mailbox provider's image proxy, for many people
-- from one address: such hits say nothing about the address.
ALTER TABLE hit ADD COLUMN proxy BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE hit SET proxy = TRUE WHERE agent LIKE '%GoogleImageProxy%' OR agent LIKE '%YahooMailProxy%';

-- The hits of one address by time, with the message of each.
DROP INDEX hit_source;
CREATE INDEX hit_source ON hit (tenant_id, stream_id, ip, at, message_id) WHERE NOT proxy;
-- Those of them that a later hit may yet show to be a machine's.
CREATE INDEX hit_settled ON hit (tenant_id, stream_id, ip, class, at, id) WHERE class IN ('human', 'privacy') AND NOT proxy;

-- Pending hits are read page by page.
DROP INDEX hit_pending;
CREATE INDEX hit_pending ON hit (at, id) WHERE class = 'pending';
