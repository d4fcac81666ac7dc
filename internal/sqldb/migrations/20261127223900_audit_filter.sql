-- +goose Up

-- Entries of one author, and about one record, newest first.
CREATE INDEX audit_actor ON audit (tenant_id, actor_id, created_at, id);
CREATE INDEX audit_target ON audit (tenant_id, target_type, target_id, created_at, id);
