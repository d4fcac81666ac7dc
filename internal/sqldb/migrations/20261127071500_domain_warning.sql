-- +goose Up

-- Package sender.

-- The warnings about sending domains that have not ended.
CREATE TABLE domain_warning (
	tenant_id INTEGER          NOT NULL,
	domain_id UUID             NOT NULL,
	metric    TEXT             NOT NULL,
	scope     TEXT             NOT NULL, -- the provider or the broadcast; empty: all mail of the domain
	count     BIGINT           NOT NULL,
	total     BIGINT           NOT NULL, -- count is a part of these
	threshold DOUBLE PRECISION NOT NULL,
	length    BIGINT           NOT NULL, -- of the window, in microseconds
	since     BIGINT           NOT NULL,
	PRIMARY KEY (tenant_id, domain_id, metric, scope),
	FOREIGN KEY (tenant_id, domain_id) REFERENCES sending_domain (tenant_id, id) ON DELETE CASCADE
);
