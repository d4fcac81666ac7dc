import type { MtaConfigRow } from "../../api/schema";
import { List } from "../../ui/List";
import { Card, NotSet } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";

const words = catalogue("sending.mtaLimits", {
	title: "Limits",
	for: "Applies to",
	all: "All email",
	none: "No limit is set. Mail leaves as fast as the receiving servers accept it.",
	limits: "Limits",
	hour: "Effective limit",
	anHour: "up to {count, number} an hour",
	bounds: {
		max_per_second: "{count, number} a second",
		max_per_minute: "{count, number} a minute",
		max_per_hour: "{count, number} an hour",
		max_per_day: "{count, number} a day",
		max_connections: "{count, number} connections",
		max_messages_per_connection: "{count, number} emails per connection",
	},
});

type Limited = { [bound in keyof typeof words.bounds]?: number | null };

/** limitsOf writes limits as a list. */
function limitsOf(of: Limited): string {
	return (Object.keys(words.bounds) as (keyof typeof words.bounds)[])
		.flatMap((b) => {
			const n = of[b];
			return n ? [words.bounds[b]({ count: n })] : [];
		})
		.join(", ");
}

/** MtaLimits shows the limits of an MTA config, and how many mails an hour they let through. */
export function MtaLimits({ lane: l }: { lane: MtaConfigRow }) {
	const rows = [
		{ name: words.all, limits: limitsOf(l.caps), hour: l.caps.at_most_per_hour },
		...l.domain_throttles.map((t) => ({ name: t.pattern, limits: limitsOf(t), hour: t.at_most_per_hour })),
	];
	return (
		<Card title={words.title}>
			{rows.every((r) => r.limits === "") ? (
				<p>{words.none}</p>
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(r) => r.name}
					columns={[
						{ id: "for", name: words.for, cell: (r) => r.name },
						{ id: "limits", name: words.limits, cell: (r) => r.limits },
						{
							id: "hour",
							name: words.hour,
							end: true,
							cell: (r) => (r.hour === null ? <NotSet /> : words.anHour({ count: r.hour })),
						},
					]}
				/>
			)}
		</Card>
	);
}
