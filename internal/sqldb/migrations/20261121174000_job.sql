-- +goose Up

-- Long work: imports, exports, actions on many. It is leased like a broadcast's
-- run: whoever holds the epoch may take a step, and a step's effects, its counts
-- and the place to go on from commit together. A tenant's jobs of one kind run
-- one after the other, which job_turn holds true among all processes.
CREATE TABLE job (
	tenant_id   TEXT   NOT NULL,
	id          TEXT   NOT NULL,
	kind        TEXT   NOT NULL,
	status      TEXT   NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
	scope       TEXT   NOT NULL, -- a key needs it to see the job
	params      JSONB  NOT NULL,
	state       JSONB,           -- where to go on; null before the first step
	result      JSONB,
	error       JSONB,
	processed   BIGINT NOT NULL,
	total       BIGINT,          -- null while nobody knows
	created_by  JSONB  NOT NULL,
	created_at  BIGINT NOT NULL,
	served_at   BIGINT NOT NULL, -- when it was last leased; 0 before
	finished_at BIGINT,
	owner       TEXT   NOT NULL,
	lease_until BIGINT NOT NULL,
	epoch       BIGINT NOT NULL, -- of the lease
	tries       BIGINT NOT NULL, -- leases since the last step
	PRIMARY KEY (tenant_id, id),
	CHECK ((finished_at IS NULL) = (status IN ('queued', 'running')))
);
CREATE UNIQUE INDEX job_turn ON job (tenant_id, kind) WHERE status = 'running';
CREATE INDEX job_open ON job (status, lease_until, tenant_id) WHERE status IN ('queued', 'running');
CREATE INDEX job_served ON job (tenant_id, served_at);
CREATE INDEX job_finished ON job (finished_at) WHERE finished_at IS NOT NULL;

-- What jobs read and write, in the database, so that any node can.
CREATE TABLE job_file (
	tenant_id  TEXT   NOT NULL,
	id         TEXT   NOT NULL,
	job_id     TEXT,            -- null: an upload whose request has not ended
	name       TEXT   NOT NULL, -- its part in the job
	media_type TEXT   NOT NULL,
	size       BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX job_file_part ON job_file (tenant_id, job_id, name) WHERE job_id IS NOT NULL;
CREATE INDEX job_file_stray ON job_file (created_at) WHERE job_id IS NULL;

CREATE TABLE job_file_chunk (
	tenant_id TEXT   NOT NULL,
	file_id   TEXT   NOT NULL,
	at        BIGINT NOT NULL, -- how many bytes of the file stand before it
	data      BYTEA  NOT NULL,
	PRIMARY KEY (tenant_id, file_id, at)
);
