-- +goose Up

-- Package broadcast. What the MJML compiler said of body_mjml, a JSON array; NULL: nothing.
ALTER TABLE broadcast ADD COLUMN mjml_findings JSONB;
