-- +goose Up

-- Package contactsearch. The segments of the search of contacts, which differ in size. The row of the last one stays when it
-- is deleted, with no entries, so that no number is used twice.
CREATE TABLE contact_search_segment (
	tenant_id INTEGER NOT NULL,
	segment   BIGINT  NOT NULL,
	entries   BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, segment) -- WITHOUT ROWID
);
INSERT INTO contact_search_segment (tenant_id, segment, entries)
SELECT tenant_id, segment, CAST(SUM(LENGTH(contacts)) AS BIGINT) / 16 FROM contact_search_block GROUP BY tenant_id, segment;
INSERT INTO contact_search_segment (tenant_id, segment, entries)
SELECT tenant_id, through_segment, 0 FROM contact_search_rebuild WHERE true ON CONFLICT DO NOTHING;
