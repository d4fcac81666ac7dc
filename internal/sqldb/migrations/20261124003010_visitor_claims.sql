-- +goose Up

-- Package visitor.

-- When the verdict on a visitor's click is read next: at first soon, then once more when later hits no
-- longer change it. NULL: there is no click, or its verdict is final.
ALTER TABLE visitor ADD COLUMN claim_due BIGINT;
UPDATE visitor SET claim_due = claimed_at WHERE claim_message IS NOT NULL;

-- The visitors with clicks whose verdict is to be read, for Engine.ResolveClaims.
DROP INDEX visitor_claim;
CREATE INDEX visitor_claim ON visitor (claim_due) WHERE claim_due IS NOT NULL;
