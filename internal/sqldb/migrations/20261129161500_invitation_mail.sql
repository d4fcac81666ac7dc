-- +goose Up
-- The mail of an invitation that was not sent yet, or could not be sent.
ALTER TABLE membership ADD COLUMN mail_due_at BIGINT; -- of the next attempt; NULL: none follows
ALTER TABLE membership ADD COLUMN mail_until BIGINT; -- when attempts end
ALTER TABLE membership ADD COLUMN mail_inviter TEXT; -- the name of the inviter
ALTER TABLE membership ADD COLUMN mail_error TEXT; -- why the last attempt failed
CREATE INDEX membership_mail_due ON membership (mail_due_at) WHERE mail_due_at IS NOT NULL;
