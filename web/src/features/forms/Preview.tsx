import { useMemo, useState } from "react";
import { Select } from "../../ui/Field";
import { SandboxedFrame } from "../../ui/SandboxedFrame";
import { catalogue } from "../../base/words/catalogue";
import css from "./Form.module.css";

const words = catalogue("forms.preview", {
	title: "Preview",
	width: "Width",
	phone: "Phone",
	wide: "Wide",
	theme: "Colours",
	light: "Light",
	dark: "Dark",
	state: "State",
	empty: "Initial",
	error: "Error",
	sent: "Sent",
	confirm: "Confirmation needed",
	about: "This is the embedded markup with plain sample styles. On your website it takes the styles of the page.",
	redirect: "After submitting, the browser goes to {url}.",
	single: "Without double opt-in, nobody is asked to confirm.",
});

// What the script and the pages of the form say.
const formWords = catalogue("forms.preview.said", {
	marked: "Please correct the marked fields.",
	missing: "Please fill in this field.",
	check: "Please check your email and confirm your address.",
});

type State = "empty" | "error" | "sent" | "confirm";

const styles = `
:root { font: 16px/1.5 system-ui, sans-serif; color: light-dark(#1c2024, #eceef1); background: light-dark(#fff, #16191d); }
body { margin: 0; padding: 20px; }
.packetboat-form { display: grid; gap: 14px; max-inline-size: 420px; }
.packetboat-form p { margin: 0; }
.packetboat-field { display: grid; gap: 4px; border: 0; padding: 0; margin: 0; }
.packetboat-form legend { padding: 0; }
.packetboat-form input:not([type=checkbox], [type=radio]), .packetboat-form select, .packetboat-form textarea {
	box-sizing: border-box; inline-size: 100%; padding: 8px 10px; font: inherit; color: inherit;
	background: light-dark(#fff, #20242a); border: 1px solid light-dark(#80868e, #7a828c); border-radius: 6px;
}
.packetboat-form [aria-invalid=true] { border-color: light-dark(#b3261e, #ff8a80); }
.packetboat-form small { color: light-dark(#555c64, #aab2bb); }
.packetboat-error, [data-packetboat-state=error] .packetboat-status { color: light-dark(#b3261e, #ff8a80); }
.packetboat-status:empty { display: none; }
.packetboat-captcha { block-size: 65px; border: 1px dashed light-dark(#80868e, #7a828c); border-radius: 6px; }
.packetboat-form button { padding: 10px 18px; font: inherit; font-weight: 600; color: light-dark(#fff, #0b1220); background: light-dark(#0a62c4, #76b3ff); border: 0; border-radius: 6px; }
`;

/** markup puts a form into a state, as its script does, and gives it sample styles. */
function markup(html: string, state: State, message: string): string {
	const page = new DOMParser().parseFromString(html, "text/html");
	const form = page.querySelector("form");
	if (!form) return "";
	// The page that shows it removes forms, so that nothing can be sent: a box takes its place.
	const box = page.createElement("div");
	box.className = form.className;
	box.append(...form.childNodes);
	const status = box.querySelector(".packetboat-status");
	if (state === "error") {
		box.dataset.packetboatState = "error";
		const input = box.querySelector("[required]");
		if (input) {
			input.setAttribute("aria-invalid", "true");
			const element = page.createElement("span");
			element.className = "packetboat-error";
			element.textContent = formWords.missing;
			(input.closest(".packetboat-field") ?? box).append(element);
		}
		if (status) status.textContent = formWords.marked;
	} else if (state !== "empty") {
		box.dataset.packetboatState = state === "sent" ? "accepted" : "confirmation_sent";
		if (status) status.textContent = message;
	}
	return `<style>${styles}</style>${box.outerHTML}`;
}

type Props = { html: string; success: string; redirect: string | null; doubleOptIn: boolean };

/** Preview shows the real markup of a form, in each of its states. */
export function Preview({ html, success, redirect, doubleOptIn }: Props) {
	const [width, setWidth] = useState("wide");
	const [theme, setTheme] = useState("light");
	const [state, setState] = useState<State>("empty");
	const shown = useMemo(
		() => markup(html, state, state === "confirm" ? formWords.check : success),
		[html, state, success],
	);
	return (
		<div className={css.preview}>
			<div className={css.tools}>
				<Select
					hideLabel
					label={words.state}
					value={state}
					onChange={(value) => setState(value as State)}
					choices={(["empty", "error", "sent", "confirm"] as const).map((value) => ({ value, label: words[value] }))}
				/>
				<Select
					hideLabel
					label={words.width}
					value={width}
					onChange={setWidth}
					choices={(["wide", "phone"] as const).map((value) => ({ value, label: words[value] }))}
				/>
				<Select
					hideLabel
					label={words.theme}
					value={theme}
					onChange={setTheme}
					choices={(["light", "dark"] as const).map((value) => ({ value, label: words[value] }))}
				/>
			</div>
			<div className={css.stage}>
				<SandboxedFrame
					title={words.title}
					html={shown}
					dark={theme === "dark"}
					className={css.frame}
					width={width === "phone" ? "min(100%, 375px)" : "100%"}
				/>
			</div>
			<p className={css.muted}>
				{words.about} {state === "sent" && redirect && words.redirect({ url: redirect })}{" "}
				{state === "confirm" && !doubleOptIn && words.single}
			</p>
		</div>
	);
}
