-- +goose Up

-- Package visitor.

-- Requests of the scripts on tenants' websites, as accepted, until visitor.Engine applies them in
-- the order of their ids. data is a visitor.Request.
CREATE TABLE visitor_inbox (
	tenant_id INTEGER NOT NULL,
	id        UUID    NOT NULL,
	data      BYTEA   NOT NULL,
	PRIMARY KEY (tenant_id, id)
);

-- Browsers on tenants' websites. id is a hash of the identifier that the script stores. session_at
-- is when the last session began, kept the number of rows in visitor_kept. strength is what the
-- link to the contact is based on (visitor.Strength), linked_at when that was last confirmed. claim_hit
-- is the last click that led here, and claim_message its message until the click is classified.
-- first_touch and last_touch are visitor.touch.
CREATE TABLE visitor (
	first_seen_at BIGINT   NOT NULL,
	seen_at       BIGINT   NOT NULL,
	session_at    BIGINT   NOT NULL,
	linked_at     BIGINT,
	claimed_at    BIGINT,
	tenant_id     INTEGER  NOT NULL,
	kept          INTEGER  NOT NULL DEFAULT 0,
	strength      SMALLINT NOT NULL DEFAULT 0,
	id            UUID     NOT NULL,
	contact_id    UUID,
	claim_message UUID,
	claim_hit     UUID,
	first_touch   JSONB,
	last_touch    JSONB,
	PRIMARY KEY (tenant_id, id)
);

-- The visitors of a contact, for visitor.PersonalData.
CREATE INDEX visitor_contact ON visitor (tenant_id, contact_id) WHERE contact_id IS NOT NULL;

-- The visitors that were seen longest ago, for visitor.expire: those without a contact, and others.
CREATE INDEX visitor_unknown_seen ON visitor (tenant_id, seen_at) WHERE contact_id IS NULL;
CREATE INDEX visitor_linked_seen ON visitor (tenant_id, seen_at) WHERE contact_id IS NOT NULL;

-- The visitors with a click to be classified, for Engine.ResolveClaims.
CREATE INDEX visitor_claim ON visitor (tenant_id, id) WHERE claim_message IS NOT NULL;

-- The visitor that came by a click, for batch.loadClaimed: the link may have been passed on.
CREATE INDEX visitor_hit ON visitor (tenant_id, claim_hit) WHERE claim_hit IS NOT NULL;

-- Page views and events of visitors without a contact, until they are linked to one. data is a
-- visitor.Request.
CREATE TABLE visitor_kept (
	at         BIGINT  NOT NULL,
	tenant_id  INTEGER NOT NULL,
	visitor_id UUID    NOT NULL,
	id         UUID    NOT NULL,
	data       BYTEA   NOT NULL,
	PRIMARY KEY (tenant_id, visitor_id, id)
);

-- The oldest of them, for visitor.expire.
CREATE INDEX visitor_kept_at ON visitor_kept (tenant_id, at);

-- The numbers of a tenant's visitors, of its rows in visitor_kept, and of contacts that unverified
-- visitors created, which bound them.
CREATE TABLE visitor_total (
	visitors  BIGINT  NOT NULL DEFAULT 0,
	kept      BIGINT  NOT NULL DEFAULT 0,
	pending   BIGINT  NOT NULL DEFAULT 0,
	tenant_id INTEGER NOT NULL PRIMARY KEY
);
