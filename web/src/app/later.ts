import { type ComponentType, lazy } from "react";

/** How long after each failure the server is asked again, in milliseconds. */
const pauses = [500, 1000, 3000, 9000];

/** Whether the server answers at all. */
const answers = () =>
	fetch("/app/", { method: "HEAD", cache: "no-store" }).then(
		() => true,
		() => false,
	);

/** patiently loads a module. While the server is away it waits; what the server does not have any more fails. */
export async function patiently<M>(load: () => Promise<M>): Promise<M> {
	for (let n = 0; ; n++) {
		try {
			return await load();
		} catch {
			if (await answers()) return load();
			await new Promise((done) => setTimeout(done, pauses[Math.min(n, pauses.length - 1)]));
		}
	}
}

/**
 * later is lazy for pages and parts of them. What is not loaded yet while the server is away comes when it is back,
 * and the rest of the page works on meanwhile.
 */
// biome-ignore lint/suspicious/noExplicitAny: components of any properties, as lazy takes them.
export const later = <C extends ComponentType<any>>(load: () => Promise<{ default: C }>) => lazy(() => patiently(load));
