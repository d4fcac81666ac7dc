-- +goose Up

-- What a lane may do at each provider or domain, and its warm-up ('{}': the
-- default, which is none). The caps of a lane are in the column of that name.
ALTER TABLE mta_config ADD COLUMN throttles JSONB NOT NULL DEFAULT '[]';
ALTER TABLE mta_config ADD COLUMN warmup JSONB NOT NULL DEFAULT '{}';

-- How a lane fares. A lane without a row has always been healthy.
CREATE TABLE mta_health (
	tenant_id     TEXT   NOT NULL,
	mta_config_id TEXT   NOT NULL,
	state         TEXT   NOT NULL, -- healthy, degraded, down
	since         BIGINT NOT NULL,
	last_error    TEXT,
	probed_at     BIGINT,
	PRIMARY KEY (tenant_id, mta_config_id),
	FOREIGN KEY (tenant_id, mta_config_id) REFERENCES mta_config (tenant_id, id) ON DELETE CASCADE
);
