-- +goose Up

-- Package automation.

-- Automations: rules with a trigger and up to ten actions. trigger_key is trigger.Trigger.Lookup.
-- Entries of the journal up to active_after do not start runs: they happened before the automation
-- became active, or had its present trigger.
CREATE TABLE automation (
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL,
	active_after  BIGINT  NOT NULL,
	tenant_id     INTEGER NOT NULL,
	id            UUID    NOT NULL,
	name          TEXT    NOT NULL,
	status        TEXT    NOT NULL CHECK (status IN ('active', 'paused', 'archived')),
	trigger_key   TEXT    NOT NULL,
	entry_trigger JSONB   NOT NULL,
	definition    JSONB,
	actions       JSONB   NOT NULL,
	PRIMARY KEY (tenant_id, id)
);

-- What entries of the journal may start: automation.Follower.
CREATE INDEX automation_active ON automation (tenant_id, trigger_key) WHERE status = 'active';

-- The sums of an automation: runs that were carried out, how many of them were deleted by age, and when
-- the last one ended.
CREATE TABLE automation_count (
	tenant_id     INTEGER NOT NULL,
	automation_id UUID    NOT NULL,
	runs          BIGINT  NOT NULL DEFAULT 0,
	pruned        BIGINT  NOT NULL DEFAULT 0,
	last_run_at   BIGINT,
	PRIMARY KEY (tenant_id, automation_id)
);

-- One trigger event of one contact, with the results of the actions. due_at is when engine/flow carries
-- it out; NULL: it has ended.
CREATE TABLE automation_run (
	due_at        BIGINT,
	created_at    BIGINT  NOT NULL,
	ended_at      BIGINT,
	tenant_id     INTEGER NOT NULL,
	tries         INTEGER NOT NULL DEFAULT 0, -- that failed
	id            UUID    NOT NULL,
	automation_id UUID    NOT NULL,
	contact_id    UUID    NOT NULL,
	status        TEXT    NOT NULL CHECK (status IN ('pending', 'completed', 'failed', 'skipped')),
	reason        TEXT,
	trigger_data  JSONB,
	actions       JSONB   NOT NULL DEFAULT '[]', -- their results
	PRIMARY KEY (tenant_id, id) -- also runs by age: automation.Prune
);

-- The runs of an automation, newest first.
CREATE INDEX automation_run_list ON automation_run (tenant_id, automation_id, id);

-- The runs of a contact: the limit per hour, export and erasure.
CREATE INDEX automation_run_contact ON automation_run (tenant_id, contact_id, automation_id, created_at);

-- Runs to carry out: the tenants that have some (sqldb.TenantsDue), and those of a tenant.
CREATE INDEX automation_run_due ON automation_run (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX automation_run_tenant ON automation_run (tenant_id, due_at, id) WHERE due_at IS NOT NULL;

-- Automations that were deleted, until their runs are deleted too. due_at is when the engine looks for
-- runs next.
CREATE TABLE automation_deleted (
	due_at        BIGINT  NOT NULL,
	deleted_at    BIGINT  NOT NULL,
	tenant_id     INTEGER NOT NULL,
	automation_id UUID    NOT NULL,
	PRIMARY KEY (tenant_id, automation_id)
);
CREATE INDEX automation_deleted_due ON automation_deleted (due_at);

-- Entries of the time before this version start no runs.
INSERT INTO journal_cursor (grp, follower, pos) SELECT grp, 'automation', MAX(pos) FROM journal GROUP BY grp;
