-- +goose Up

-- Package sequence.

-- Sequences. graph is {"entry_node_id": …, "nodes": […], "edges": […]}: it is read and written as a
-- whole. revision counts the writes, so that processes know when to read it again.
CREATE TABLE sequence (
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL,
	activated_at  BIGINT, -- first; NULL: never
	paused_at     BIGINT,
	revision      BIGINT  NOT NULL,
	tenant_id     INTEGER NOT NULL,
	allow_reentry BOOLEAN NOT NULL,
	id            UUID    NOT NULL,
	name          TEXT    NOT NULL,
	status        TEXT    NOT NULL CHECK (status IN ('draft', 'active', 'paused', 'archived')),
	entry_trigger JSONB,
	exits         JSONB,
	graph         JSONB   NOT NULL,
	PRIMARY KEY (tenant_id, id)
);

-- Contacts in sequences, now or earlier. due_at is when engine/flow looks at the enrollment next,
-- timer_at when its wait ends; due_at is earlier if something happened that may end the wait. Both
-- are NULL unless the enrollment is active. number counts the enrollments of a contact in a
-- sequence from 0, visits how often it has entered each node.
CREATE TABLE enrollment (
	due_at          BIGINT,
	timer_at        BIGINT,
	left_at         BIGINT,  -- microseconds left of the wait, while paused
	entered_at      BIGINT   NOT NULL,
	exited_at       BIGINT,
	node_entered_at BIGINT,
	tenant_id       INTEGER  NOT NULL,
	number          INTEGER  NOT NULL DEFAULT 0,
	id              UUID     NOT NULL,
	sequence_id     UUID     NOT NULL,
	contact_id      UUID     NOT NULL,
	status          TEXT     NOT NULL CHECK (status IN ('active', 'paused', 'completed', 'exited', 'failed')),
	exit_reason     TEXT,
	node_id         TEXT,    -- NULL once it has ended
	arrived         BOOLEAN  NOT NULL DEFAULT FALSE, -- the node has begun: a wait runs
	met             BOOLEAN  NOT NULL DEFAULT FALSE, -- what the wait waits for has happened
	converted       BOOLEAN NOT NULL DEFAULT FALSE, -- it has reached a goal
	wait_event      TEXT,    -- name of the event that the wait waits for
	visits          JSONB    NOT NULL DEFAULT '{}',
	trigger_data    JSONB,   -- the event that enrolled the contact
	PRIMARY KEY (tenant_id, id)
);

-- A contact is in a sequence at most once at a time.
CREATE UNIQUE INDEX enrollment_active ON enrollment (tenant_id, contact_id, sequence_id) WHERE status IN ('active', 'paused');

-- A contact's enrollments: lists, exits, reentry, events that end waits, the limit per hour.
CREATE INDEX enrollment_contact ON enrollment (tenant_id, contact_id, sequence_id);

-- Enrollments of a sequence page by page: lists, pauses.
CREATE INDEX enrollment_sequence ON enrollment (tenant_id, sequence_id, id);

-- Enrollments to look at, of all tenants, the longest due first.
CREATE INDEX enrollment_due ON enrollment (due_at) WHERE due_at IS NOT NULL;

-- How often nodes were entered and left, and how many enrollments ended how (node_id '').
CREATE TABLE sequence_count (
	tenant_id   INTEGER NOT NULL,
	sequence_id UUID    NOT NULL,
	node_id     TEXT    NOT NULL,
	entered     BIGINT  NOT NULL DEFAULT 0,
	completed   BIGINT  NOT NULL DEFAULT 0,
	exited      BIGINT  NOT NULL DEFAULT 0,
	converted   BIGINT  NOT NULL DEFAULT 0,
	failed      BIGINT  NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, sequence_id, node_id)
);

-- The send of each node that sends.
CREATE TABLE sequence_send (
	tenant_id   INTEGER NOT NULL,
	sequence_id UUID    NOT NULL,
	node_id     TEXT    NOT NULL,
	send_id     UUID    NOT NULL,
	PRIMARY KEY (tenant_id, sequence_id, node_id)
);
CREATE UNIQUE INDEX sequence_send_send ON sequence_send (tenant_id, send_id);

-- Frozen contents of a node, by what they were made of.
CREATE TABLE sequence_content (
	tenant_id   INTEGER NOT NULL,
	send_id     UUID    NOT NULL,
	fingerprint TEXT    NOT NULL,
	content_id  UUID    NOT NULL,
	version     INTEGER NOT NULL,
	PRIMARY KEY (tenant_id, send_id, fingerprint)
);

-- Results of requests with an idempotency key.
CREATE TABLE sequence_key (
	tenant_id   INTEGER NOT NULL,
	sequence_id UUID    NOT NULL,
	name        TEXT    NOT NULL,
	result      JSONB   NOT NULL,
	expires_at  BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, sequence_id, name)
);
CREATE INDEX sequence_key_expired ON sequence_key (tenant_id, expires_at);
