-- +goose Up

-- Package outage.

-- Answers of mail providers about recipients, by the time at which the messages were sent.
CREATE TABLE outage_traffic (
	site     TEXT   NOT NULL,
	bucket   BIGINT NOT NULL, -- its beginning
	answered BIGINT NOT NULL, -- messages that were accepted or refused for good
	unknown  BIGINT NOT NULL, -- of these, those whose recipient was said not to exist
	PRIMARY KEY (site, bucket)
);
CREATE INDEX outage_traffic_bucket ON outage_traffic (bucket);

-- Times at which a provider said of too many recipients that they do not exist.
CREATE TABLE outage (
	id         UUID   NOT NULL PRIMARY KEY,
	site       TEXT   NOT NULL,
	since      BIGINT NOT NULL, -- bounces of messages that were sent from then on are held
	opened_at  BIGINT NOT NULL,
	ended_at   BIGINT,          -- when the answers were normal again
	answered   BIGINT NOT NULL, -- in the ten minutes that opened it
	unknown    BIGINT NOT NULL,
	decision   TEXT,            -- apply or dismiss
	decided_at BIGINT,
	done_at    BIGINT           -- when the decision was carried out
);
-- A provider has at most one outage that waits for a decision.
CREATE UNIQUE INDEX outage_undecided ON outage (site) WHERE decision IS NULL;

-- Bounces of recipients that were said not to exist: those of messages of the last hour, and held ones.
CREATE TABLE outage_bounce (
	tenant_id  INTEGER NOT NULL,
	message_id UUID    NOT NULL,
	contact_id UUID    NOT NULL,
	send_id    UUID    NOT NULL,
	lane_id    UUID    NOT NULL,
	site       TEXT    NOT NULL,
	at         BIGINT  NOT NULL, -- when the message was sent
	outage_id  UUID,             -- of a held bounce
	PRIMARY KEY (tenant_id, message_id)
);
CREATE INDEX outage_bounce_outage ON outage_bounce (outage_id);
CREATE INDEX outage_bounce_site ON outage_bounce (site, at);
CREATE INDEX outage_bounce_tenant ON outage_bounce (tenant_id, outage_id);
