-- Distributes the tables of Packetboat over the nodes of a Citus cluster. Run it on the coordinator
-- after `packetboat migrate`, and again after an upgrade that created tables: tables that are
-- distributed already do not change.
--
-- The number of shards is that of the setting citus.shard_count: a power of two, at most 64. It
-- cannot be changed afterwards.
DO $$
DECLARE
	-- The rows of a tenant are on one node, in all of these tables. Each table comes after those
	-- that it refers to.
	by_tenant TEXT[] := ARRAY[
		'audit', 'idempotency', 'working_copy', 'test_mail', 'traffic', 'traffic_provider', 'custom_field',
		'contact_stage', 'contact', 'contact_version', 'contact_activity', 'contact_count', 'contact_turn', 'identity_secret',
		'contact_search_queue', 'contact_search_range', 'contact_search_segment', 'contact_search_postings', 'contact_search_block', 'contact_search_rebuild', 'contact_search_removed',
		'contact_log', 'contact_log_end',
		'suppression', 'score_settings', 'score_day',
		'mta_config', 'mta_health', 'bounce_mailbox', 'email_category', 'email_type', 'sending_domain', 'sending_domain_key', 'domain_warning', 'tracked_host', 'sending_identity', 'identity_email_type', 'identity_lane',
		'seed_list', 'seed_list_identity', 'seed', 'seed_sync', 'seed_sync_sample',
		'asset', 'asset_chunk', 'asset_total', 'content', 'content_link', 'template', 'block', 'library_entry', 'library_version', 'sink_message',
		'send', 'send_terms', 'send_ready', 'outbox', 'outbox_mix', 'outbox_note', 'outbox_failed_attempt', 'outbox_provider_id', 'outbox_claim', 'outbox_turn', 'outbox_attempt',
		'outbox_day', 'outbox_slot', 'outbox_sample', 'outbox_wait', 'outbox_mix_sum', 'outbox_time_sum', 'outbox_bounce_sum',
		'hit_inbox', 'hit', 'hit_proof', 'hit_cleared', 'engagement', 'engagement_sum', 'engagement_time_sum', 'engagement_attribute_sum', 'link_sum', 'report_cache', 'event_key', 'event_seen',
		'visitor_inbox', 'visitor', 'visitor_kept', 'visitor_total', 'quota',
		'segment', 'segment_member', 'segment_reference', 'segment_turn', 'saved_filter', 'consent_record', 'form', 'form_submission',
		'broadcast', 'broadcast_run',
		'segment_watcher', 'segment_watch', 'segment_inside', 'date_watch', 'date_due',
		'sequence', 'enrollment', 'sequence_count', 'sequence_time_sum', 'sequence_send', 'sequence_content', 'sequence_key',
		'automation', 'automation_count', 'automation_run', 'automation_deleted',
		'job', 'job_file', 'job_file_chunk', 'import_change', 'import_mapping',
		'webhook_endpoint', 'webhook_queue', 'webhook_delivery', 'webhook_call_secret',
		'notice', 'outage_bounce',
		'change_listener', 'change_hint'];
	-- The journal and its cursors are on the node of the group's tenants.
	by_group TEXT[] := ARRAY['journal', 'journal_cursor', 'journal_pruned'];
	-- Every node has a copy of these: few rows, which are joined with those of tenants.
	everywhere TEXT[] := ARRAY['tenant', 'mail_domain'];
	-- Only the coordinator has these: few rows, which are not joined with others.
	coordinator TEXT[] := ARRAY[
		'app_user', 'login_address', 'membership', 'session', 'one_time_token', 'login_link', 'api_key',
		'leader', 'send_hold', 'pace_day', 'pace_rate', 'pace_slot', 'rate_window',
		'outbox_node', 'form_slug', 'mail_domain_policy', 'destination', 'destination_broken_tls', 'outage', 'outage_traffic', 'classifier_run', 'secret_key', 'write_probe',
		'tls_certificate', 'acme_account', 'acme_challenge'];
	shards INTEGER := current_setting('citus.shard_count');
	fresh  TEXT[] := '{}';
	name   TEXT;
	node   TEXT;
	failed TEXT;
BEGIN
	IF shards > 64 OR (shards & (shards - 1)) <> 0 THEN
		RAISE EXCEPTION 'citus.shard_count is %: it must be a power of two, at most 64', shards;
	END IF;
	FOREACH name IN ARRAY everywhere LOOP
		CONTINUE WHEN EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = name::regclass);
		PERFORM create_reference_table(name);
		fresh := fresh || name;
	END LOOP;
	-- A row for each tenant and each group of tenants, on its node: INSERTs of several rows select
	-- from it (sqldb.DB.Home). Programs recognize by this table that the others are distributed.
	IF to_regclass('home') IS NULL THEN
		CREATE TABLE home (key INTEGER NOT NULL PRIMARY KEY);
		INSERT INTO home (key)
			SELECT tenant_id FROM tenant UNION
			SELECT MIN(key) FROM generate_series(1, 400) AS key GROUP BY (hashint4(key)::BIGINT + 2147483648) >> 26;
		PERFORM create_distributed_table('home', 'key', colocate_with => 'none');
	END IF;
	-- The groups that entries were appended to, and up to which position (package journal).
	CREATE TABLE IF NOT EXISTS journal_news (grp INTEGER NOT NULL, pos BIGINT NOT NULL)
		WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
	FOREACH name IN ARRAY by_group LOOP
		CONTINUE WHEN EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = name::regclass);
		PERFORM create_distributed_table(name, 'grp', colocate_with => 'home');
		fresh := fresh || name;
	END LOOP;
	FOREACH name IN ARRAY by_tenant LOOP
		CONTINUE WHEN EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = name::regclass);
		PERFORM create_distributed_table(name, 'tenant_id', colocate_with => 'home');
		fresh := fresh || name;
	END LOOP;
	-- Rows that the coordinator had before are hidden, and must be deleted.
	FOREACH name IN ARRAY fresh LOOP
		PERFORM truncate_local_data_after_distributing_table(name::regclass);
	END LOOP;
	-- Sessions of the workers use the settings of sqldb.sessionPlans.
	FOREACH name IN ARRAY ARRAY['plan_cache_mode = force_generic_plan', 'enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off', 'jit = off', 'random_page_cost = 1.1'] LOOP
		FOR node, failed IN
			SELECT nodename || ':' || nodeport, result FROM run_command_on_workers(format(
				'DO $set$ BEGIN PERFORM set_config(''citus.enable_ddl_propagation'', ''off'', TRUE); ALTER DATABASE %I SET %s; END $set$',
				current_database(), name)) WHERE NOT success
		LOOP
			RAISE EXCEPTION '%: %', node, failed;
		END LOOP;
	END LOOP;
END $$;
