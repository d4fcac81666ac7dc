import { Link } from "wouter";
import type { LimitedBy } from "../../api/schema";
import { catalogue, clock } from "../../base/words/catalogue";
import { useSending } from "./From";
import css from "./Report.module.css";

const words = catalogue({
	limited: "Limited by",
	none: "Limited by: only the servers' own speed.",
	waiting: "Nothing is due until the next batch.",
	config: "MTA config",
	provider: (name: string) => `provider ${name}`,
	rate: (n: string) => `on average at most ${n} a minute`,
	until: (at: string) => `until ${clock(at)}`,
});

const rates = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

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
					l.provider && words.provider(l.provider),
					l.per_minute !== null && words.rate(rates.format(l.per_minute)),
					words.until(l.until),
				]
					.filter(Boolean)
					.join(" · ")}
			</span>
		</p>
	);
}
