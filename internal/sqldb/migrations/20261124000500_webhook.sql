-- +goose Up

-- Package webhook.

-- The endpoints of a tenant: URLs that are sent events. Secrets are sealed. An endpoint that is not
-- active gets nothing; disabled_reason says why the program disabled it.
CREATE TABLE webhook_endpoint (
	tenant_id       INTEGER NOT NULL,
	id              UUID    NOT NULL,
	url             TEXT    NOT NULL,
	description     TEXT,
	event_types     JSONB   NOT NULL,
	active          BOOLEAN NOT NULL,
	disabled_reason TEXT    CHECK (disabled_reason IN ('gone', 'failing')),
	secret          TEXT    NOT NULL,
	previous_secret TEXT,   -- also used for signatures
	previous_until  BIGINT, -- until then
	failing_since   BIGINT, -- the first failure after the last success
	last_success_at BIGINT,
	last_failure_at BIGINT,
	notice_due      BOOLEAN NOT NULL DEFAULT FALSE, -- admins are to be mailed that it was disabled
	created_at      BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id) -- also which tenants have endpoints (webhook.Follower)
);

-- Endpoints that were disabled and whose admins were not mailed yet: webhook.Notices.
CREATE INDEX webhook_endpoint_notice ON webhook_endpoint (tenant_id) WHERE notice_due;

-- When the next delivery of an endpoint is due, and the process that delivers to it. The row remains
-- after the endpoint was deleted, until its deliveries are deleted too.
CREATE TABLE webhook_queue (
	tenant_id   INTEGER NOT NULL,
	endpoint_id UUID    NOT NULL,
	next_due    BIGINT, -- NULL: nothing waits
	slow        BOOLEAN NOT NULL DEFAULT FALSE, -- the endpoint failed or was slow when it was last served
	owner       TEXT    NOT NULL DEFAULT '',
	lease_until BIGINT  NOT NULL DEFAULT 0,
	epoch       BIGINT  NOT NULL DEFAULT 0, -- increases with each lease; results with an older one are dropped
	PRIMARY KEY (tenant_id, endpoint_id)
);

-- Endpoints with due deliveries: webhook.Lease.
CREATE INDEX webhook_queue_due ON webhook_queue (next_due) WHERE next_due IS NOT NULL;

-- The leases of a process: webhook.Renew.
CREATE INDEX webhook_queue_owner ON webhook_queue (owner) WHERE owner <> '';

-- One event for one endpoint, with the last attempt. Ids increase with the time of creation.
CREATE TABLE webhook_delivery (
	due_at        BIGINT,           -- of the next attempt; NULL: ended
	event_at      BIGINT  NOT NULL, -- when the event occurred
	created_at    BIGINT  NOT NULL,
	attempted_at  BIGINT,           -- the last attempt
	tenant_id     INTEGER NOT NULL,
	attempts      INTEGER NOT NULL DEFAULT 0,
	tries         INTEGER NOT NULL DEFAULT 0, -- attempts since it was created or replayed, which the schedule counts
	response_code INTEGER,
	response_ms   INTEGER,
	id            UUID    NOT NULL,
	endpoint_id   UUID    NOT NULL,
	subject_id    UUID,             -- what the event is about: a contact, a broadcast
	contact_id    UUID,
	status        TEXT    NOT NULL CHECK (status IN ('pending', 'retrying', 'delivered', 'failed')),
	event_type    TEXT    NOT NULL,
	email         TEXT,             -- of an event about an address that no contact has
	body          TEXT    NOT NULL, -- of the request
	response_body TEXT,             -- at most 4 KB
	error         TEXT,             -- why there was no answer, or no further attempt
	PRIMARY KEY (tenant_id, id) -- also deliveries by age (webhook.Prune)
);

-- Waiting deliveries of an endpoint, in the order of their attempts: webhook.Due, webhook.Lease.Release.
CREATE INDEX webhook_delivery_due ON webhook_delivery (tenant_id, endpoint_id, due_at, id) WHERE due_at IS NOT NULL;

-- The deliveries of an endpoint, newest first: webhook.Deliveries.
CREATE INDEX webhook_delivery_list ON webhook_delivery (tenant_id, endpoint_id, id);

-- Deliveries with data of a person, for export and erasure: webhook.PersonalData.
CREATE INDEX webhook_delivery_contact ON webhook_delivery (tenant_id, contact_id) WHERE contact_id IS NOT NULL;
CREATE INDEX webhook_delivery_email ON webhook_delivery (tenant_id, email) WHERE email IS NOT NULL;

-- Events of the time before this version are not sent.
INSERT INTO journal_cursor (grp, follower, pos) SELECT grp, 'webhook', MAX(pos) FROM journal GROUP BY grp;
