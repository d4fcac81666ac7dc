-- +goose Up

-- Package lane.

-- The sealed password of the mailbox that is read for reports. The other settings of the mailbox are
-- in the column settings.
ALTER TABLE mta_config ADD COLUMN bounce_password TEXT;

-- Package outbox.

-- The ids that a provider gave to messages when it accepted them, by which its reports name them.
CREATE TABLE outbox_provider_id (
	tenant_id   INTEGER NOT NULL,
	lane_id     UUID    NOT NULL,
	provider_id TEXT    NOT NULL,
	message_id  UUID    NOT NULL,
	PRIMARY KEY (tenant_id, lane_id, provider_id)
);

-- Package maildomain.

-- Since when a domain to which mail was to be sent has not existed; NULL while it does.
ALTER TABLE mail_domain ADD COLUMN missing_since BIGINT;
