-- +goose Up

-- Each commit changes these rows again: free space on their pages makes that a HOT update.
ALTER TABLE outbox_mix_sum SET (fillfactor = 50);
ALTER TABLE outbox_time_sum SET (fillfactor = 50);
ALTER TABLE engagement_sum SET (fillfactor = 50);
ALTER TABLE engagement_time_sum SET (fillfactor = 50);
ALTER TABLE engagement_attribute_sum SET (fillfactor = 50);
ALTER TABLE link_sum SET (fillfactor = 50);
