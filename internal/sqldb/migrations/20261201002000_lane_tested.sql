-- +goose Up

-- Package lane.

-- When the server last accepted a test or mail with the present connection settings; NULL: not yet.
ALTER TABLE mta_config ADD COLUMN tested_at BIGINT;

-- Lanes that have delivered mail need no test.
UPDATE mta_config SET tested_at = created_at WHERE (tenant_id, id) IN (
	SELECT tenant_id, lane_id FROM outbox WHERE state IN ('sent', 'delivered')
	UNION SELECT tenant_id, mta_config_id FROM identity_lane);
