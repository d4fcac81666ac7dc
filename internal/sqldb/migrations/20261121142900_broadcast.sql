-- +goose Up

-- One mailing to an audience, from draft to its end. revision counts the
-- writes, so that a decision made on one reading is stored only if nobody wrote
-- since. References to segments, senders, lanes and email types are ids without
-- foreign keys: a record deleted later reads as null, as the API says.
CREATE TABLE broadcast (
	tenant_id           TEXT    NOT NULL,
	id                  TEXT    NOT NULL,
	revision            BIGINT  NOT NULL,
	name                TEXT    NOT NULL,
	status              TEXT    NOT NULL CHECK (status IN ('draft', 'scheduled', 'sending', 'paused', 'completed', 'failed', 'cancelled')),
	kind                TEXT    NOT NULL CHECK (kind IN ('regular', 'triggered')),
	subject             TEXT,
	preheader           TEXT,
	from_name           TEXT,
	reply_to            TEXT,
	body_html           TEXT,
	body_text           TEXT,
	content_version     BIGINT  NOT NULL,
	email_type_id       TEXT,
	mta_config_id       TEXT,
	include_segments    JSONB   NOT NULL,
	exclude_segments    JSONB   NOT NULL,
	identities          JSONB,
	tags                JSONB   NOT NULL,
	metadata            JSONB   NOT NULL,
	scheduled_at        BIGINT,
	tracking            BOOLEAN NOT NULL,
	pause_reason        TEXT    CHECK (pause_reason IN ('user', 'capacity_collapsed', 'domain_paused', 'tenant_paused')),
	archived_at         BIGINT,
	dispatch_started_at BIGINT,
	completed_at        BIGINT,
	failure             JSONB,
	created_by          JSONB   NOT NULL,
	created_at          BIGINT  NOT NULL,
	updated_at          BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id),
	CHECK ((pause_reason IS NOT NULL) = (status = 'paused')),
	CHECK (archived_at IS NULL OR status IN ('completed', 'failed', 'cancelled'))
);
CREATE INDEX broadcast_newest ON broadcast (tenant_id, created_at DESC, id DESC);
CREATE INDEX broadcast_due ON broadcast (scheduled_at) WHERE status = 'scheduled';

-- The preparation and the end of one send. It is apart from the record because
-- it moves with every page of the audience, and the record holds the bodies.
CREATE TABLE broadcast_run (
	tenant_id     TEXT   NOT NULL,
	broadcast_id  TEXT   NOT NULL,
	content_id    TEXT   NOT NULL,
	after_contact TEXT   NOT NULL,
	routes        JSONB  NOT NULL,
	excluded      JSONB  NOT NULL,
	prepared_at   BIGINT,
	ended_at      BIGINT,
	owner         TEXT   NOT NULL,
	lease_until   BIGINT NOT NULL,
	epoch         BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, broadcast_id),
	FOREIGN KEY (tenant_id, broadcast_id) REFERENCES broadcast (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX broadcast_run_open ON broadcast_run (tenant_id, broadcast_id) WHERE ended_at IS NULL;
