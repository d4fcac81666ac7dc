-- +goose Up

-- The mail by whose link the contact chose; null: by none.
ALTER TABLE consent_record ADD COLUMN message_id UUID;
