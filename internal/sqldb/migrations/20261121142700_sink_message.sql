-- +goose Up

-- What MTA configs of type sink accepted (contract B32b).
CREATE TABLE sink_message (
	tenant_id     TEXT   NOT NULL,
	id            TEXT   NOT NULL,
	mta_config_id TEXT   NOT NULL,
	mail_from     TEXT   NOT NULL, -- envelope
	rcpt_to       TEXT   NOT NULL, -- envelope
	author        TEXT   NOT NULL, -- the From header, decoded
	subject       TEXT   NOT NULL, -- decoded
	folded        TEXT   NOT NULL, -- lower case: what a search looks through
	size          BIGINT NOT NULL,
	raw           BYTEA  NOT NULL,
	received_at   BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX sink_message_config ON sink_message (tenant_id, mta_config_id, received_at, id);
CREATE INDEX sink_message_newest ON sink_message (tenant_id, received_at, id);
