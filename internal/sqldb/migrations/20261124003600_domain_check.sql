-- +goose Up

-- Package sender.

-- When the domain's DNS records are checked next. A process that checks them sets it to a time
-- after which others may; 0: at once.
ALTER TABLE sending_domain ADD COLUMN next_check_at BIGINT NOT NULL DEFAULT 0;
-- How many checks there were since the domain was created.
ALTER TABLE sending_domain ADD COLUMN checks INTEGER NOT NULL DEFAULT 0;
-- Since when required records are missing or wrong, and since when the tracking host cannot be
-- reached; NULL: they are as they should be, or were never checked.
ALTER TABLE sending_domain ADD COLUMN failing_since BIGINT;
ALTER TABLE sending_domain ADD COLUMN tracking_failing_since BIGINT;
-- What the DNS had at the last check: {"<purpose> <host>": {"status": …, "found": …, "problem": …, "checked_at": …}}.
ALTER TABLE sending_domain ADD COLUMN findings JSONB NOT NULL DEFAULT '{}';

CREATE INDEX sending_domain_due ON sending_domain (next_check_at);

-- DKIM keys of a domain besides its current RSA key, which is in sending_domain. An RSA key is
-- 'next' until it is published, then it becomes the current one, and that one 'retired'. An Ed25519
-- key is 'offered' until it is published, then 'signing', later 'retired'.
CREATE TABLE sending_domain_key (
	tenant_id  INTEGER NOT NULL,
	domain_id  UUID    NOT NULL,
	selector   TEXT    NOT NULL,
	algorithm  TEXT    NOT NULL CHECK (algorithm IN ('rsa', 'ed25519')),
	state      TEXT    NOT NULL CHECK (state IN ('next', 'offered', 'signing', 'retired')),
	sealed     TEXT,            -- PKCS #8, sealed; NULL: retired
	record     TEXT    NOT NULL, -- the DNS record
	created_at BIGINT  NOT NULL,
	retire_at  BIGINT,          -- until when a retired key stays published
	PRIMARY KEY (tenant_id, domain_id, selector),
	FOREIGN KEY (tenant_id, domain_id) REFERENCES sending_domain (tenant_id, id)
);

-- The hosts of tracked links that lead or led to this installation. Their rows stay when a domain is
-- deleted: links in mails that were sent must continue to work, so certificates are still issued.
CREATE TABLE tracked_host (
	tenant_id INTEGER NOT NULL,
	host      TEXT    NOT NULL, -- without a port
	since     BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, host)
);
CREATE INDEX tracked_host_name ON tracked_host (host);

-- Hosts of public pages, for which certificates are issued too.
CREATE INDEX sending_identity_content_host ON sending_identity (content_rewrite_domain) WHERE content_rewrite_domain IS NOT NULL;
