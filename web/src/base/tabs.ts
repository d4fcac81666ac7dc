// The tabs of a browser share its session: when one signs out, or somebody else signs in, the others follow.

type Listener = (user: string | null) => void;

const listeners = new Set<Listener>();
const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("packetboat-session");

if (channel) {
	channel.onmessage = ({ data }: MessageEvent<{ user: string | null }>) => {
		for (const listener of listeners) listener(data.user);
	};
}

/** notifyTabs sends the other tabs the id of the user who is signed in, or null. */
export const notifyTabs = (user: string | null) => channel?.postMessage({ user });

/** onTabMessage calls a function when another tab says who is signed in, until the returned function is called. */
export function onTabMessage(listener: Listener) {
	listeners.add(listener);
	return () => {
		listeners.delete(listener);
	};
}
