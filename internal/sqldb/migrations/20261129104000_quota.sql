-- +goose Up

-- Package quota. How many bytes of a kind a tenant stores. The lock on the row keeps concurrent writers within
-- the limit.
CREATE TABLE quota (
	tenant_id INTEGER NOT NULL,
	kind      TEXT    NOT NULL,
	bytes     BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, kind)
);
INSERT INTO quota (tenant_id, kind, bytes) SELECT tenant_id, 'job_files', SUM(size) FROM job_file GROUP BY tenant_id;
INSERT INTO quota (tenant_id, kind, bytes) SELECT tenant_id, 'working_copies', SUM(size) FROM working_copy GROUP BY tenant_id;

-- Package visitor. The bytes of the rows in visitor_kept.
ALTER TABLE visitor_total ADD COLUMN kept_bytes BIGINT NOT NULL DEFAULT 0;
UPDATE visitor_total SET kept_bytes = (SELECT COALESCE(SUM(LENGTH(k.data)), 0) FROM visitor_kept AS k WHERE k.tenant_id = visitor_total.tenant_id);
