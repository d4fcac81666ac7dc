-- +goose Up

-- Package job. Until when another job may read an upload, too: NULL if no other may. What the upload is, as its reader said.
ALTER TABLE job_file ADD COLUMN kept_until BIGINT;
ALTER TABLE job_file ADD COLUMN about JSONB;
CREATE INDEX job_file_kept ON job_file (tenant_id) WHERE kept_until IS NOT NULL;
