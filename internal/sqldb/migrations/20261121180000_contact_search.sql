-- +goose Up

-- The index of the free-text search of contacts. What was written and is not in
-- it yet waits in contact_search_fresh, which triggers fill: whoever writes a
-- contact, the same transaction says so.
CREATE TABLE contact_search_fresh (
	tenant_id   TEXT NOT NULL,
	contact_id  TEXT NOT NULL,
	search_text TEXT NOT NULL,
	PRIMARY KEY (tenant_id, contact_id)
);
INSERT INTO contact_search_fresh (tenant_id, contact_id, search_text)
SELECT tenant_id, id, search_text FROM contact;

-- A segment is some thousand contacts, each with a number. Which of them hold
-- three, two or one given letters in a row, is written in the row that the hash
-- of these letters names; a row without anything in it is left out.
CREATE TABLE contact_search_postings (
	tenant_id TEXT   NOT NULL,
	bucket    BIGINT NOT NULL,
	segment   BIGINT NOT NULL,
	postings  BYTEA  NOT NULL,
	PRIMARY KEY (tenant_id, bucket, segment)
);

-- Whose numbers they are: the ids of a segment's contacts, a few in each row,
-- in the order of their numbers.
CREATE TABLE contact_search_block (
	tenant_id TEXT   NOT NULL,
	segment   BIGINT NOT NULL,
	block     BIGINT NOT NULL,
	contacts  TEXT   NOT NULL,
	PRIMARY KEY (tenant_id, segment, block)
);

-- Tenants whose index holds mostly what contacts used to be: it is made anew.
-- All contacts up to after_id wait again; when they all do, the segments up to
-- through_segment go.
CREATE TABLE contact_search_renewal (
	tenant_id       TEXT   NOT NULL PRIMARY KEY,
	through_segment BIGINT NOT NULL,
	after_id        TEXT   NOT NULL
);

-- Contacts that were anonymised: what the index says of them is to go.
CREATE TABLE contact_search_forgotten (
	tenant_id  TEXT NOT NULL,
	contact_id TEXT NOT NULL,
	PRIMARY KEY (tenant_id, contact_id)
);
