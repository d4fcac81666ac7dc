-- +goose Up

-- Package transfer. What a step of an import did to contacts, to be undone: the lists of contacts are packed, and changed is
-- compressed JSON with former values. The rows go with the step of the undo, with its contacts' anonymisation, or after a week.
CREATE TABLE import_change (
	tenant_id  INTEGER NOT NULL,
	job_id     UUID    NOT NULL, -- of the import
	row_number BIGINT  NOT NULL, -- of the last row of the step in the file
	at         BIGINT  NOT NULL, -- when the step was: the contacts that it created have it
	pos        BIGINT  NOT NULL, -- the end of the journal after the step
	contacts   INTEGER NOT NULL, -- how many it created or changed
	segment_id UUID,             -- the list that contacts were added to
	created    BYTEA,            -- contacts
	listed     BYTEA,            -- contacts that were there before and were added to the list
	changed    BYTEA,            -- contacts that were there before, with what the step replaced
	whom       BYTEA,            -- the last four bytes of the ids in changed, in order
	PRIMARY KEY (tenant_id, job_id, row_number)
);

-- Package transfer. How the columns of a file were mapped, by a hash of its header.
CREATE TABLE import_mapping (
	tenant_id INTEGER NOT NULL,
	header    BYTEA   NOT NULL,
	used_at   BIGINT  NOT NULL,
	options   JSONB   NOT NULL,
	PRIMARY KEY (tenant_id, header)
);

-- Package job. The import that a job undoes.
ALTER TABLE job ADD COLUMN undoes UUID;
CREATE UNIQUE INDEX job_undoes ON job (tenant_id, undoes) WHERE undoes IS NOT NULL AND status IN ('queued', 'running', 'completed');

-- Package contact. The import that created the contact was undone: the contact is suppressed, and new when it comes again.
ALTER TABLE contact ADD COLUMN withdrawn BOOLEAN NOT NULL DEFAULT FALSE;
