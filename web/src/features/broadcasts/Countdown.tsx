import { useEffect, useState } from "react";
import { catalogue } from "../../base/words/catalogue";

const words = catalogue("broadcasts.countdown", {
	in: "Starts in {parts}.",
	starting: "Starting now.",
	days: "{count, plural, one {# day} other {# days}}",
	hours: "{count, plural, one {# hour} other {# hours}}",
	minutes: "{count, plural, one {# minute} other {# minutes}}",
	seconds: "{count, plural, one {# second} other {# seconds}}",
});

/** Countdown says how long it is until a time. */
export function Countdown({ to }: { to: string }) {
	const [now, setNow] = useState(Date.now);
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), 1000);
		return () => clearInterval(timer);
	}, []);
	const secondsLeft = Math.max(0, Math.round((new Date(to).getTime() - now) / 1000));
	if (secondsLeft === 0) return <>{words.starting}</>;
	const [days, hours, minutes, seconds] = [
		Math.floor(secondsLeft / 86_400),
		Math.floor((secondsLeft % 86_400) / 3600),
		Math.floor((secondsLeft % 3600) / 60),
		secondsLeft % 60,
	];
	const parts = [
		days > 0 && words.days({ count: days }),
		hours > 0 && words.hours({ count: hours }),
		days === 0 && minutes > 0 && words.minutes({ count: minutes }),
		days === 0 && hours === 0 && words.seconds({ count: seconds }),
	].filter(Boolean);
	return <>{words.in({ parts: parts.join(" ") })}</>;
}
