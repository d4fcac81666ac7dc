-- +goose Up

-- What each lane carried for each sending domain, in buckets of 30 seconds.
-- Kept for two days.
CREATE TABLE traffic (
	tenant_id     TEXT   NOT NULL,
	lane_id       TEXT   NOT NULL,
	bucket        BIGINT NOT NULL, -- when it begins
	domain_id     TEXT   NOT NULL, -- '' when the sender is not known
	tries         BIGINT NOT NULL, -- connections tried
	unreached     BIGINT NOT NULL, -- of these, how many came to no session
	delivered     BIGINT NOT NULL,
	deferred      BIGINT NOT NULL,
	hard          BIGINT NOT NULL,
	block         BIGINT NOT NULL,
	complained    BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, lane_id, bucket, domain_id)
);
CREATE INDEX traffic_domain ON traffic (tenant_id, domain_id, bucket);
CREATE INDEX traffic_bucket ON traffic (bucket);

-- A domain that was paused and resumed is judged by what it sent since.
ALTER TABLE sending_domain ADD COLUMN judged_from BIGINT;
