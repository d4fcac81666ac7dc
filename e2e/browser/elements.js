// Finds elements as people and screen readers do. Every expression of a Page can call these functions, as $.text(e).
(() => {
	/** Selectors of the roles that tests name, with the elements that have a role of their own. */
	const roles = {
		alert: "[role=alert]",
		banner: "header",
		dialog: "[role=dialog], [role=alertdialog], dialog[open]",
		main: "main",
		menu: "[role=menu]",
		navigation: "nav",
		region: "section, aside, [role=region]",
		row: "[role=row], tr",
		status: "[role=status]",
	};

	/** The text that an element shows, with single spaces. @param {Element} e */
	const text = (e) => (e instanceof HTMLElement ? e.innerText : (e.textContent ?? "")).replace(/\s+/g, " ").trim();

	/** What a screen reader calls an element. @param {Element} e */
	const name = (e) => {
		const labels = "labels" in e ? [.../** @type {HTMLInputElement} */ (e).labels ?? []].map((l) => l.textContent).join(" ") : "";
		const labelled = (e.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "");
		const label = e.getAttribute("aria-label") || labels || labelled.join(" ").trim();
		return label ? label.replace(/\s+/g, " ").trim() : text(e) || (e.textContent ?? "").replace(/\s+/g, " ").trim();
	};

	/** Whether a part is called that: by its name, by its heading, or, as a row is, by a text in it.
	 * @param {string} role @param {string} called */
	const is = (role, called) => (/** @type {Element} */ e) =>
		role === "row" ? text(e).includes(called) : [name(e), text(e.querySelector("h1, h2, h3, legend") ?? e)].some((n) => n.startsWith(called));

	/** The parts with a role and a name within others. @param {Element[]} within @param {keyof typeof roles} role @param {string} called */
	const parts = (within, role, called) => within.flatMap((e) => [...e.querySelectorAll(roles[role])]).filter(is(role, called));

	/** The dialog in front. @returns {Element[]} */
	const dialog = () => [...document.querySelectorAll(roles.dialog)].slice(-1);

	/** The first button or link with a text that can be pressed. @param {Element[]} within @param {string} label */
	const button = (within, label) =>
		/** @type {HTMLElement | undefined} */ (
			within
				.flatMap((e) => [...e.querySelectorAll("button, a")])
				.find((b) => b.textContent?.trim() === label && b.getAttribute("aria-disabled") !== "true")
		);

	/** Whether the button with a text is pressed. @param {string} label */
	const pressed = (label) => button([document.body], label)?.getAttribute("aria-pressed");

	/** The label whose text is that. @param {Element[]} within @param {string} label */
	const label = (within, label) => within.flatMap((e) => [...e.querySelectorAll("label")]).find((l) => l.textContent?.trim() === label);

	/** The field for text whose label begins with a text. @param {Element[]} within @param {string} label */
	const field = (within, label) =>
		within
			.flatMap((e) => [...e.querySelectorAll("label")])
			.filter((l) => l.textContent?.trim().startsWith(label))
			.map((l) => /** @type {HTMLInputElement | null} */ (document.getElementById(l.htmlFor)))
			.find((e) => e && e.type !== "radio");

	/** The text of the page's code editor. @returns {HTMLElement | null | undefined} */
	const code = () => [...document.querySelectorAll("div")].find((e) => e.shadowRoot)?.shadowRoot?.querySelector(".cm-content");

	/** The control that has the focus. */
	const focused = () => {
		const e = document.activeElement;
		return { name: e ? name(e) : "", is: e !== null && e.matches("a, button, input, select, textarea, [role=row], [role=treeitem], summary") };
	};

	/** Gives a file to the page, as its file dialog does. @param {string} file @param {string} content */
	const setFile = (file, content) => {
		const input = /** @type {HTMLInputElement} */ (document.querySelector("input[type=file]"));
		const files = new DataTransfer();
		files.items.add(new File([content], file, { type: "text/csv" }));
		input.files = files.files;
		input.dispatchEvent(new Event("change", { bubbles: true }));
	};

	/** Collects the messages of the page in window.messages. */
	const recordMessages = () => {
		const region = /** @type {Element} */ (document.querySelector("[aria-label=Messages]"));
		/** @type {string[]} */
		const messages = [];
		Object.assign(window, { messages });
		new MutationObserver(() => messages.push(region.textContent ?? "")).observe(region, { childList: true, subtree: true, characterData: true });
	};

	return { text, name, parts, dialog, button, pressed, label, field, code, focused, setFile, recordMessages };
})()

