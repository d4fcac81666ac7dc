-- +goose Up

-- Package track.

-- The network of the address (track.Network), so that rule R7 can count a network as well as an
-- address; empty for hits without an address. Signals are bits for headers of the request
-- (track.Signals). A click without a URL is a fetch of the invisible link (track.Hit.Honeypot). A hit
-- has the ids of the rules that decided in rule, with spaces between them.
ALTER TABLE hit ADD COLUMN net TEXT NOT NULL DEFAULT '';
ALTER TABLE hit ADD COLUMN signals INTEGER NOT NULL DEFAULT 0;

DROP INDEX hit_source;
DROP INDEX hit_settled;
-- Number of messages of a send that a network or one of its addresses requests within a minute:
-- track.Frequent, SourceHits.
CREATE INDEX hit_source ON hit (tenant_id, send_id, net, at) WHERE NOT proxy AND net <> '';
-- Those that a later hit may still show to be a machine's: track.GenuineHits.
CREATE INDEX hit_settled ON hit (tenant_id, send_id, net, at) WHERE class IN ('human', 'privacy') AND NOT proxy AND net <> '';

-- What a recipient did after opening a mail or following its links, which shows that a person did
-- (rule G4). pending: the classifier has not judged the message's hits again since.
CREATE TABLE hit_proof (
	tenant_id  INTEGER NOT NULL,
	message_id UUID    NOT NULL,
	at         BIGINT  NOT NULL,
	kind       TEXT    NOT NULL CHECK (kind IN ('unsubscribe', 'form', 'event')),
	pending    BOOLEAN NOT NULL DEFAULT TRUE,
	PRIMARY KEY (tenant_id, message_id, at)
);
-- Proofs to process, of all tenants: track.PendingProofs.
CREATE INDEX hit_proof_pending ON hit_proof (at) WHERE pending;
