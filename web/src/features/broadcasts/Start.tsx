import { DateTime } from "../../ui/DateTime";
import { catalogue } from "../../base/words/catalogue";
import { useBegins } from "./useBegins";

const words = catalogue("broadcasts.start", {
	start: "Start",
	empty: "Empty: a minute after you press Send.",
	over: "This time is over. Choose a later one, or empty the field to begin when you press Send.",
});

/** Start chooses when something begins. */
export function Start({
	value,
	onChange,
	error,
}: {
	value: string | null;
	onChange: (at: string | null) => void;
	error?: string;
}) {
	const over = useBegins(value) === "over";
	return (
		<DateTime
			label={words.start}
			optional
			path="scheduled_at"
			value={value}
			onChange={onChange}
			ifEmpty={words.empty}
			error={error ?? (over ? words.over : undefined)}
		/>
	);
}
