import { useState } from "react";
import { catalogue } from "../base/words/catalogue";
import { dateTime, timeZone } from "../base/words/formats";
import { ownZone, timesOf, wallTime } from "../base/words/zone";
import { Radios, TextField } from "./Field";

const words = catalogue("shell.dateTime", {
	zone: "Time in {zone}, the time zone of this workspace.",
	own: "Time in {account}, the time zone of this workspace. In yours ({zone}) it is {own}.",
	gap: "Clocks go forward at this time, so it does not exist. Choose another time.",
	twice: "Clocks go back, so this time occurs twice",
	first: "First occurrence",
	second: "Second occurrence, an hour later",
});

type Props = {
	label: string;
	optional?: boolean;
	path?: string;
	value: string | null;
	onChange: (time: string | null) => void;
	/** What is said besides the zone: in its place, or of an empty field after it. */
	help?: string;
	ifEmpty?: string;
	error?: string;
	readOnly?: boolean;
};

/**
 * DateTime chooses a moment in the account's zone, which it names, with the time in the zone of the person below it. A
 * time that a change of clocks leaves out is refused; of one that comes twice it asks which.
 */
export function DateTime({ label, optional, path, value, onChange, help, ifEmpty, error, readOnly }: Props) {
	const zone = timeZone();
	const [text, setText] = useState<string | null>(null);
	const local = text ?? (value ? wallTime(new Date(value), zone) : "");
	const times = local ? timesOf(local, zone) : [];
	const gap = local !== "" && times.length === 0;
	const zoneText =
		value && ownZone() !== zone
			? words.own({ zone: ownZone(), account: zone, own: dateTime(value, ownZone()) })
			: words.zone({ zone });
	return (
		<>
			<TextField
				label={label}
				optional={optional}
				type="datetime-local"
				path={path}
				readOnly={readOnly}
				help={help ?? (value || !ifEmpty ? zoneText : `${zoneText} ${ifEmpty}`)}
				error={gap ? words.gap : error}
				value={local}
				onChange={(value) => {
					const found = value ? timesOf(value, zone) : [];
					setText(value && found.length === 0 ? value : null);
					if (!value) onChange(null);
					else if (found[0]) onChange(found[0].toISOString());
				}}
			/>
			{times.length > 1 && !readOnly && (
				<Radios
					label={words.twice}
					value={value && new Date(value).getTime() === times[1]?.getTime() ? "second" : "first"}
					onChange={(occurrence) => onChange((occurrence === "second" ? times[1] : times[0])?.toISOString() ?? null)}
					choices={[
						{ value: "first", label: words.first },
						{ value: "second", label: words.second },
					]}
				/>
			)}
		</>
	);
}
