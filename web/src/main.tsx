import { StrictMode, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import { I18nProvider } from "react-aria-components/I18nProvider";
import "./tokens.css";
import "./base.css";
import { onRefusal } from "./api/client";
import { App } from "./app/App";
import { retryImport } from "./base/lazy";
import { reserveScrollbar } from "./base/scrollbar";
import { applyTheme, theme } from "./base/theme";
import { loadProblems } from "./base/words/errors";
import { language, languages, showLanguage, startLanguage, subscribeLanguage } from "./base/words/language";
import { combos } from "./ui/Combo";
import { dialogs } from "./ui/Dialog";
import { menus } from "./ui/Menu";

applyTheme(theme(), false);
onRefusal(loadProblems);
reserveScrollbar();

/** Translated is the application, a new one when another language is chosen. */
function Translated() {
	const shown = useSyncExternalStore(subscribeLanguage, language);
	return (
		<I18nProvider locale={languages[shown].dates} key={shown}>
			<App />
		</I18nProvider>
	);
}

const root = document.getElementById("app");
if (root) {
	const translated = retryImport(startLanguage).catch(() => showLanguage("en")); // its texts are of another version
	void translated.then(() =>
		createRoot(root).render(
			<StrictMode>
				<Translated />
			</StrictMode>,
		),
	);
}

// Parts that are needed soon, but not for the first page: dialogs, menus and combo boxes.
const whenIdle = window.requestIdleCallback ?? ((run: () => void) => setTimeout(run, 1000));
whenIdle(() => {
	dialogs.preload();
	menus.preload();
	combos.preload();
	void loadProblems().catch(() => {}); // a request that is refused tries again
});
