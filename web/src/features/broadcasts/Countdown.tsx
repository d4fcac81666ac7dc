import { useEffect, useState } from "react";
import { catalogue, plural } from "../../base/words/catalogue";

const words = catalogue({
	in: (parts: string) => `Starts in ${parts}.`,
	starting: "Starting now.",
	days: (n: number) => plural(n, { one: "# day", other: "# days" }),
	hours: (n: number) => plural(n, { one: "# hour", other: "# hours" }),
	minutes: (n: number) => plural(n, { one: "# minute", other: "# minutes" }),
	seconds: (n: number) => plural(n, { one: "# second", other: "# seconds" }),
});

/** Countdown says how long it is until a time. */
export function Countdown({ to }: { to: string }) {
	const [now, setNow] = useState(Date.now);
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), 1000);
		return () => clearInterval(timer);
	}, []);
	const left = Math.max(0, Math.round((new Date(to).getTime() - now) / 1000));
	if (left === 0) return <>{words.starting}</>;
	const [days, hours, minutes, seconds] = [
		Math.floor(left / 86_400),
		Math.floor((left % 86_400) / 3600),
		Math.floor((left % 3600) / 60),
		left % 60,
	];
	const parts = [
		days > 0 && words.days(days),
		hours > 0 && words.hours(hours),
		days === 0 && minutes > 0 && words.minutes(minutes),
		days === 0 && hours === 0 && words.seconds(seconds),
	].filter(Boolean);
	return <>{words.in(parts.join(" "))}</>;
}
