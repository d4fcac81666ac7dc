import { Link } from "wouter";
import type { LimitedBy } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { useSending } from "./From";
import css from "./Report.module.css";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.limit", {
	limited: "Limited",
	kinds: {
		mta_config_rate: "The sending server may not send faster.",
		mta_config_day: "The sending server has reached its limit for today.",
		mta_config_down: "The sending server cannot be reached.",
		provider_rate: "The sending server may not send faster to this provider.",
		provider_connections: "All connections to this provider are in use.",
		broadcast_rate: "The broadcast has reached its own limit an hour.",
		dns: "The domain of the recipients could not be looked up in the DNS.",
		hold: "The recipients' servers asked to wait, or cannot be reached.",
	},
	none: "Limited: only by the speed of the receiving servers.",
	waiting: "Nothing is due until the next batch.",
	config: "sending server",
	provider: "provider {name}",
	rate: "on average at most {rate, number} a minute",
	until: "until {at, time}",
});

/** Limit says what delays mail that is due. */
export function Limit({ limit, phase }: { limit: LimitedBy | null; phase: string }) {
	const { lanes } = useSending();
	if (!limit) return <p>{phase === "waiting" ? words.waiting : words.none}</p>;
	const config = lanes.find((lane) => lane.key === limit.mta_config_key);
	return (
		<p>
			<b>{words.limited}:</b> {words.kinds[limit.kind]}
			<span className={css.muted}>
				{" "}
				{limit.mta_config_key && (
					<>
						{words.config} {config ? <Link href={to.mta(config.id)}>{config.name}</Link> : limit.mta_config_key}
						{" · "}
					</>
				)}
				{[
					limit.provider && words.provider({ name: limit.provider }),
					limit.per_minute !== null && words.rate({ rate: Math.round(limit.per_minute * 10) / 10 }),
					words.until({ at: limit.until }),
				]
					.filter(Boolean)
					.join(" · ")}
			</span>
		</p>
	);
}
