import { type ComponentType, lazy, useEffect, useSyncExternalStore } from "react";
import { chooseLanguage, type Language, loadTexts } from "./words/language";
import { outside } from "./paths";

/** How long after each failure the server is asked again, in milliseconds. */
const pauses = [500, 1000, 3000, 9000];

/** Whether the server answers at all. */
const answers = () =>
	fetch(outside.workspaces, { method: "HEAD", cache: "no-store" }).then(
		() => true,
		() => false,
	);

/** withTexts loads a module, and then the texts of its catalogues in the language of the application. */
export async function withTexts<M>(load: () => Promise<M>): Promise<M> {
	const module = await load();
	await loadTexts();
	return module;
}

/** patiently loads a module with its texts. While the server is away it waits; what the server does not have any more fails. */
export async function patiently<M>(load: () => Promise<M>): Promise<M> {
	for (let round = 0; ; round++) {
		try {
			return await withTexts(load);
		} catch {
			if (await answers()) return withTexts(load);
			await new Promise((resolve) => setTimeout(resolve, pauses[Math.min(round, pauses.length - 1)]));
		}
	}
}

/** switchLanguage shows a language that was chosen; null is that of the browser. */
export function switchLanguage(language: Language | null) {
	patiently(() => chooseLanguage(language)).catch(() => location.reload()); // the texts are of another version
}

/** Module loads a module, and keeps it. */
export class Module<M> {
	private loaded: M | null = null;
	private failure: { error: unknown } | null = null;
	private readonly heard = new Set<() => void>();

	constructor(private readonly from: () => Promise<M>) {}

	load = () =>
		withTexts(this.from).then((module) => {
			this.loaded = module;
			for (const tell of this.heard) tell();
			return module;
		});

	/**
	 * useLoaded is the module, and null until it has come. A field that uses it is shown as soon as that, unlike what
	 * Suspense waits for, which React shows after 300 ms at the earliest.
	 */
	useLoaded = (): M | null => {
		const loaded = useSyncExternalStore(this.listen, this.here);
		const failure = useSyncExternalStore(this.listen, this.failed);
		useEffect(() => {
			if (this.loaded) return;
			patiently(this.load).catch((error: unknown) => {
				this.failure = { error };
				for (const tell of this.heard) tell();
			});
		}, []);
		if (failure) throw failure.error;
		return loaded;
	};

	private listen = (tell: () => void) => {
		this.heard.add(tell);
		return () => void this.heard.delete(tell);
	};

	private here = () => this.loaded;
	private failed = () => this.failure;

	/** Loads it before it is needed. If that fails, it is loaded when it is. */
	early = () => void this.load().catch(() => undefined);

	/**
	 * part is later for something that the module exports. If the module is there it is shown at once: React waits
	 * even for a promise that is fulfilled, and then for 300 ms at least.
	 */
	// biome-ignore lint/suspicious/noExplicitAny: components of any properties, as lazy takes them.
	part = <C extends ComponentType<any>>(choose: (module: M) => C) =>
		lazy((): Promise<{ default: C }> => {
			const { loaded } = this;
			if (!loaded) return patiently(this.load).then((module) => ({ default: choose(module) }));
			const now = { default: choose(loaded) };
			// biome-ignore lint/suspicious/noThenProperty: lazy calls then at once, and takes what it is told meanwhile.
			return { then: (done: (module: { default: C }) => void) => done(now) } as unknown as Promise<{ default: C }>;
		});
}

/**
 * later is lazy for pages and parts of them. What is not loaded yet while the server is away comes when it is back,
 * and the rest of the page works on meanwhile.
 */
// biome-ignore lint/suspicious/noExplicitAny: components of any properties, as lazy takes them.
export const later = <C extends ComponentType<any>>(load: () => Promise<{ default: C }>) => lazy(() => patiently(load));
