-- +goose Up

-- Package revision.

-- Revisions of settings; see 20261124180300_revision.sql.
ALTER TABLE email_type ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE email_type ADD COLUMN revised_at BIGINT;
ALTER TABLE email_type ADD COLUMN revised_by UUID;
ALTER TABLE email_category ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE email_category ADD COLUMN revised_at BIGINT;
ALTER TABLE email_category ADD COLUMN revised_by UUID;
ALTER TABLE contact_stage ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE contact_stage ADD COLUMN revised_at BIGINT;
ALTER TABLE contact_stage ADD COLUMN revised_by UUID;
ALTER TABLE webhook_endpoint ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE webhook_endpoint ADD COLUMN revised_at BIGINT;
ALTER TABLE webhook_endpoint ADD COLUMN revised_by UUID;
ALTER TABLE seed_list ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE seed_list ADD COLUMN revised_by UUID;
ALTER TABLE score_settings ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE score_settings ADD COLUMN revised_by UUID;
