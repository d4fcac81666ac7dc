import { useEffect, useState } from "react";
import { ApiError } from "../../api/client";
import { catalogue } from "../../base/words/catalogue";

const words = catalogue("signin.wait", {
	wait: "{count, plural, one {Too many attempts. Try again in # second.} other {Too many attempts. Try again in # seconds.}}",
	minutes:
		"{count, plural, one {Too many attempts. Try again in # minute.} other {Too many attempts. Try again in # minutes.}}",
});

/** useWait counts down the time after which the server accepts another attempt. */
export function useWait() {
	const [retryAt, setRetryAt] = useState(0);
	const [now, setNow] = useState(0);
	const seconds = Math.max(0, Math.ceil((retryAt - now) / 1000));
	const running = seconds > 0;
	useEffect(() => {
		if (!running) return;
		const timer = setInterval(() => setNow(Date.now()), 1000);
		return () => clearInterval(timer);
	}, [running]);
	return {
		seconds,
		/** catch begins the countdown if an answer demands it. */
		catch: (error: unknown) => {
			if (!(error instanceof ApiError) || error.status !== 429) return false;
			setNow(Date.now());
			setRetryAt(Date.now() + (error.retryAfter ?? 60) * 1000);
			return true;
		},
	};
}

/** Wait shows the countdown. */
export function Wait({ wait: { seconds } }: { wait: { seconds: number } }) {
	if (seconds === 0) return null;
	return (
		<p role="status">
			{seconds > 90 ? words.minutes({ count: Math.ceil(seconds / 60) }) : words.wait({ count: seconds })}
		</p>
	);
}
