import { type ComponentType, lazy, useEffect, useSyncExternalStore } from "react";
import { chooseLanguage, type Language, loadTexts } from "./words/language";
import { outside } from "./paths";

/** How long after each failure the server is asked again, in milliseconds. */
const retryDelays = [500, 1000, 3000, 9000];

/** Whether the server answers at all. */
const serverAnswers = () =>
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

/** retryImport loads a module with its texts. While the server does not answer it retries; an import of a file that the server no longer has fails. */
export async function retryImport<M>(load: () => Promise<M>): Promise<M> {
	for (let round = 0; ; round++) {
		try {
			return await withTexts(load);
		} catch {
			if (await serverAnswers()) return withTexts(load);
			await new Promise((resolve) => setTimeout(resolve, retryDelays[Math.min(round, retryDelays.length - 1)]));
		}
	}
}

/** switchLanguage shows a language that was chosen; null is that of the browser. */
export function switchLanguage(language: Language | null) {
	retryImport(() => chooseLanguage(language)).catch(() => location.reload()); // the texts are of another version
}

/** Module loads a module, and keeps it. */
export class Module<M> {
	private loaded: M | null = null;
	private failure: { error: unknown } | null = null;
	private readonly listeners = new Set<() => void>();

	constructor(private readonly importModule: () => Promise<M>) {}

	load = () =>
		withTexts(this.importModule).then((module) => {
			this.loaded = module;
			for (const listener of this.listeners) listener();
			return module;
		});

	/**
	 * useLoaded is the module, and null until it has come. A field that uses it is shown as soon as that, unlike what
	 * Suspense waits for, which React shows after 300 ms at the earliest.
	 */
	useLoaded = (): M | null => {
		const loaded = useSyncExternalStore(this.listen, this.getLoaded);
		const failure = useSyncExternalStore(this.listen, this.getFailure);
		useEffect(() => {
			if (this.loaded) return;
			retryImport(this.load).catch((error: unknown) => {
				this.failure = { error };
				for (const listener of this.listeners) listener();
			});
		}, []);
		if (failure) throw failure.error;
		return loaded;
	};

	private listen = (listener: () => void) => {
		this.listeners.add(listener);
		return () => void this.listeners.delete(listener);
	};

	private getLoaded = () => this.loaded;
	private getFailure = () => this.failure;

	/** Loads it before it is needed. If that fails, it is loaded when it is. */
	preload = () => void this.load().catch(() => undefined);

	/**
	 * component is lazyComponent for an export of the module. If the module is loaded it is shown at once: React waits
	 * even for a promise that is fulfilled, and then for 300 ms at least.
	 */
	// biome-ignore lint/suspicious/noExplicitAny: components of any properties, as lazy takes them.
	component = <C extends ComponentType<any>>(choose: (module: M) => C) =>
		lazy((): Promise<{ default: C }> => {
			const { loaded } = this;
			if (!loaded) return retryImport(this.load).then((module) => ({ default: choose(module) }));
			const now = { default: choose(loaded) };
			// biome-ignore lint/suspicious/noThenProperty: lazy calls then at once, and takes the value that it is given meanwhile.
			return { then: (done: (module: { default: C }) => void) => done(now) } as unknown as Promise<{ default: C }>;
		});
}

/**
 * lazyComponent is lazy for pages and parts of them. What is not loaded yet while the server is away comes when it is back,
 * and the rest of the page works on meanwhile.
 */
// biome-ignore lint/suspicious/noExplicitAny: components of any properties, as lazy takes them.
export const lazyComponent = <C extends ComponentType<any>>(load: () => Promise<{ default: C }>) =>
	lazy(() => retryImport(load));
