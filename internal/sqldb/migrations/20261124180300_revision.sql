-- +goose Up

-- Package revision.

-- Revisions of records: each write of what users edit increases revision. revised_by is the user or the
-- API key that wrote it; NULL: the program itself, or a write before this migration. revised_at is its
-- time, in tables whose updated_at has another meaning, or that have none; NULL: see created_at.
ALTER TABLE broadcast ADD COLUMN revised_by UUID;
ALTER TABLE sequence ADD COLUMN revised_by UUID;
ALTER TABLE template ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE template ADD COLUMN revised_by UUID;
ALTER TABLE block ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE block ADD COLUMN revised_by UUID;
ALTER TABLE library_entry ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE library_entry ADD COLUMN revised_by UUID;
ALTER TABLE segment ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE segment ADD COLUMN revised_by UUID;
ALTER TABLE automation ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE automation ADD COLUMN revised_by UUID;
ALTER TABLE form ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE form ADD COLUMN revised_by UUID;
ALTER TABLE contact ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE contact ADD COLUMN revised_by UUID;
ALTER TABLE tenant ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE tenant ADD COLUMN revised_at BIGINT;
ALTER TABLE tenant ADD COLUMN revised_by UUID;
ALTER TABLE sending_domain ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE sending_domain ADD COLUMN revised_at BIGINT;
ALTER TABLE sending_domain ADD COLUMN revised_by UUID;
ALTER TABLE sending_identity ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE sending_identity ADD COLUMN revised_at BIGINT;
ALTER TABLE sending_identity ADD COLUMN revised_by UUID;
ALTER TABLE mta_config ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE mta_config ADD COLUMN revised_at BIGINT;
ALTER TABLE mta_config ADD COLUMN revised_by UUID;
