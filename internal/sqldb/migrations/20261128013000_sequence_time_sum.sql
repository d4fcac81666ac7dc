-- +goose Up

-- The enrollments of a sequence by time, in intervals of 15 minutes, as those of outbox_time_sum: how many
-- contacts entered in one, and how many enrollments ended in it.
CREATE TABLE sequence_time_sum (
	tenant_id   INTEGER NOT NULL,
	sequence_id UUID    NOT NULL,
	at          BIGINT  NOT NULL, -- beginning of the interval
	entered     BIGINT  NOT NULL DEFAULT 0,
	completed   BIGINT  NOT NULL DEFAULT 0,
	exited      BIGINT  NOT NULL DEFAULT 0,
	converted   BIGINT  NOT NULL DEFAULT 0,
	failed      BIGINT  NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, sequence_id, at)
);

INSERT INTO sequence_time_sum (tenant_id, sequence_id, at, entered, completed, exited, converted, failed)
SELECT tenant_id, sequence_id, at, SUM(entered), SUM(completed), SUM(exited), SUM(converted), SUM(failed)
FROM (
	SELECT tenant_id, sequence_id, entered_at - entered_at % 900000000 AS at, 1 AS entered, 0 AS completed, 0 AS exited, 0 AS converted, 0 AS failed
	FROM enrollment
	UNION ALL
	SELECT tenant_id, sequence_id, exited_at - exited_at % 900000000, 0, CASE WHEN status = 'completed' THEN 1 ELSE 0 END,
		CASE WHEN status = 'exited' THEN 1 ELSE 0 END, CASE WHEN status = 'exited' AND exit_reason = 'goal_reached' THEN 1 ELSE 0 END,
		CASE WHEN status = 'failed' THEN 1 ELSE 0 END
	FROM enrollment WHERE exited_at IS NOT NULL
) AS moves GROUP BY tenant_id, sequence_id, at;
