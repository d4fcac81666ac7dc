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
function limitsOf(limits: Limited): string {
	return (Object.keys(words.bounds) as (keyof typeof words.bounds)[])
		.flatMap((bound) => {
			const n = limits[bound];
			return n ? [words.bounds[bound]({ count: n })] : [];
		})
		.join(", ");
}

/** MtaLimits shows the limits of an MTA config, and how many mails an hour they let through. */
export function MtaLimits({ lane }: { lane: MtaConfigRow }) {
	const rows = [
		{ name: words.all, limits: limitsOf(lane.caps), hour: lane.caps.at_most_per_hour },
		...lane.domain_throttles.map((throttle) => ({
			name: throttle.pattern,
			limits: limitsOf(throttle),
			hour: throttle.at_most_per_hour,
		})),
	];
	return (
		<Card title={words.title}>
			{rows.every((row) => row.limits === "") ? (
				<p>{words.none}</p>
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(row) => row.name}
					columns={[
						{ id: "for", name: words.for, cell: (row) => row.name },
						{ id: "limits", name: words.limits, cell: (row) => row.limits },
						{
							id: "hour",
							name: words.hour,
							end: true,
							cell: (row) => (row.hour === null ? <NotSet /> : words.anHour({ count: row.hour })),
						},
					]}
				/>
			)}
		</Card>
	);
}
