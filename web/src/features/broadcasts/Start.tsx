import { DateTime } from "../../ui/DateTime";
import { catalogue } from "../../base/words/catalogue";
import { useStartPhase } from "./useStartPhase";

const words = catalogue("broadcasts.start", {
	start: "Start",
	empty: "Empty: one minute after you press Send.",
	over: "This time is in the past. Choose a later one, or clear the field to start when you press Send.",
});

/** Start chooses when something begins. */
export function Start({
	value,
	onChange,
	error,
}: {
	value: string | null;
	onChange: (startsAt: string | null) => void;
	error?: string;
}) {
	const isPast = useStartPhase(value) === "over";
	return (
		<DateTime
			label={words.start}
			optional
			path="scheduled_at"
			value={value}
			onChange={onChange}
			ifEmpty={words.empty}
			error={error ?? (isPast ? words.over : undefined)}
		/>
	);
}
