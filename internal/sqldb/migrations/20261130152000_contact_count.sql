-- +goose Up

-- Package contact. The numbers of a tenant's contacts by status are the sums of its rows, of which there is one for each
-- transaction that ever changed them at the same time as others.
CREATE TABLE contact_count (
	active       BIGINT  NOT NULL,
	pending      BIGINT  NOT NULL,
	unsubscribed BIGINT  NOT NULL,
	bounced      BIGINT  NOT NULL,
	complained   BIGINT  NOT NULL,
	suppressed   BIGINT  NOT NULL,
	part         BIGINT  NOT NULL,
	tenant_id    INTEGER NOT NULL,
	PRIMARY KEY (tenant_id, part) -- WITHOUT ROWID
);
INSERT INTO contact_count (tenant_id, part, active, pending, unsubscribed, bounced, complained, suppressed)
SELECT tenant_id, 0, COUNT(CASE global_status WHEN 'active' THEN 1 END), COUNT(CASE global_status WHEN 'pending' THEN 1 END),
	COUNT(CASE global_status WHEN 'unsubscribed' THEN 1 END), COUNT(CASE global_status WHEN 'bounced' THEN 1 END),
	COUNT(CASE global_status WHEN 'complained' THEN 1 END), COUNT(CASE global_status WHEN 'suppressed' THEN 1 END)
FROM contact GROUP BY tenant_id;

-- It found the contacts that contact_count counts now.
DROP INDEX contact_unbilled;
