// The language of the application: the one chosen on this device, or else the first of the browser's that there is.
// English texts are in the code that shows them, those of other languages in languages/, where a file has the texts
// of the catalogues whose id begins with its name.

export type Texts = { readonly [key: string]: string | Texts };
type Translations = { readonly [id: string]: Texts };

/** The languages by their codes, each with its own name, and as Intl knows them for numbers and for dates. */
export const languages = {
	en: { name: "English", numbers: "en", dates: "en-GB" },
	de: { name: "Deutsch", numbers: "de", dates: "de" },
};

export type Language = keyof typeof languages;

const key = "packetboat-language";
const known = (code: string | null): code is Language => code !== null && Object.hasOwn(languages, code);

let current: Language = "en";
let target: Language = "en"; // what current will be when its texts are loaded
const loaded = new Map<Language, Translations>();
const files = new Map<string, Promise<void>>(); // those of loaded
const names = new Set<string>(); // of the files of all catalogues that there are
const unread = new Set<string>(); // catalogues whose texts are not loaded
const listeners = new Set<() => void>();

/** language is the one of the texts on the screen. */
export const language = (): Language => current;

/** subscribeLanguage calls a function when the language changes; the answer ends that. */
export function subscribeLanguage(listener: () => void) {
	listeners.add(listener);
	return () => void listeners.delete(listener);
}

/** chosenLanguage returns the language chosen on this device, or null. */
export function chosenLanguage(): Language | null {
	try {
		const saved = localStorage.getItem(key);
		return known(saved) ? saved : null;
	} catch {
		return null;
	}
}

/** preferred returns the first of some languages, such as "de-AT", that the application has. */
export const preferred = (tags: readonly string[]): Language =>
	tags.map((tag) => tag.split("-", 1)[0]?.toLowerCase() ?? "").find(known) ?? "en";

/** register is called with the id of each catalogue that is made. */
export function register(id: string) {
	names.add(id.split(".", 1)[0] as string);
	if (typeof document !== "undefined") unread.add(id);
}

/**
 * translation returns the texts of a catalogue in the current language, none in English. It throws while the modules that
 * are loaded with the catalogue run: what they read then would be English in every language.
 */
export function translation(id: string): Texts | undefined {
	if (unread.has(id)) throw new Error(`the catalogue ${id} is read while modules are loaded: read it in a function`);
	return loaded.get(current)?.[id];
}

/** loadTexts loads the texts of all catalogues that were made until now. */
export async function loadTexts() {
	const versions = [...unread];
	if (target !== "en") await Promise.all([...names].map((name) => loadFile(target, name)));
	for (const id of versions) unread.delete(id);
}

/** loadFile loads a file of texts, once. */
function loadFile(language: Language, name: string): Promise<void> {
	const file = `${language}/${name}`;
	let loading = files.get(file);
	if (!loading) {
		loading = import(`../../languages/${language}/${name}.json`).then(
			(module: { default: Translations }) => void loaded.set(language, { ...loaded.get(language), ...module.default }),
			(error) => {
				files.delete(file);
				throw error;
			},
		);
		files.set(file, loading);
	}
	return loading;
}

/** startLanguage shows the language of this device. */
export const startLanguage = () => showLanguage(chosenLanguage() ?? preferred(navigator.languages));

/** chooseLanguage shows a language, and stores it; null is that of the browser. */
export async function chooseLanguage(language: Language | null) {
	try {
		if (language) localStorage.setItem(key, language);
		else localStorage.removeItem(key);
	} catch {
		// Storage is off: the language lasts until the page is closed.
	}
	await showLanguage(language ?? preferred(navigator.languages));
}

/** showLanguage shows a language, as soon as its texts are loaded. */
export async function showLanguage(language: Language) {
	target = language;
	await loadTexts();
	if (target !== language) return; // another was chosen meanwhile
	current = language;
	document.documentElement.lang = language;
	for (const listener of listeners) listener();
}
