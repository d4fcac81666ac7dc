// What the interpreter lacks of a browser's globals, as far as modules without a page use it. It knows
// Intl.NumberFormat and Intl.DateTimeFormat for en-US; the rest of English is here.
"use strict";
{
	const AmericanDates = Intl.DateTimeFormat;

	/** Dates of en-GB are those of en-US with the day before the month, and with 24 hours. */
	class DateTimeFormat extends AmericanDates {
		constructor(locale, options = {}) {
			const british = locale === "en-GB";
			super(locale, british && !options.hour12 ? { hourCycle: "h23", ...options } : options);
			this.british = british;
		}
		format(date) {
			if (!this.british) return super.format(date);
			const parts = this.formatToParts(date).filter((p) => p.type !== "literal");
			const of = (...types) => parts.filter((p) => types.includes(p.type)).map((p) => p.value);
			const numeric = /^\d+$/.test(of("month")[0] ?? "");
			const days = of("day").concat(of("month"), of("year")).join(numeric ? "/" : " ");
			const hours = of("hour", "minute", "second").join(":");
			return [[...of("weekday"), days].filter(Boolean).join(", "), hours].filter(Boolean).join(", ");
		}
	}

	class PluralRules {
		select(n) {
			return n === 1 ? "one" : "other";
		}
	}

	class ListFormat {
		constructor(_locale, { type = "conjunction" } = {}) {
			this.word = type === "disjunction" ? "or" : "and";
		}
		format(list) {
			const names = [...list];
			if (names.length < 3) return names.join(` ${this.word} `);
			return `${names.slice(0, -1).join(", ")}, ${this.word} ${names.at(-1)}`;
		}
	}

	class RelativeTimeFormat {
		constructor(_locale, { numeric = "always" } = {}) {
			this.numeric = numeric;
		}
		format(n, unit) {
			if (n === 0 && this.numeric === "auto") return unit === "second" ? "now" : `this ${unit}`;
			const size = Math.abs(n);
			const span = `${size} ${unit}${size === 1 ? "" : "s"}`;
			return n < 0 || Object.is(n, -0) ? `${span} ago` : `in ${span}`;
		}
	}

	Object.assign(Intl, { DateTimeFormat, PluralRules, ListFormat, RelativeTimeFormat });

	/** Parameters of an address, as forms encode them. */
	class URLSearchParams {
		constructor(from = "") {
			const decode = (text) => decodeURIComponent(text.replaceAll("+", " "));
			const pairs = (text) =>
				text
					.replace(/^\?/, "")
					.split("&")
					.filter((pair) => pair !== "")
					.map((pair) => [pair.split("=")[0], pair.split("=").slice(1).join("=")].map(decode));
			this.pairs = typeof from === "string" ? pairs(from) : Object.entries(from).map(([k, v]) => [k, String(v)]);
		}
		get(name) {
			return this.pairs.find(([k]) => k === name)?.[1] ?? null;
		}
		has(name) {
			return this.get(name) !== null;
		}
		delete(name) {
			this.pairs = this.pairs.filter(([k]) => k !== name);
		}
		set(name, value) {
			const first = this.pairs.find(([k]) => k === name);
			if (first === undefined) this.pairs.push([name, String(value)]);
			else {
				first[1] = String(value);
				this.pairs = this.pairs.filter((pair) => pair === first || pair[0] !== name);
			}
		}
		[Symbol.iterator]() {
			return this.pairs[Symbol.iterator]();
		}
		toString() {
			const encode = (text) =>
				encodeURIComponent(text).replace(/[!'()~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`).replaceAll("%20", "+");
			return this.pairs.map((pair) => pair.map(encode).join("=")).join("&");
		}
	}

	/** Addresses of the web. */
	class URL {
		constructor(text) {
			const parts = /^(https?:)\/\/([^/?#\s]+)([^?#]*)(\?[^#]*)?(#.*)?$/i.exec(text);
			if (!parts) throw new TypeError(`${text} is no address`);
			[this.href, this.protocol, this.host, this.pathname, this.search = "", this.hash = ""] = parts;
			this.pathname ||= "/";
		}
	}

	/** What a form sends, of which only the type is looked at. */
	class FormData {}

	const crypto = { getRandomValues: (bytes) => bytes.map(() => Math.floor(Math.random() * 256)) };

	Object.assign(globalThis, { URLSearchParams, URL, FormData, crypto });
}
