import { DateTime } from "../ui/DateTime";
import { catalogue } from "../words/catalogue";

const words = catalogue({
	start: "Start",
	empty: "Empty: a minute after you press Send.",
	over: "This time is over: it begins a minute after you press Send.",
});

/** Start chooses when something begins. */
export function Start({ value, onChange, error }: { value: string | null; onChange: (at: string | null) => void; error?: string }) {
	const over = value !== null && new Date(value).getTime() < Date.now();
	return <DateTime label={words.start} optional path="scheduled_at" value={value} onChange={onChange} help={over ? words.over : undefined} ifEmpty={words.empty} error={error} />;
}
