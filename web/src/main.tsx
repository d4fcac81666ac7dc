import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./tokens.css";
import "./base.css";
import { App } from "./app/App";
import { applyTheme, theme } from "./base/theme";
import { combos } from "./ui/Combo";
import { dialogs } from "./ui/Dialog";
import { menus } from "./ui/Menu";

applyTheme(theme(), false);

const root = document.getElementById("app");
if (root) {
	createRoot(root).render(
		<StrictMode>
			<App />
		</StrictMode>,
	);
}

// Parts that are needed soon, but not for the first page: dialogs, menus and combo boxes.
const soon = window.requestIdleCallback ?? ((run: () => void) => setTimeout(run, 1000));
soon(() => {
	dialogs.early();
	menus.early();
	combos.early();
});
