-- +goose Up

-- The enrollments of a tenant that are due, without reading those of others.
CREATE INDEX enrollment_due_tenant ON enrollment (tenant_id, due_at) WHERE due_at IS NOT NULL;
