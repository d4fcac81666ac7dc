// Changes how requests and files of a page go out. See elements.js.
(() => {
	/** @typedef {(real: typeof fetch, input: RequestInfo | URL, init?: RequestInit) => Promise<Response>} Handler */

	/** Sends the requests of the page with a method through a function. @param {string} method @param {Handler} handle */
	const intercept = (method, handle) => {
		const real = window.fetch;
		window.fetch = (input, init) => (init?.method === method ? handle(real, input, init) : real(input, init));
	};

	/** Keeps the writes of the page from reaching the server, as a network that is gone does. */
	const loseWrites = () => intercept("PUT", () => new Promise(() => undefined));

	/** Fails the next writes of the page, as a network that refuses them does. @param {number} times */
	const failWrites = (times) => {
		let left = times;
		intercept("PUT", (real, input, init) => (left-- > 0 ? Promise.reject(new TypeError("Failed to fetch")) : real(input, init)));
	};

	/** Holds the writes of the page until window.release is called. */
	const holdWrites = () => {
		const real = window.fetch;
		/** @type {(() => void)[]} */
		const held = [];
		intercept("PUT", (real, input, init) => new Promise((go) => held.push(() => go(undefined))).then(() => real(input, init)));
		const release = () => {
			window.fetch = real;
			for (const go of held) go();
		};
		Object.assign(window, { held, release });
	};

	/** Sends another request right before the next one of the page with a method. @param {string} method
	 * @param {string} url @param {RequestInit} other */
	const sendBefore = (method, url, other) => {
		let once = true;
		intercept(method, async (real, input, init) => {
			if (once) {
				once = false;
				await real(url, { ...other, headers: { "Content-Type": "application/json" } });
			}
			return real(input, init);
		});
	};

	/** Keeps the file that the page makes next in window.file. */
	const keepFile = () => {
		const real = URL.createObjectURL;
		const page = Object.assign(window, { file: /** @type {string | undefined} */ (undefined) });
		URL.createObjectURL = (blob) => {
			if (blob instanceof Blob) {
				void blob.text().then((text) => {
					page.file = text;
				});
			}
			return real.call(URL, blob);
		};
	};

	return { loseWrites, failWrites, holdWrites, sendBefore, keepFile };
})()
