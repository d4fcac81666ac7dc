-- +goose Up

-- What people call the job; empty for jobs of earlier versions.
ALTER TABLE job ADD COLUMN title TEXT NOT NULL DEFAULT '';

CREATE INDEX job_newest ON job (tenant_id, created_at, id);
