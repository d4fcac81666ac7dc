// Reads from a page what tests check and no person sees at once. See elements.js.
(() => {
	/** The names of buttons, links, headings and labels that are in no catalogue: in the pseudo-locale all texts of a
	 * catalogue have brackets. Names that users gave are left out. @param {string[]} given */
	const untranslated = (given) => {
		const texts = new Set();
		for (const e of document.querySelectorAll("button, label, legend, h2, h3, th[scope=col], [role=columnheader], dt")) {
			const copy = /** @type {Element} */ (e.cloneNode(true));
			for (const part of copy.querySelectorAll("code, kbd, b, small, input, select, textarea, time, [aria-hidden], [data-letter]")) part.remove();
			const text = (copy.textContent ?? "").trim();
			if (/\p{L}/u.test(text) && !text.includes("[") && !given.includes(text)) texts.add(`${e.tagName} ${text}`);
		}
		return [...texts].join(", ");
	};

	/** What moved without an act of a person since the page was opened: https://web.dev/articles/cls. Less than 0.0001 is
	 * left out: the code editor measures its lines, and moves their numbers by some pixels then. */
	const layoutShifts = () =>
		new Promise((done) => {
			/** @type {string[]} */
			const list = [];
			/** @param {DOMRectReadOnly} r */
			const box = (r) => [r.x, r.y, r.width, r.height].map(Math.round).join(" ");
			new PerformanceObserver((seen) => {
				for (const e of /** @type {any[]} */ (seen.getEntries())) {
					if (e.hadRecentInput || e.value < 0.0001) continue;
					const sources = e.sources.map((/** @type {any} */ s) => `${(s.node?.outerHTML ?? s.node?.data ?? "gone").slice(0, 160)} ${box(s.previousRect)} to ${box(s.currentRect)}`);
					list.push(`${e.value.toFixed(5)} ${sources.join("; ")}`);
				}
			}).observe({ type: "layout-shift", buffered: true });
			setTimeout(() => done(list), 100);
		});

	/** The violations of WCAG 2.2 AA that axe finds. While the page is scrolled, targets below what floats are left out. */
	const violations = async () => {
		/** @param {DOMRect} a @param {DOMRect} b */
		const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
		const floats = [...document.querySelectorAll("body *")].filter((e) => ["sticky", "fixed"].includes(getComputedStyle(e).position));
		const bars = scrollY === 0 ? [] : floats;
		/** @param {Element} e */
		const covered = (e) => bars.some((b) => !b.contains(e) && overlap(b.getBoundingClientRect(), e.getBoundingClientRect()));
		// @ts-expect-error: axe is a global of its script
		const found = await axe.run({ elementRef: true, runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] });
		return found.violations.map((/** @type {any} */ v) => ({
			id: v.id,
			nodes: v.nodes
				.filter((/** @type {any} */ n) => v.id !== "target-size" || !covered(n.element))
				.slice(0, 3)
				.map((/** @type {any} */ n) => ({ html: n.html.slice(0, 300), failureSummary: n.failureSummary })),
		}));
	};

	/** What hinders readers with a screen reader, a keyboard or a small screen: see WCAG 2.2, success criteria 1.1.1, 1.4.10,
	 * 2.4.2, 2.5.8 and 3.1.1. */
	const faults = () => {
		const out = [];
		const ids = new Set();
		if (!document.documentElement.lang) out.push("no language");
		if (!document.title) out.push("no title");
		if (document.querySelectorAll("h1").length !== 1) out.push("not one h1");
		for (const e of document.querySelectorAll("[id]")) {
			if (ids.has(e.id)) out.push(`the id ${e.id} twice`);
			ids.add(e.id);
		}
		for (const e of document.querySelectorAll("img:not([alt])")) out.push(`no alt: ${e.outerHTML}`);
		for (const e of document.querySelectorAll("[aria-describedby], label[for]"))
			for (const id of (e.getAttribute("aria-describedby") || e.getAttribute("for") || "").split(" "))
				if (!document.getElementById(id)) out.push(`no element ${id}`);
		for (const e of document.querySelectorAll("main button, main input:not([type=hidden])")) {
			const b = e.getBoundingClientRect();
			if (b.width < 24 || b.height < 24) out.push(`small: ${e.outerHTML}`);
		}
		if (document.documentElement.scrollWidth > innerWidth) out.push("wider than the screen");
		return out.join("; ");
	};

	/** The result of a request to the browser's database. @template T @param {IDBRequest<T>} r @returns {Promise<T>} */
	const result = (r) =>
		new Promise((done, fail) => {
			r.onsuccess = () => done(r.result);
			r.onerror = () => fail(r.error);
		});

	/** The values of a store in a database of the browser; nothing if there is no such store.
	 * @param {string} database @param {string} store */
	const stored = async (database, store) => {
		const db = await result(indexedDB.open(database));
		const values = db.objectStoreNames.contains(store) ? await result(db.transaction(store).objectStore(store).getAll()) : [];
		db.close();
		return values;
	};

	/** The text of everything that the browser keeps for the site. */
	const kept = async () => {
		const all = [JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie, ...(await caches.keys())];
		for (const { name } of await indexedDB.databases()) {
			const db = await result(indexedDB.open(name ?? ""));
			for (const s of db.objectStoreNames) {
				const store = db.transaction(s).objectStore(s);
				for (const r of [store.getAllKeys(), store.getAll()]) all.push(JSON.stringify(await result(r)));
			}
			db.close();
		}
		return all.join(" ");
	};

	/** Makes what is typed and kept on the device older. @param {number} hours */
	const ageTyped = async (hours) => {
		const db = await result(indexedDB.open("packetboat-typed"));
		const store = db.transaction("records", "readwrite").objectStore("records");
		for (const r of await result(store.getAll())) await result(store.put({ ...r, at: r.at - hours * 3600_000 }));
		db.close();
	};

	return { untranslated, layoutShifts, violations, faults, stored, kept, ageTyped };
})()
