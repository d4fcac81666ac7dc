// The tabs of a browser share its session: when one signs out, or somebody else signs in, the others follow.

type Listener = (user: string | null) => void;

const listeners = new Set<Listener>();
const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("packetboat-session");

if (channel) {
	channel.onmessage = ({ data }: MessageEvent<{ user: string | null }>) => {
		for (const listener of listeners) listener(data.user);
	};
}

/** tellTabs tells the other tabs who is signed in: the id of a user, or null. */
export const tellTabs = (user: string | null) => channel?.postMessage({ user });

/** onTabs calls a function when another tab says who is signed in, until the returned function is called. */
export function onTabs(listener: Listener) {
	listeners.add(listener);
	return () => {
		listeners.delete(listener);
	};
}
