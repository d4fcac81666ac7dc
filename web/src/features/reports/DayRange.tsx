import type { ReactNode } from "react";
import { useAccount } from "../../base/shell";
import { useParams } from "../../base/params";
import { Select, TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import { today } from "../../base/words/zone";
import { daysOf, defaultDays, maxDays, presets, rangeOf } from "./range";
import css from "./Reports.module.css";

const words = catalogue("reports.dayRange", {
	range: "Days",
	last: "{count, plural, one {Today} other {The last # days}}",
	own: "Custom range",
	from: "From",
	to: "To",
	backwards: "The first day is after the last day.",
	tooMany: "At most {most} days.",
});

/** useDayRange reads the range of days that the address names. It is ready once the API can be asked for it. */
export function useDayRange() {
	const account = useAccount();
	const [params, set] = useParams();
	const zone = account.data?.timezone;
	const range = rangeOf(params, zone ?? "UTC");
	const days = daysOf(range.from, range.to);
	const problem = days < 1 ? words.backwards : days > maxDays ? words.tooMany({ most: maxDays }) : undefined;
	return {
		range,
		problem,
		zone: zone ?? "UTC",
		account,
		set,
		ready: (zone !== undefined || range.days === null) && problem === undefined,
	};
}

/** DayRange is the row that chooses the days of a report; what else narrows it stands beside. */
export function DayRange({
	days: { range, problem, zone, set },
	children,
}: {
	days: ReturnType<typeof useDayRange>;
	children?: ReactNode;
}) {
	const choose = (value: string) =>
		value === "own"
			? set({ days: null, from: range.from, to: range.to })
			: set({ from: null, to: null, days: value === String(defaultDays) ? null : value });
	const end = today(zone);
	return (
		<div className={css.choose}>
			<Select
				label={words.range}
				value={range.days === null ? "own" : String(range.days)}
				onChange={choose}
				choices={[
					...presets.map((preset) => ({ value: String(preset), label: words.last({ count: preset }) })),
					{ value: "own", label: words.own },
				]}
			/>
			{range.days === null && (
				<>
					<TextField
						label={words.from}
						type="date"
						max={end}
						value={range.from}
						error={problem}
						onChange={(from) => from && set({ from })}
					/>
					<TextField label={words.to} type="date" max={end} value={range.to} onChange={(to) => to && set({ to })} />
				</>
			)}
			{children}
		</div>
	);
}
