import { useState } from "react";
import { Radios, TextField } from "../ui/Field";
import { catalogue, timeZone } from "../words/catalogue";
import { ownZone, timesOf, wallTime } from "../words/zone";

const words = catalogue({
	start: "Start",
	zone: (zone: string) => `Time in ${zone}, the account's zone. Empty: a minute after you press Send.`,
	own: (zone: string, account: string, own: string) => `Time in ${account}, the account's zone; in yours (${zone}) it is ${own}.`,
	over: "This time is over: it begins a minute after you press Send.",
	gap: "Clocks go forward over this time, so it does not exist. Choose another.",
	twice: "Clocks go back, so this time comes twice",
	first: "The first time",
	second: "The second time, an hour later",
});

const shown = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

/** Start chooses when something begins, in the account's zone. */
export function Start({ value, onChange, error }: { value: string | null; onChange: (at: string | null) => void; error?: string }) {
	const zone = timeZone();
	const [typed, setTyped] = useState<string | null>(null);
	const wall = typed ?? (value ? wallTime(new Date(value), zone) : "");
	const times = wall ? timesOf(wall, zone) : [];
	const gap = wall !== "" && times.length === 0;
	const over = value !== null && new Date(value).getTime() < Date.now();
	const own = over ? words.over : value && ownZone() !== zone ? words.own(ownZone(), zone, shown.format(new Date(value))) : words.zone(zone);
	return (
		<>
			<TextField
				label={words.start}
				optional
				type="datetime-local"
				path="scheduled_at"
				help={own}
				error={gap ? words.gap : error}
				value={wall}
				onChange={(v) => {
					const found = v ? timesOf(v, zone) : [];
					setTyped(v && found.length === 0 ? v : null);
					if (!v) onChange(null);
					else if (found[0]) onChange(found[0].toISOString());
				}}
			/>
			{times.length > 1 && (
				<Radios
					label={words.twice}
					value={value && new Date(value).getTime() === times[1]?.getTime() ? "second" : "first"}
					onChange={(which) => onChange((which === "second" ? times[1] : times[0])?.toISOString() ?? null)}
					choices={[
						{ value: "first", label: words.first },
						{ value: "second", label: words.second },
					]}
				/>
			)}
		</>
	);
}
