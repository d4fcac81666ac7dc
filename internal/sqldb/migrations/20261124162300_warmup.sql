-- +goose Up

-- Packages traffic and sender.

-- Recent traffic by the source address and the provider of the recipients, in five minutes.
CREATE TABLE traffic_provider (
	tenant_id  INTEGER NOT NULL,
	lane_id    UUID    NOT NULL,
	bucket     BIGINT  NOT NULL, -- its beginning
	domain_id  UUID    NOT NULL,
	source     TEXT    NOT NULL, -- of direct delivery; empty if unknown
	provider   TEXT    NOT NULL, -- a provider group, or other
	delivered  BIGINT  NOT NULL,
	deferred   BIGINT  NOT NULL,
	hard       BIGINT  NOT NULL,
	late       BIGINT  NOT NULL,
	block      BIGINT  NOT NULL,
	complained BIGINT  NOT NULL,
	spam       BIGINT  NOT NULL, -- refused for content or reputation
	auth       BIGINT  NOT NULL, -- refused because SPF, DKIM or DMARC failed
	PRIMARY KEY (tenant_id, lane_id, bucket, domain_id, source, provider)
);
CREATE INDEX traffic_provider_domain ON traffic_provider (tenant_id, domain_id, bucket);
CREATE INDEX traffic_provider_bucket ON traffic_provider (bucket);

-- How many days of good mail a domain has behind it. Those from before are not new.
ALTER TABLE sending_domain ADD COLUMN warm_days INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sending_domain ADD COLUMN warm_day TEXT; -- until which days are counted
UPDATE sending_domain SET warm_days = 60 /* all tenants: columns were added */;
