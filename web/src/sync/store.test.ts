import { ApiError, type Versioned } from "../api/client";
import { equals, holds, Random, type Tests } from "../base/testing";
import { type Key, othersOf, type Row as Kept, readable } from "./copies";
import type { Clock, Codec, Copies, Device, Environment } from "./draft";
import { equal, merge3 } from "./merge";
import { DraftStore } from "./store";

/** Post is what is written in these tests: two texts, an object, and a date with its zone, which make sense only together. */
type Post = { title: string; body: string; meta: unknown; date: string; zone: string };

const blank: Post = { title: "News", body: "Hello", meta: { a: 1, b: { c: 2, d: 3 } }, date: "1 May", zone: "UTC" };

/** turns lets promises go on for a while. */
const turns = async (n: number) => {
	for (; n > 0; n--) await Promise.resolve();
};

/** settled lets all promises go on that wait for nothing outside. */
const settled = () => turns(200);

/** Time is a clock that is moved. */
class Time implements Clock {
	private ms = 0;
	private timers: { at: number; run: () => void }[] = [];
	now = () => new Date(this.ms);
	after = (ms: number, run: () => void) => {
		const timer = { at: this.ms + ms, run };
		this.timers.push(timer);
		return () => {
			this.timers = this.timers.filter((t) => t !== timer);
		};
	};
	/** Lets time pass, and all happen that is due. */
	async pass(ms: number) {
		const until = this.ms + ms;
		for (;;) {
			await settled();
			const next = this.timers.filter((t) => t.at <= until).sort((a, b) => a.at - b.at)[0];
			if (!next) break;
			this.timers = this.timers.filter((t) => t !== next);
			this.ms = Math.max(this.ms, next.at);
			next.run();
		}
		this.ms = until;
	}
	get waiting() {
		return this.timers.length;
	}
}

const offline = () => new ApiError(0, "OFFLINE", "no answer", {});
const conflict = (by: string) =>
	new ApiError(412, "REVISION_CONFLICT", "changed meanwhile", { updated_by: { id: by, name: by, type: "user" } });

/** Server has one post, and the working copies of it. */
class Server {
	post: Post = { ...blank };
	revision = 1;
	by = "nobody";
	requests: Partial<Post>[] = []; // that were sent to be saved
	copy: { title: string; base_revision: number | null; data: { mark?: string; mine?: Partial<Post> } } | null = null;
	fails: (() => Error | null) | null = null;
	losesAnswers = false;
	/** Answers to saves wait for it. */
	answers: Promise<void> = Promise.resolve();
	/** What is refused, by field. */
	rules: { [field: string]: (value: unknown) => boolean } = {};
	/** How a value is stored. */
	writes: (post: Post) => Post = (post) => post;
	private gate: Promise<void> | null = null;
	private openGate: (() => void) | null = null;

	read(): Versioned<Post> {
		return { data: structured(this.post), revision: `"${this.revision}"` };
	}
	/** Somebody else saves. */
	change(part: Partial<Post>, by = "Ada") {
		this.post = this.writes({ ...this.post, ...part });
		this.by = by;
		this.revision++;
	}
	/** Requests wait until they are released. */
	holdRequests() {
		this.gate = new Promise((done) => {
			this.openGate = done;
		});
	}
	async release() {
		this.openGate?.();
		this.gate = null;
		await settled();
	}
	async arrive() {
		if (this.gate) await this.gate;
		const failure = this.fails?.();
		if (failure) throw failure;
	}
	async put(part: Partial<Post>, revision: string | undefined) {
		this.requests.push(structured(part));
		await this.arrive();
		if (revision && revision !== `"${this.revision}"`) throw conflict(this.by);
		const fields = Object.entries(part).filter(([f, v]) => this.rules[f]?.(v));
		if (fields.length > 0)
			throw new ApiError(400, "INVALID", "wrong", {
				fields: fields.map(([path]) => ({ path, message: `bad ${path}` })),
			});
		this.change(part, "me");
		if (this.losesAnswers) throw offline();
		const answer = this.read();
		await this.answers;
		return answer;
	}
	copies: Copies = {
		read: async () => {
			await this.arrive();
			return structured(this.copy);
		},
		write: async (_kind, _id, copy) => {
			await this.arrive();
			this.copy = structured(copy);
		},
		remove: async (_kind, _id, marks) => {
			await this.arrive();
			if (this.copy && marks.includes(this.copy.data.mark ?? "")) this.copy = null;
		},
	};
}

/** structured is a value as it comes out of JSON, with the members of objects in another order, as PostgreSQL stores them. */
function structured<T>(value: T): T {
	if (value === null || typeof value !== "object") return value;
	if (Array.isArray(value)) return value.map(structured) as T;
	return Object.fromEntries(
		Object.entries(value)
			.reverse()
			.map(([k, v]) => [k, structured(v)]),
	) as T;
}

/** Browser is what all tabs of a browser share. */
class Browser {
	rows = new Map<string, Kept & { value: object }>();
	gone = new Set<string>();
	private at = 0;
	/** The storage of the browser as a tab sees it; it is written at once. */
	tab(name: string): Device {
		const keyOf = (kind: string, id: string): Key => ["user", "acme", kind, id, name];
		const put = (kind: string, id: string, value: object) =>
			this.rows.set(keyOf(kind, id).join(), {
				key: keyOf(kind, id),
				size: 1,
				chunks: 1,
				at: ++this.at,
				value: structured(value),
			});
		return {
			hold: put,
			release: (kind, id) => void this.rows.delete(keyOf(kind, id).join()),
			held: async <T extends object>(kind: string, id: string, join: (a: T, b: T) => T) => {
				await turns(10);
				const all = [...this.rows.values()];
				const gone = new Set(othersOf(all, name).filter((t) => this.gone.has(t)));
				const own = readable(all, name, gone) as (Kept & { value: T })[];
				if (own.length === 0) return null;
				for (const r of own) this.rows.delete(r.key.join());
				const value = own.map((r) => r.value).reduce(join);
				put(kind, id, value);
				return structured(value);
			},
		};
	}
	get text() {
		return JSON.stringify([...this.rows.values()].map((r) => r.value));
	}
}

const codecOf = (server: Server): Codec<Post, Post> => ({
	kind: "post",
	id: "1",
	title: (post) => post.title,
	load: async () => {
		await server.arrive();
		return server.read();
	},
	save: (changed, _, revision) => server.put(changed, revision),
	fieldsOf: (post) => ({ ...post }),
	groupOf: (path) => (path === "date" || path === "zone" ? "when" : path.replace(/[.[].*$/, "")),
	refusals: (e) => {
		const found = e.fields.map((f) => ({ path: f.path, message: f.message }));
		return found.length > 0 ? found : [{ path: "", message: e.message }];
	},
});

let stores = 0;

type Options = Partial<Environment> & {
	codec?: Partial<Codec<Post, Post>>;
	server?: Versioned<Post>;
	/** What is typed at once. */
	typed?: Partial<Post>;
};

/** noStorage is the device of a browser that keeps nothing. */
const noStorage: Device = { hold: () => undefined, release: () => undefined, held: async () => null };

/** World is a server, a clock, and one browser with its first tab. */
class World {
	server = new Server();
	time = new Time();
	browser = new Browser();
	device = this.browser.tab("a");
	/** Opens the post in a tab; a draft saves itself after 800 ms unless it is said otherwise. */
	async open(options: Options = {}) {
		const { codec, server, typed, ...environment } = options;
		const draft = new DraftStore<Post, Post>(
			{ ...codecOf(this.server), ...codec },
			{
				device: this.device,
				copies: this.server.copies,
				clock: this.time,
				autosaveAfter: 800,
				readOnly: false,
				mark: `store ${++stores}`,
				...environment,
			},
			server ?? this.server.read(),
		);
		void draft.open();
		if (typed) draft.change(typed);
		await settled();
		return draft;
	}
	/** The page is gone in one moment: nothing more of it runs. */
	reload() {
		this.time = new Time();
		this.device = this.browser.tab("a");
	}
}

const stateOf = (draft: DraftStore<Post, Post>) => draft.state.status.is;
const byHand = { autosaveAfter: null, codec: { refusals: undefined } };

const merging: Tests = {
	"values that differ in the order of members are equal, others are not"() {
		holds(equal({ a: 1, b: { c: [1, { d: 2, e: 3 }] } }, { b: { c: [1, { e: 3, d: 2 }] }, a: 1 }), "the same");
		for (const [a, b] of [
			[
				[1, 2],
				[2, 1],
			],
			[{ a: 1 }, { a: 1, b: 1 }],
			[{ a: null }, {}],
			[{ a: 1 }, { b: 1 }],
			[[], {}],
			["", null],
			[0, false],
		])
			holds(!equal(a, b), `${JSON.stringify(a)} and ${JSON.stringify(b)} differ`);
		holds(equal(undefined, null) && equal({ a: undefined }, {}), "what JSON leaves out is absent");
	},
	"fields that one side changed are joined, and those that both changed clash"() {
		const bases = { mine: blank, theirs: blank };
		const mine = { ...blank, title: "Mine", body: "Both" };
		const got = merge3(bases, mine, { ...blank, title: "Theirs", zone: "CET", body: "Both" });
		equals(got.merged, { ...mine, zone: "CET" });
		equals(got.joined, ["zone"]);
		equals(got.clashes, [{ group: "title", mine: { title: "Mine" }, theirs: { title: "Theirs" } }]);
	},
	"a group clashes as a whole, and stays as it was chosen"() {
		const when = (field: string) => (field === "date" || field === "zone" ? "when" : field);
		const merge = (side: "mine" | "theirs") =>
			merge3(
				{ mine: blank, theirs: blank },
				{ ...blank, date: "2 May", title: "Mine" },
				{ ...blank, zone: "CET", title: "Theirs" },
				when,
				(group) => (group === "when" ? side : "mine"),
			);
		equals(merge("mine").merged, { ...blank, date: "2 May", title: "Mine" });
		equals(merge("theirs").merged, { ...blank, zone: "CET", title: "Mine" });
		equals(
			merge("mine").clashes.map((c) => c.group),
			["title", "when"],
		);
	},
	"whatever two sides change, nothing that only one of them changed is lost"() {
		const random = new Random(3);
		const names = Object.keys(blank) as (keyof Post)[];
		for (let n = 0; n < 300; n++) {
			const [mine, theirs]: Post[] = [{ ...blank }, { ...blank }] as [Post, Post];
			for (const f of names) {
				if (random.below(2) === 0) Object.assign(mine, { [f]: `m${random.below(2)}` });
				if (random.below(2) === 0) Object.assign(theirs, { [f]: `${random.of(["m", "t"])}${random.below(2)}` });
			}
			const got = merge3({ mine: blank, theirs: blank }, mine, theirs);
			for (const f of names) {
				const [byMe, byThem] = [mine[f] !== blank[f], theirs[f] !== blank[f]];
				equals(got.merged[f], byMe || !byThem ? mine[f] : theirs[f], `${f} of ${JSON.stringify([mine, theirs])}`);
				const clash = byMe && byThem && mine[f] !== theirs[f];
				equals(
					got.clashes.some((c) => c.group === f),
					clash,
					`a clash of ${f}`,
				);
			}
		}
	},
};

const saving: Tests = {
	async "a draft saves itself after a pause, only what was changed"() {
		const w = new World();
		const draft = await w.open();
		equals(stateOf(draft), "saved");
		draft.change({ title: "N" });
		await w.time.pass(500);
		draft.change({ title: "New" });
		equals(stateOf(draft), "unsaved");
		await w.time.pass(799);
		equals(w.server.requests, [], "before the pause is over");
		await w.time.pass(1);
		equals(w.server.requests, [{ title: "New" }]);
		equals([stateOf(draft), w.server.post.title, w.browser.rows.size], ["saved", "New", 0]);
		await w.time.pass(60_000);
		equals([w.server.requests.length, w.time.waiting], [1, 0]);
	},
	async "what is typed while a save is under way is saved after it, on the new revision"() {
		const w = new World();
		const draft = await w.open();
		w.server.holdRequests();
		draft.change({ title: "One" });
		await w.time.pass(800);
		equals(stateOf(draft), "saving");
		draft.change({ title: "Two", body: "Too" });
		await w.server.release();
		equals(w.server.requests, [{ title: "One" }, { title: "Two", body: "Too" }]);
		equals([w.server.post.title, w.server.post.body, stateOf(draft)], ["Two", "Too", "saved"]);
	},
	async "an answer that was overtaken is not taken"() {
		const w = new World();
		const draft = await w.open();
		const old = w.server.read();
		draft.change({ title: "New" });
		await w.time.pass(800);
		draft.receive(old);
		equals([draft.state.values.title, draft.state.revision], ["New", '"2"']);
		await w.time.pass(5000);
		equals(w.server.requests.length, 1);
	},
	async "what is read while a save is under way is taken after it"() {
		const w = new World();
		const draft = await w.open();
		w.server.holdRequests();
		draft.change({ title: "New" });
		await w.time.pass(800);
		const before = w.server.read();
		draft.receive(before);
		await w.server.release();
		equals([draft.state.values.title, draft.state.revision], ["New", '"2"']);
		w.server.change({ body: "Theirs" });
		draft.receive(w.server.read());
		equals([draft.state.values.body, draft.state.joined], ["Theirs", null], "without own work nothing is told");
	},
	async "what others save before the answer has come is taken after it"() {
		const w = new World();
		const draft = await w.open();
		let answer: () => void = () => undefined;
		w.server.answers = new Promise((done) => {
			answer = done;
		});
		draft.change({ title: "Mine" });
		await w.time.pass(800);
		w.server.change({ title: "Theirs, later" });
		draft.receive(w.server.read());
		equals([stateOf(draft), draft.state.values.title], ["saving", "Mine"]);
		answer();
		await settled();
		equals([stateOf(draft), draft.state.values.title, draft.state.revision], ["saved", "Theirs, later", '"3"']);
	},
	async "a space at the end stays while somebody goes on, though the server cuts it off"() {
		const w = new World();
		w.server.writes = (post) => ({ ...post, title: post.title.trim() });
		const draft = await w.open();
		draft.change({ title: "Good " });
		await w.time.pass(800);
		equals([w.server.post.title, draft.state.values.title, stateOf(draft)], ["Good", "Good ", "saved"]);
		w.server.change({ body: "Theirs" });
		draft.receive(w.server.read());
		equals([draft.state.values.title, draft.state.values.body, stateOf(draft)], ["Good ", "Theirs", "saved"]);
		draft.change({ title: "Good news" });
		await w.time.pass(800);
		equals(w.server.post.title, "Good news");
		equals(w.server.requests.length, 2);
	},
	async "ids that the server gives are taken, where a record says so"() {
		const w = new World();
		w.server.writes = (post) => ({ ...post, meta: [{ id: 7, name: "A" }] });
		const draft = await w.open({ codec: { takesAnswer: true } });
		draft.change({ meta: [{ name: "A" }] });
		await w.time.pass(800);
		holds(equal(draft.state.values.meta, [{ id: 7, name: "A" }]), JSON.stringify(draft.state.values.meta));
		await w.time.pass(10_000);
		equals([w.server.requests.length, stateOf(draft)], [1, "saved"]);
	},
	async "a refusal may name its group where its path does not"() {
		const w = new World();
		let refuses = true;
		w.server.fails = () => (refuses ? new ApiError(400, "INVALID_DATE", "no such day", {}) : null);
		const refusals = () => {
			refuses = false;
			return [{ path: "parameters.day", message: "no such day", group: "when" }];
		};
		const draft = await w.open({ codec: { refusals } });
		draft.change({ date: "32 May", title: "New" });
		await w.time.pass(800);
		equals([stateOf(draft), w.server.post.title, w.server.post.date], ["refused", "New", "1 May"]);
	},
	async "the order in which the server stores members is no change"() {
		const w = new World();
		const draft = await w.open();
		draft.change({ meta: { b: { d: 3, c: 2 }, a: 1 } });
		await w.time.pass(10_000);
		equals([w.server.requests.length, stateOf(draft), w.browser.rows.size], [0, "saved", 0]);
		draft.change({ meta: { a: 1, b: { c: 2, d: 4 } } });
		await w.time.pass(800);
		draft.receive(w.server.read());
		await w.time.pass(10_000);
		equals([w.server.requests.length, stateOf(draft)], [1, "saved"]);
	},
	async "what is changed back before it is saved is not sent, and is not kept"() {
		const w = new World();
		const draft = await w.open();
		draft.change({ title: "New" });
		equals(w.browser.rows.size, 1);
		draft.change({ title: "News" });
		equals(w.browser.rows.size, 0);
		await w.time.pass(10_000);
		equals([w.server.requests.length, w.server.copy], [0, null]);
	},
	async "what is refused stays and the rest is saved; it is sent again once it was changed"() {
		const w = new World();
		w.server.rules.title = (v) => v === "";
		const draft = await w.open();
		draft.change({ title: "", body: "Good" });
		await w.time.pass(800);
		equals(w.server.requests, [{ title: "", body: "Good" }, { body: "Good" }]);
		equals(draft.state.status, { is: "refused", problems: [{ path: "title", message: "bad title" }] });
		equals([w.server.post.body, draft.state.values.title], ["Good", ""]);
		await w.time.pass(2000);
		equals([w.server.copy?.data.mine, w.browser.rows.size], [{ title: "" }, 0], "the working copy");
		draft.change({ body: "Better" });
		await w.time.pass(800);
		equals(w.server.requests.at(-1), { body: "Better" }, "the refused part is not sent again");
		draft.change({ title: "Right" });
		await w.time.pass(800);
		equals([stateOf(draft), w.server.post.title, w.server.copy], ["saved", "Right", null]);
	},
	async "a refusal of what was corrected meanwhile is about nothing"() {
		const w = new World();
		w.server.rules.title = (v) => v === "";
		const draft = await w.open();
		w.server.holdRequests();
		draft.change({ title: "" });
		await w.time.pass(800);
		draft.change({ title: "Right" });
		await w.server.release();
		equals([stateOf(draft), w.server.post.title], ["saved", "Right"]);
		w.server.holdRequests();
		draft.change({ title: "" });
		await w.time.pass(800);
		draft.change({ title: "Right" });
		await w.server.release();
		equals([stateOf(draft), w.browser.rows.size], ["saved", 0], "changed back meanwhile");
	},
	async "a refusal of no field is one of all that was sent"() {
		const w = new World();
		w.server.fails = () => new ApiError(409, "NOT_DRAFT", "it is being sent", {});
		const draft = await w.open();
		draft.change({ title: "New", date: "2 May" });
		await w.time.pass(800);
		const problems = ["when", "title"].map((path) => ({ path, message: "it is being sent" }));
		equals(draft.state.status, { is: "refused", problems });
		equals(w.server.requests.length, 1);
	},
	async "without a network it is tried again and again, and nothing is lost meanwhile"() {
		const w = new World();
		const draft = await w.open();
		w.server.fails = offline;
		draft.change({ title: "New" });
		await w.time.pass(800);
		equals(stateOf(draft), "offline");
		for (const [ms, requests] of [
			[999, 1],
			[1, 2],
			[3000, 3],
			[9000, 4],
			[30_000, 5],
			[30_000, 6],
		] as const) {
			await w.time.pass(ms);
			equals(w.server.requests.length, requests, `requests after ${ms}`);
		}
		draft.change({ body: "Also" });
		holds(w.browser.text.includes("Also") && w.browser.text.includes("New"), "the device has it");
		w.server.fails = null;
		await draft.flush();
		equals([stateOf(draft), w.server.post.title, w.server.post.body], ["saved", "New", "Also"]);
		equals([w.browser.rows.size, w.server.copy], [0, null]);
	},
	async "a save whose session has ended is sent again once there is another one"() {
		const w = new World();
		const draft = await w.open();
		w.server.fails = () => new ApiError(401, "UNAUTHORIZED", "sign in", {});
		draft.change({ title: "New" });
		await w.time.pass(800);
		equals([stateOf(draft), draft.state.values.title, w.browser.rows.size], ["offline", "New", 1]);
		w.server.fails = null;
		await w.time.pass(1000);
		equals([stateOf(draft), w.server.post.title], ["saved", "New"]);
	},
	async "what a viewer types is neither kept nor saved, until the viewer may"() {
		const w = new World();
		const draft = await w.open({ readOnly: true });
		draft.change({ title: "New" });
		w.server.change({ body: "Theirs" });
		draft.receive(w.server.read());
		await draft.flush();
		await w.time.pass(60_000);
		const { title, body } = draft.state.values;
		equals([title, body, draft.state.opened], ["New", "Theirs", true]);
		equals([w.server.requests.length, w.server.copy, w.browser.rows.size], [0, null, 0]);
		draft.configure({ readOnly: false, autosaveAfter: 800 });
		await settled();
		equals(w.browser.rows.size, 1);
		await w.time.pass(800);
		equals(w.server.post.title, "New");
	},
};

const conflicts: Tests = {
	async "changes by others are joined, and saved on their revision"() {
		const w = new World();
		const draft = await w.open();
		w.server.change({ body: "Theirs" });
		draft.change({ title: "Mine" });
		await w.time.pass(800);
		equals([w.server.post.title, w.server.post.body, stateOf(draft)], ["Mine", "Theirs", "saved"]);
		equals([draft.state.joined?.fields, draft.state.joined?.by?.name], [["body"], "Ada"]);
		draft.dismissJoined();
		equals(draft.state.joined, null);
	},
	async "what both made the same is no conflict, and needs no save"() {
		const w = new World();
		const draft = await w.open();
		w.server.change({ title: "Same" });
		draft.change({ title: "Same" });
		await w.time.pass(800);
		equals([w.server.requests.length, stateOf(draft), w.browser.rows.size], [1, "saved", 0]);
		equals([w.server.revision, draft.state.revision], [2, '"2"']);
	},
	async "what both changed waits for a choice: mine"() {
		const w = new World();
		const draft = await w.open();
		w.server.change({ title: "Theirs", body: "Also theirs" });
		draft.change({ title: "Mine" });
		await w.time.pass(800);
		equals([stateOf(draft), w.server.post.title], ["conflict", "Theirs"]);
		equals(draft.state.conflict?.clashes, [{ group: "title", mine: { title: "Mine" }, theirs: { title: "Theirs" } }]);
		draft.change({ zone: "CET" });
		await w.time.pass(60_000);
		equals([w.server.requests.length, w.time.waiting], [1, 0], "requests and timers before the choice");
		holds(equal(w.server.copy?.data.mine, { title: "Mine", zone: "CET" }), "the working copy has both");
		draft.settle(new Set());
		await settled();
		const { title, body, zone } = w.server.post;
		equals([title, body, zone, stateOf(draft)], ["Mine", "Also theirs", "CET", "saved"]);
		await settled();
		equals([w.server.copy, w.browser.rows.size], [null, 0]);
	},
	async "what both changed waits for a choice: theirs"() {
		const w = new World();
		const draft = await w.open();
		w.server.change({ title: "Theirs" });
		draft.change({ title: "Mine" });
		await w.time.pass(800);
		draft.settle(new Set(["title"]));
		await settled();
		equals([stateOf(draft), draft.state.values.title, w.server.requests.length], ["saved", "Theirs", 1]);
		equals(w.browser.rows.size, 0);
	},
	async "a choice is made for each group"() {
		const w = new World();
		const draft = await w.open();
		w.server.change({ title: "Theirs", zone: "CET" });
		draft.change({ title: "Mine", date: "2 May" });
		await w.time.pass(800);
		equals(draft.state.conflict?.clashes.map((c) => c.group).sort(), ["title", "when"]);
		draft.settle(new Set(["when"]));
		await settled();
		const { title, date, zone } = w.server.post;
		equals([title, date, zone], ["Mine", "1 May", "CET"]);
	},
	async "fields whose names have a dot clash each on its own"() {
		const w = new World();
		const at = (line: string, city: string) => ({ "address.line": line, "address.city": city });
		type Address = ReturnType<typeof at>;
		let stored: Versioned<Address> = { data: at("Old 1", "Kiel"), revision: '"1"' };
		const draft = new DraftStore<Address, Address>(
			{
				kind: "address",
				id: "1",
				title: () => "",
				load: async () => stored,
				save: async (_, values) => {
					stored = { data: values, revision: '"3"' };
					return stored;
				},
				fieldsOf: (address) => address,
			},
			{ device: w.device, copies: w.server.copies, clock: w.time, autosaveAfter: null, readOnly: false, mark: "m" },
			stored,
		);
		draft.change(at("Mine 2", "Bonn"));
		stored = { data: at("Theirs 3", "Kiel"), revision: '"2"' };
		draft.receive(stored);
		equals(
			draft.state.conflict?.clashes.map((c) => c.group),
			["address.line"],
		);
		draft.settle(new Set(["address.line"]));
		await draft.save();
		equals(stored.data, at("Theirs 3", "Bonn"));
	},
	async "a conflict follows what is saved during it, and ends when nothing clashes any more"() {
		const w = new World();
		const draft = await w.open();
		const first = w.server.read();
		w.server.change({ title: "Theirs" });
		draft.change({ title: "Mine" });
		await w.time.pass(800);
		w.server.change({ title: "Theirs again" });
		draft.receive(w.server.read());
		equals(draft.state.conflict?.clashes[0]?.theirs, { title: "Theirs again" });
		draft.receive(first);
		equals(draft.state.conflict?.clashes[0]?.theirs, { title: "Theirs again" }, "after an overtaken answer");
		w.server.change({ title: "Mine", body: "Theirs" });
		draft.receive(w.server.read());
		equals([stateOf(draft), draft.state.values.body, w.server.requests.length], ["saved", "Theirs", 1]);
	},
	async "somebody who saves all the time stops nobody"() {
		const w = new World();
		const draft = await w.open();
		w.server.fails = () => {
			w.server.change({ body: `Busy ${w.server.revision}` });
			return null;
		};
		draft.change({ title: "Mine" });
		await w.time.pass(800);
		equals(w.server.requests.length, 6, "tries");
		w.server.fails = null;
		draft.change({ title: "Mine too" });
		await w.time.pass(800);
		equals([w.server.post.title, stateOf(draft)], ["Mine too", "saved"]);
	},
	async "a conflict that cannot be read about is tried again later"() {
		const w = new World();
		const draft = await w.open();
		w.server.change({ body: "Theirs" });
		let requests = 0;
		w.server.fails = () => (++requests > 1 ? offline() : null);
		draft.change({ title: "Mine" });
		await w.time.pass(800);
		equals(stateOf(draft), "offline");
		w.server.fails = null;
		await w.time.pass(1000);
		equals([w.server.post.title, w.server.post.body, stateOf(draft)], ["Mine", "Theirs", "saved"]);
	},
};

const restoring: Tests = {
	async "what was typed at once before a reload comes back, and is saved"() {
		const w = new World();
		(await w.open()).change({ title: "At once" });
		w.reload();
		const draft = await w.open();
		equals([draft.state.values.title, draft.state.restored, draft.state.opened], ["At once", "device", true]);
		await w.time.pass(800);
		equals([w.server.post.title, w.browser.rows.size], ["At once", 0]);
		equals(draft.state.restored, "device", "where it came from is told after the save");
	},
	async "what is typed before the device has answered is joined with what it has"() {
		const w = new World();
		(await w.open()).change({ title: "Before", body: "Before" });
		w.reload();
		w.server.holdRequests();
		const draft = await w.open();
		draft.change({ body: "After" });
		holds(w.browser.text.includes("After") && w.browser.text.includes("Before"), "the device has both");
		await w.server.release();
		equals([draft.state.values.title, draft.state.values.body], ["Before", "After"]);
	},
	async "others saved the same part while it was closed: it asks"() {
		const w = new World();
		(await w.open()).change({ title: "Mine" });
		w.reload();
		w.server.change({ title: "Theirs", body: "Theirs" });
		const draft = await w.open();
		equals([stateOf(draft), draft.state.values.title], ["conflict", "Mine"]);
		await w.time.pass(60_000);
		equals(w.server.post.title, "Theirs");
		draft.settle(new Set());
		await settled();
		equals([w.server.post.title, w.server.post.body], ["Mine", "Theirs"]);
	},
	async "others saved another part while it was closed: it is joined"() {
		const w = new World();
		(await w.open()).change({ title: "Mine" });
		w.reload();
		w.server.change({ body: "Theirs" });
		const draft = await w.open();
		await w.time.pass(800);
		equals([w.server.post.title, w.server.post.body, stateOf(draft)], ["Mine", "Theirs", "saved"]);
	},
	async "a crash after the server had it, before it answered, asks nothing"() {
		const w = new World();
		const first = await w.open();
		w.server.losesAnswers = true;
		first.change({ title: "Sent" });
		await w.time.pass(800);
		first.change({ title: "Sent, and more" });
		w.reload();
		w.server.losesAnswers = false;
		const draft = await w.open();
		equals([stateOf(draft), draft.state.values.title], ["unsaved", "Sent, and more"]);
		await w.time.pass(800);
		equals(w.server.post.title, "Sent, and more");
	},
	async "an answer that was lost is no conflict with oneself"() {
		const w = new World();
		const draft = await w.open();
		w.server.losesAnswers = true;
		draft.change({ title: "Sent" });
		await w.time.pass(800);
		equals(stateOf(draft), "offline");
		w.server.losesAnswers = false;
		await w.time.pass(1000);
		equals([stateOf(draft), w.server.post.title, draft.state.joined], ["saved", "Sent", null]);
	},
	async "what arrived without an answer is no conflict with what was typed after it"() {
		const w = new World();
		const draft = await w.open();
		w.server.losesAnswers = true;
		draft.change({ title: "One" });
		await w.time.pass(800);
		w.server.fails = offline; // the second one does not arrive
		draft.change({ title: "Two" });
		await w.time.pass(800);
		draft.change({ title: "Three" });
		[w.server.losesAnswers, w.server.fails] = [false, null];
		await w.time.pass(800);
		equals([stateOf(draft), w.server.post.title], ["saved", "Three"]);
		w.server.change({ title: "One" });
		draft.change({ title: "Four" });
		await w.time.pass(800);
		equals(stateOf(draft), "conflict", "when somebody else writes it later");
	},
	async "what is typed while the device is read is kept, too"() {
		const w = new World();
		w.server.holdRequests();
		await w.open({ typed: { title: "At once" } });
		holds(w.browser.text.includes("At once"), `the device has ${w.browser.text}`);
	},
	async "a page that is left while it opens leaves no timer"() {
		const w = new World();
		w.server.holdRequests();
		const draft = await w.open({ ...byHand, typed: { title: "At once" } });
		void draft.close();
		await w.server.release();
		equals([w.server.copy?.title, w.time.waiting], ["At once", 0]);
	},
	async "copies of this device and of another browser are joined"() {
		const w = new World();
		(await w.open({ ...byHand })).change({ title: "Here", body: "Here" });
		w.reload();
		w.server.copy = { title: "", base_revision: 1, data: { mark: "elsewhere", mine: { body: "There" } } };
		const draft = await w.open({ ...byHand });
		equals([draft.state.values.title, draft.state.values.body], ["Here", "There"]);
		draft.discard();
		await settled();
		equals([w.server.copy, w.browser.rows.size], [null, 0]);
	},
	async "without storage, a page that is opened again finds what the former one stored on the server"() {
		const w = new World();
		const first = await w.open({ ...byHand, device: noStorage });
		first.change({ title: "Mine" });
		void first.close();
		const draft = await w.open({ ...byHand, device: noStorage });
		equals([draft.state.values.title, draft.state.restored], ["Mine", "server"]);
	},
	async "two tabs keep their own: what one saves leaves the words of the other"() {
		const w = new World();
		const a = await w.open();
		const b = await w.open({ device: w.browser.tab("b") });
		w.server.fails = offline;
		a.change({ title: "In a" });
		await w.time.pass(800);
		w.server.fails = null;
		b.change({ body: "In b" });
		await b.flush();
		await b.close();
		holds(w.browser.text.includes("In a") && !w.browser.text.includes("In b"), `the device has ${w.browser.text}`);
		w.reload(); // a goes away and comes back
		const again = await w.open();
		await w.time.pass(800);
		equals([w.server.post.title, w.server.post.body, stateOf(again)], ["In a", "In b", "saved"]);
	},
	async "what a tab left that is gone comes back in another one, what an open one has does not"() {
		const w = new World();
		(await w.open()).change({ title: "In a" });
		const b = await w.open({ device: w.browser.tab("b") });
		equals([b.state.restored, b.state.values.title], [null, "News"]);
		w.browser.gone.add("a");
		const c = await w.open({ device: w.browser.tab("c") });
		equals([c.state.restored, c.state.values.title], ["device", "In a"]);
	},
	async "a working copy of another browser comes back, and is deleted once it is saved"() {
		const w = new World();
		const other = await w.open({ ...byHand, device: new Browser().tab("x") });
		other.change({ title: "Elsewhere" });
		await w.time.pass(2000);
		equals(w.server.copy?.title, "Elsewhere");
		const draft = await w.open();
		equals([draft.state.values.title, draft.state.restored], ["Elsewhere", "server"]);
		await w.time.pass(800);
		await settled();
		equals([w.server.post.title, w.server.copy], ["Elsewhere", null]);
	},
	async "a copy that another browser stored since stays when this one saves"() {
		const w = new World();
		const draft = await w.open({ ...byHand });
		draft.change({ title: "Here" });
		await w.time.pass(2000);
		w.server.copy = { title: "", base_revision: 1, data: { mark: "elsewhere", mine: { body: "There" } } };
		await draft.save();
		await settled();
		equals([w.server.copy?.data.mark, w.browser.rows.size], ["elsewhere", 0]);
	},
	async "a copy without a mark, which a program stored, comes back"() {
		const w = new World();
		w.server.copy = { title: "", base_revision: null, data: { mine: { title: "Made" } } };
		const draft = await w.open();
		await w.time.pass(800);
		await settled();
		equals([w.server.post.title, w.server.copy, draft.state.restored], ["Made", null, "server"]);
	},
	async "of a copy, only fields of today with values of their kind come back"() {
		const w = new World();
		const mine = { title: 7, former: "x", body: "Good", zone: null } as unknown as Partial<Post>;
		w.server.copy = { title: "", base_revision: 1, data: { mine } };
		const draft = await w.open({ ...byHand });
		holds(equal(draft.state.values, { ...blank, body: "Good", zone: null }), JSON.stringify(draft.state.values));
	},
	async "the same record opened again waits for what the former page still saves"() {
		const w = new World();
		const first = await w.open();
		const old = w.server.read();
		first.change({ title: "Left behind" });
		w.server.holdRequests();
		void first.close();
		const draft = await w.open({ server: old });
		draft.change({ body: "Typed after" });
		await w.server.release();
		await w.time.pass(800);
		equals([w.server.post.title, w.server.post.body], ["Left behind", "Typed after"]);
		equals([stateOf(draft), w.browser.rows.size], ["saved", 0]);
	},
};

const ending: Tests = {
	async "a record that is opened again does not wait for a network that hangs"() {
		const w = new World();
		const first = await w.open();
		let answer: () => void = () => undefined;
		w.server.answers = new Promise((done) => {
			answer = done;
		});
		first.change({ title: "Hangs" });
		void first.close();
		const draft = await w.open();
		equals(draft.state.opened, false);
		await w.time.pass(3000);
		equals([draft.state.opened, draft.state.values.title], [true, "Hangs"]);
		draft.change({ body: "Typed after" });
		answer();
		await settled();
		holds(w.browser.text.includes("Typed after"), "what the former page saves leaves what was typed since");
		await w.time.pass(800);
		equals([w.server.post.title, w.server.post.body, w.browser.rows.size], ["Hangs", "Typed after", 0]);
	},
	async "leaving saves at once, and a page that is gone takes the answer"() {
		const w = new World();
		const draft = await w.open();
		w.server.holdRequests();
		draft.change({ title: "Last" });
		void draft.close();
		await settled();
		equals([w.server.requests.length, w.browser.rows.size], [1, 1]);
		await w.server.release();
		equals([w.server.post.title, w.browser.rows.size, w.time.waiting], ["Last", 0, 0]);
	},
	async "what is typed during a save is saved after it, though the page is gone"() {
		const w = new World();
		const draft = await w.open();
		w.server.holdRequests();
		draft.change({ title: "One" });
		await w.time.pass(800);
		draft.change({ title: "Two" });
		void draft.close();
		await w.server.release();
		equals([w.server.post.title, w.browser.rows.size], ["Two", 0]);
	},
	async "what a page that goes cannot save is on the device, and nothing is tried again"() {
		const w = new World();
		const draft = await w.open();
		w.server.fails = offline;
		draft.change({ title: "Last" });
		void draft.close();
		await w.time.pass(120_000);
		equals([w.server.requests.length, w.browser.rows.size, w.time.waiting], [1, 1, 0]);
		w.server.fails = null;
		const again = await w.open();
		await w.time.pass(800);
		equals([w.server.post.title, again.state.restored], ["Last", "device"]);
	},
	async "a refused part goes into the working copy when the page is left"() {
		const w = new World();
		w.server.rules.title = () => true;
		const draft = await w.open();
		draft.change({ title: "" });
		await w.time.pass(800);
		await draft.close();
		equals([w.server.copy?.data.mine, w.browser.rows.size], [{ title: "" }, 0]);
	},
	async "discard drops what was typed, here and on the server"() {
		const w = new World();
		const draft = await w.open({ ...byHand });
		draft.change({ title: "Mine" });
		await w.time.pass(2000);
		holds(w.server.copy !== null, "the server has a copy");
		draft.discard();
		await settled();
		equals([draft.state.values.title, stateOf(draft)], ["News", "saved"]);
		equals([w.server.copy, w.browser.rows.size, w.time.waiting], [null, 0, 0]);
	},
	async "discard ends a conflict with what the server has"() {
		const w = new World();
		const draft = await w.open({ ...byHand });
		draft.change({ title: "Mine" });
		w.server.change({ title: "Theirs" });
		draft.receive(w.server.read());
		equals(stateOf(draft), "conflict");
		draft.discard();
		equals([stateOf(draft), draft.state.values.title, draft.state.revision], ["saved", "Theirs", '"2"']);
	},
	async "a listener hears of each change until it stops"() {
		const w = new World();
		const draft = await w.open();
		let calls = 0;
		const stop = draft.subscribe(() => calls++);
		const before = draft.state;
		draft.change({ title: "A" });
		holds(calls === 1 && draft.state !== before, "it hears of a change");
		stop();
		draft.change({ title: "B" });
		equals(calls, 1);
	},
};

const onDemand: Tests = {
	async "without autosave nothing is saved but the working copy, until somebody saves"() {
		const w = new World();
		const draft = await w.open({ ...byHand });
		draft.change({ title: "Mine" });
		await w.time.pass(1999);
		equals([w.server.copy, w.browser.rows.size], [null, 1]);
		await w.time.pass(1);
		holds(equal(w.server.copy?.data.mine, { title: "Mine" }), "the copy has what was changed");
		equals([w.server.copy?.base_revision, w.browser.rows.size], [1, 0]);
		equals([w.server.requests.length, stateOf(draft)], [0, "unsaved"]);
		holds(await draft.save(), "all is saved");
		await settled();
		equals([w.server.post.title, w.server.copy, stateOf(draft)], ["Mine", null, "saved"]);
	},
	async "a working copy that cannot be stored is tried again"() {
		const w = new World();
		const draft = await w.open({ ...byHand });
		w.server.fails = offline;
		draft.change({ title: "Mine" });
		await w.time.pass(2500);
		equals([w.server.copy, w.browser.rows.size], [null, 1]);
		w.server.fails = null;
		await w.time.pass(1000);
		equals([w.server.copy?.title, w.browser.rows.size], ["Mine", 0]);
	},
	async "what is typed while the working copy is stored stays on the device"() {
		const w = new World();
		const draft = await w.open({ ...byHand });
		draft.change({ title: "One" });
		w.server.holdRequests();
		await w.time.pass(2000);
		draft.change({ title: "Two" });
		await w.server.release();
		holds(w.browser.text.includes("Two") && w.server.copy?.title === "One", `the device has ${w.browser.text}`);
		await w.time.pass(2000);
		equals([w.server.copy?.title, w.browser.rows.size], ["Two", 0]);
	},
	async "leaving stores the working copy at once"() {
		const w = new World();
		const draft = await w.open({ ...byHand });
		draft.change({ title: "Mine" });
		await draft.close();
		equals([w.server.copy?.title, w.server.requests.length], ["Mine", 0]);
		const again = await w.open({ ...byHand });
		equals([again.state.values.title, again.state.restored, stateOf(again)], ["Mine", "server", "unsaved"]);
		await again.save();
		equals(again.state.restored, null);
	},
	async "a save that is refused rejects, and what was typed stays"() {
		const w = new World();
		w.server.rules.title = () => true;
		const draft = await w.open({ ...byHand });
		draft.change({ title: "Bad" });
		const error = await draft.save().catch((e: unknown) => e);
		equals([(error as ApiError).status, stateOf(draft), draft.state.values.title], [400, "unsaved", "Bad"]);
		equals(w.browser.rows.size, 1);
	},
	async "a page that closes while it saves leaves no copy behind"() {
		const w = new World();
		const draft = await w.open({ ...byHand });
		w.server.holdRequests();
		draft.change({ title: "Mine" });
		const saved = draft.save();
		await settled();
		void draft.close();
		await w.server.release();
		holds(await saved, "it is saved");
		await settled();
		equals([w.server.copy, w.browser.rows.size, w.server.post.title], [null, 0, "Mine"]);
	},
	async "a save that fails after its page was closed leaves a copy"() {
		const w = new World();
		w.server.rules.title = () => true;
		const draft = await w.open({ ...byHand });
		w.server.holdRequests();
		draft.change({ title: "Mine" });
		const saved = draft.save().catch(() => "refused");
		await settled();
		const closed = draft.close();
		await w.server.release();
		equals(await saved, "refused");
		await closed;
		equals(w.server.copy?.title, "Mine");
	},
	async "what was typed while it was saved stays unsaved, and the rest is as the server stores it"() {
		const w = new World();
		w.server.writes = (post) => ({ ...post, title: post.title.trim() });
		const draft = await w.open({ ...byHand });
		w.server.holdRequests();
		draft.change({ title: " Mine ", body: "One" });
		const saved = draft.save();
		await settled();
		draft.change({ body: "Two" });
		await w.server.release();
		equals([await saved, draft.state.changed, draft.state.values.title], [false, ["body"], "Mine"]);
		equals(draft.state.saved.body, "One");
	},
	async "what was reviewed is joined with changes of others, and not saved unseen"() {
		const w = new World();
		const draft = await w.open({ autosaveAfter: null, codec: { refusals: undefined, reviewed: true } });
		w.server.change({ body: "Theirs" });
		draft.change({ title: "Mine" });
		const error = await draft.save().catch((e: unknown) => e);
		equals([(error as ApiError).code, w.server.post.title], ["REVISION_CONFLICT", "News"]);
		equals([draft.state.values.body, draft.state.joined?.fields], ["Theirs", ["body"]]);
		holds(await draft.save(), "seen, it is saved");
		equals([w.server.post.title, draft.state.joined], ["Mine", null]);
	},
	async "a record without a revision is read before it is saved"() {
		const w = new World();
		const server = { data: w.server.read().data, revision: null };
		const draft = await w.open({ autosaveAfter: null, codec: { refusals: undefined, loadsFirst: true }, server });
		w.server.change({ body: "Theirs" });
		draft.change({ title: "Mine" });
		const whole = async (_: Partial<Post>, values: Post) => {
			await w.server.put(values, undefined);
			return undefined;
		};
		holds(await draft.save(whole), "all is saved");
		equals([w.server.post.title, w.server.post.body], ["Mine", "Theirs"]);
		w.server.change({ title: "Theirs" });
		draft.change({ title: "Mine again" });
		equals([await draft.save(), stateOf(draft), w.server.post.title], [false, "conflict", "Theirs"]);
		draft.settle(new Set());
		holds(await draft.save(), "after the choice");
		equals(w.server.post.title, "Mine again");
	},
	async "a save without an answer has saved the values as they are"() {
		const w = new World();
		const draft = await w.open({ ...byHand });
		draft.change({ title: "Mine" });
		holds(await draft.save(async () => undefined), "all is saved");
		equals([stateOf(draft), draft.state.saved.title, w.browser.rows.size], ["saved", "Mine", 0]);
		draft.receive({ data: { ...blank, title: "As stored" }, revision: null });
		equals(draft.state.values.title, "As stored");
	},
	async "secrets are saved and never kept"() {
		const w = new World();
		const draft = await w.open({ autosaveAfter: null, codec: { refusals: undefined, secret: ["zone"] } });
		draft.change({ zone: "s3cret" });
		equals(w.browser.rows.size, 0);
		draft.change({ title: "Mine" });
		await w.time.pass(2000);
		holds(!JSON.stringify([w.server.copy, w.browser.text]).includes("s3cret"), "no copy has it");
		await draft.save();
		equals(w.server.post.zone, "s3cret");
	},
	async "what was refused by itself is sent again on demand"() {
		const w = new World();
		w.server.rules.title = () => true;
		const draft = await w.open();
		draft.change({ title: "Now right" });
		await w.time.pass(800);
		equals([stateOf(draft), await draft.save()], ["refused", false]);
		w.server.rules = {};
		holds(await draft.save(), "another rule holds now");
		equals(w.server.post.title, "Now right");
		await draft.save();
		equals(w.server.requests.length, 3, "without changes nothing is sent");
	},
	async "a record that begins to save itself saves what waits"() {
		const w = new World();
		const draft = await w.open({ autosaveAfter: null });
		draft.change({ title: "Mine" });
		await w.time.pass(5000);
		draft.configure({ autosaveAfter: 800, readOnly: false });
		await w.time.pass(800);
		equals(w.server.post.title, "Mine");
	},
};

const tests: Tests = { ...merging, ...saving, ...conflicts, ...restoring, ...ending, ...onDemand };

export default tests;
