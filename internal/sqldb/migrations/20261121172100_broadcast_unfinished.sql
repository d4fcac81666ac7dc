-- +goose Up

-- The broadcasts that hold on to what they refer to, for those who ask on
-- behalf of all tenants.
CREATE INDEX broadcast_unfinished ON broadcast (tenant_id, id) WHERE status IN ('draft', 'scheduled', 'sending', 'paused');
