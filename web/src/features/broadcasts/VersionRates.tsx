import type { IntervalRate, SessionEngagement } from "../../api/schema";
import { List } from "../../ui/List";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber, percent } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import css from "./Report.module.css";

const words = catalogue("broadcasts.versionRates", {
	title: "Rates of the versions",
	name: "Version",
	recipients: "Recipients",
	opened: "Open rate",
	clicked: "Click rate",
	range: "{low} to {high}",
	ahead: {
		opened: "{name} is ahead: {rate} of its recipients opened it, and {next} of those of {second}.",
		clicked: "{name} is ahead: {rate} of its recipients clicked, and {next} of those of {second}.",
	},
	even: {
		opened: "No difference yet in opens. The ranges overlap, so that chance may explain the difference.",
		clicked: "No difference yet in clicks. The ranges overlap, so that chance may explain the difference.",
	},
	evenBoth: "No difference yet. The ranges overlap in opens and in clicks, so that chance may explain the difference.",
	early: "Nothing can be compared yet: fewer than two versions have recipients.",
	ranges:
		"The true rate lies in the range below each rate in 95 of 100 such comparisons. More recipients make it narrower.",
});

type Metric = "opened" | "clicked";

/** Interval shows a rate with its range, and both on a scale that rows share. */
export function Interval({ value, scale, empty }: { value: IntervalRate; scale: number; empty: boolean }) {
	if (empty) return percent(null);
	const at = (rate: number) => `${scale > 0 ? (100 * rate) / scale : 0}%`;
	return (
		<span className={css.interval}>
			{percent(value.rate)}
			<small>{words.range({ low: percent(value.low), high: percent(value.high) })}</small>
			<span className={css.scale} aria-hidden>
				<span style={{ insetInlineStart: at(value.low), inlineSize: at(value.high - value.low) }} />
				<i style={{ insetInlineStart: at(value.rate) }} />
			</span>
		</span>
	);
}

/** scaleOf returns the end of the scale that all versions fit on. */
export const scaleOf = (values: (IntervalRate | undefined)[]) =>
	Math.max(0, ...values.map((value) => value?.high ?? 0));

/** VersionRates compares versions: their rates with the ranges in which they lie, and whether one is ahead. */
export function VersionRates({ engagement }: { engagement: SessionEngagement }) {
	const versions = engagement.by_variant;
	const sent = versions.filter((version) => version.recipients > 0);
	const sentence = (metric: Metric) => {
		const first = versions.find((version) => version.variant_id === engagement.ahead?.[metric]);
		if (!first) return words.even[metric];
		const others = versions.filter((version) => version !== first);
		const second = others.reduce((best, version) =>
			version.rates[metric].rate > best.rates[metric].rate ? version : best,
		);
		return words.ahead[metric]({
			name: first.name,
			rate: percent(first.rates[metric].rate),
			next: percent(second.rates[metric].rate),
			second: second.name,
		});
	};
	const nobody = !engagement.ahead?.opened && !engagement.ahead?.clicked;
	const column = (metric: Metric) => {
		const scale = scaleOf(sent.map((version) => version.rates[metric]));
		return {
			id: metric,
			name: words[metric],
			description: term(metric).definition,
			end: true,
			cell: (version: (typeof versions)[number]) => (
				<Interval value={version.rates[metric]} scale={scale} empty={version.recipients === 0} />
			),
		};
	};
	return (
		<>
			{nobody ? (
				<p>{sent.length < 2 ? words.early : words.evenBoth}</p>
			) : (
				<>
					<p>{sentence("opened")}</p>
					<p>{sentence("clicked")}</p>
				</>
			)}
			<List
				label={words.title}
				rows={versions}
				rowKey={(version) => version.variant_id}
				columns={[
					{ id: "name", name: words.name, cell: (version) => version.name },
					{
						id: "recipients",
						name: words.recipients,
						description: term("recipients").definition,
						end: true,
						cell: (version) => exactNumber(version.recipients),
					},
					column("opened"),
					column("clicked"),
				]}
			/>
			<p className={css.muted}>{words.ranges}</p>
		</>
	);
}
