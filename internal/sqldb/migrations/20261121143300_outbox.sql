-- +goose Up

-- What a message says, frozen: never changed once written.
CREATE TABLE content (
	tenant_id  TEXT    NOT NULL,
	id         TEXT    NOT NULL,
	stream_id  TEXT    NOT NULL,
	subject    TEXT    NOT NULL,
	preheader  TEXT    NOT NULL,
	from_name  TEXT    NOT NULL,
	reply_to   TEXT    NOT NULL,
	html       TEXT    NOT NULL,
	text       TEXT    NOT NULL,
	tracking   BOOLEAN NOT NULL,
	context    JSONB   NOT NULL,
	created_at BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);

CREATE INDEX content_stream ON content (tenant_id, stream_id);

-- The links of a content, numbered as the tokens in its mails number them.
CREATE TABLE content_link (
	tenant_id  TEXT    NOT NULL,
	content_id TEXT    NOT NULL,
	idx        BIGINT  NOT NULL,
	url        TEXT    NOT NULL,
	label      TEXT    NOT NULL,
	dynamic    BOOLEAN NOT NULL,
	PRIMARY KEY (tenant_id, content_id, idx),
	FOREIGN KEY (tenant_id, content_id) REFERENCES content (tenant_id, id) ON DELETE CASCADE
);

-- One send: a broadcast's messages, their permission to leave, and their sums.
CREATE TABLE outbox_stream (
	tenant_id    TEXT    NOT NULL,
	id           TEXT    NOT NULL,
	kind         TEXT    NOT NULL,
	phase        TEXT    NOT NULL CHECK (phase IN ('held', 'open', 'paused', 'cancelled', 'done')),
	sealed       BOOLEAN NOT NULL DEFAULT FALSE,
	opened_at    BIGINT  NOT NULL,
	last_send_at BIGINT,
	total        BIGINT  NOT NULL DEFAULT 0,
	waiting      BIGINT  NOT NULL DEFAULT 0,
	deferred     BIGINT  NOT NULL DEFAULT 0,
	sent         BIGINT  NOT NULL DEFAULT 0,
	delivered    BIGINT  NOT NULL DEFAULT 0,
	bounced      BIGINT  NOT NULL DEFAULT 0,
	failed       BIGINT  NOT NULL DEFAULT 0,
	skipped      BIGINT  NOT NULL DEFAULT 0,
	held_back    BIGINT  NOT NULL DEFAULT 0,
	cancelled    BIGINT  NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX outbox_stream_live ON outbox_stream (tenant_id, id) WHERE phase IN ('open', 'cancelled');

-- Every message, waiting or gone. A message that somebody holds (owner) is
-- claimed; one with attempt_at set besides may be on the wire.
CREATE TABLE outbox (
	tenant_id       TEXT    NOT NULL,
	id              TEXT    NOT NULL,
	stream_id       TEXT    NOT NULL,
	contact_id      TEXT    NOT NULL,
	email           TEXT    NOT NULL,
	content_id      TEXT    NOT NULL,
	content_version BIGINT  NOT NULL,
	variant_id      TEXT,
	identity_id     TEXT    NOT NULL,
	lane_id         TEXT    NOT NULL,
	nonce           TEXT    NOT NULL,
	state           TEXT    NOT NULL CHECK (state IN ('queued', 'claimed', 'sent', 'delivered', 'bounced', 'failed', 'skipped', 'held_back', 'cancelled')),
	queued_at       BIGINT  NOT NULL,
	due_at          BIGINT  NOT NULL,
	owner           TEXT,
	epoch           BIGINT  NOT NULL DEFAULT 0,
	attempts        BIGINT  NOT NULL DEFAULT 0,
	attempt_at      BIGINT,
	first_at        BIGINT,
	uncertain       BIGINT  NOT NULL DEFAULT 0,
	deferred        BOOLEAN NOT NULL DEFAULT FALSE,
	answered        BOOLEAN NOT NULL DEFAULT FALSE,
	sent_at         BIGINT,
	ended_at        BIGINT,
	bounce_type     TEXT,
	skip_reason     TEXT,
	category        TEXT,
	smtp_code       BIGINT,
	enhanced_code   TEXT,
	error           TEXT,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX outbox_contact ON outbox (tenant_id, stream_id, contact_id);
CREATE INDEX outbox_due ON outbox (tenant_id, stream_id, due_at, id) WHERE state = 'queued';
CREATE INDEX outbox_owned ON outbox (owner) WHERE owner IS NOT NULL;

-- The processes that hold messages. One that does not renew its lease is dead,
-- and what it held is judged and goes on without it.
CREATE TABLE outbox_node (
	owner    TEXT   NOT NULL PRIMARY KEY,
	until_at BIGINT NOT NULL
);
