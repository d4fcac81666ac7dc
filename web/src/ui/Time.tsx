import { ago, exact } from "../base/words/formats";
import { NotSet } from "./Page";

/** Time shows when something was or will be: relative within a day, with the exact time on hover. */
export function Time({ at }: { at: string | null | undefined }) {
	if (!at) return <NotSet />;
	return (
		<time dateTime={at} title={exact(at)}>
			{ago(at)}
		</time>
	);
}

/** isOld reports whether a number that was counted at a time needs its age beside it. */
export const isOld = (at: string | null | undefined) => Boolean(at) && Date.now() - Date.parse(at as string) > 60_000;
