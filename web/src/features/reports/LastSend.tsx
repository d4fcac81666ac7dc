import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { percent } from "../../base/words/formats";
import css from "./Reports.module.css";
import { lastSendQuery } from "../broadcasts/queries";
import { to } from "../../base/paths";

const words = catalogue("reports.lastSend", {
	delivered: "{count, number} of {all, number} delivered",
	opened: "open rate {rate}",
	clicked: "click rate {rate}",
});

/** LastSend reads the last broadcast that was sent, and shows what its function makes of it; null if there is none. */
export function LastSend({ children }: { children: (last: ReactNode) => ReactNode }) {
	const query = useQuery(lastSendQuery());
	if (query.isPending) return <Skeleton rows={6} />;
	if (query.isError) return <Failure error={query.error} retry={() => void query.refetch()} />;
	if (!query.data) return children(null);
	const { last, metrics } = query.data;
	const rate = (count: number) => percent(metrics?.total_recipients ? count / metrics.total_recipients : null);
	return children(
		<div className={css.last}>
			<p>
				<Link href={to.broadcast(last.id)}>{last.name}</Link> <Time at={last.dispatch_started_at} />
			</p>
			{metrics && (
				<p className={css.muted}>
					{[
						words.delivered({ count: metrics.delivered, all: metrics.total_recipients }),
						words.opened({ rate: rate(metrics.opened) }),
						words.clicked({ rate: rate(metrics.clicked) }),
					].join(" · ")}
				</p>
			)}
		</div>,
	);
}
