import { Link } from "wouter";
import type { LimitedBy } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { useSending } from "./From";
import css from "./Report.module.css";

const words = catalogue("broadcasts.limit", {
	limited: "Limited by",
	none: "Limited by: only the speed of the receiving servers.",
	waiting: "Nothing is due until the next batch.",
	config: "sending server",
	provider: "provider {name}",
	rate: "on average at most {rate, number} a minute",
	until: "until {at, time}",
});

/** Limit says what delays mail that is due. */
export function Limit({ limit: l, phase }: { limit: LimitedBy | null; phase: string }) {
	const { lanes } = useSending();
	if (!l) return <p>{phase === "waiting" ? words.waiting : words.none}</p>;
	const config = lanes.find((x) => x.key === l.mta_config_key);
	return (
		<p>
			<b>{words.limited}:</b> {l.message}
			<span className={css.muted}>
				{" "}
				{l.mta_config_key && (
					<>
						{words.config} {config ? <Link href={`/sending/mta/${config.id}`}>{config.name}</Link> : l.mta_config_key}
						{" · "}
					</>
				)}
				{[
					l.provider && words.provider({ name: l.provider }),
					l.per_minute !== null && words.rate({ rate: Math.round(l.per_minute * 10) / 10 }),
					words.until({ at: l.until }),
				]
					.filter(Boolean)
					.join(" · ")}
			</span>
		</p>
	);
}
