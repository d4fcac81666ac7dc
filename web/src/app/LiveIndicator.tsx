import { Radio } from "lucide-react";
import { useSyncExternalStore } from "react";
import { catalogue } from "../base/words/catalogue";
import { liveState, subscribeLive } from "../base/liveState";
import css from "./LiveIndicator.module.css";

const words = catalogue("shell.liveIndicator", {
	live: "Live",
	polling: "Updating",
	offline: "Offline",
	about: {
		live: "Changes appear automatically.",
		polling: "The page checks for changes from time to time.",
		offline: "The server cannot be reached. What you see may be out of date.",
	},
});

const states = ["live", "polling", "offline"] as const;

/** LiveIndicator says how the page learns of changes. */
export function LiveIndicator() {
	const state = useSyncExternalStore(subscribeLive, liveState);
	return (
		<span className={css.live} data-state={state} title={words.about[state]}>
			<Radio aria-hidden size={14} />
			<span className={css.words}>
				{states.map((s) => (
					<span key={s} data-shown={s === state || undefined}>
						{words[s]}
					</span>
				))}
			</span>
		</span>
	);
}
