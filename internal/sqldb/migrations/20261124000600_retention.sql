-- +goose Up

-- Package tenant.

-- How many days the tenant's data are kept (tenant.Retention). retention_at: when one of the numbers
-- was last changed; the pruning of the journal begins again then.
ALTER TABLE tenant ADD COLUMN events_days INTEGER NOT NULL DEFAULT 400;
ALTER TABLE tenant ADD COLUMN engagement_days INTEGER NOT NULL DEFAULT 730;
ALTER TABLE tenant ADD COLUMN deliveries_days INTEGER NOT NULL DEFAULT 30;
ALTER TABLE tenant ADD COLUMN raw_requests_days INTEGER NOT NULL DEFAULT 30;
ALTER TABLE tenant ADD COLUMN retention_at BIGINT NOT NULL DEFAULT 0;

-- Package track.

-- Number of the message's hits that were deleted because of their age. Then its flags and the sums no
-- longer change.
ALTER TABLE engagement ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;

-- Up to which hit the addresses and agents of a tenant's hits were removed: track.ClearRequests.
CREATE TABLE hit_cleared (
	tenant_id INTEGER NOT NULL,
	kind      TEXT    NOT NULL CHECK (kind IN ('open', 'click')),
	at        BIGINT  NOT NULL,
	id        UUID    NOT NULL,
	PRIMARY KEY (tenant_id, kind)
);

-- Package journal.

-- How far the journal of a group was searched for old entries of one class, for tenants that keep them
-- for the same number of days. since: when the search began at the first entry.
CREATE TABLE journal_pruned (
	grp   INTEGER NOT NULL,
	class TEXT    NOT NULL,
	days  INTEGER NOT NULL,
	pos   BIGINT  NOT NULL,
	since BIGINT  NOT NULL,
	PRIMARY KEY (grp, class, days)
);
