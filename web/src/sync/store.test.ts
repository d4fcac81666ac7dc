import { ApiError, type Versioned } from "../api/client";
import { equals, holds, Random, type Tests } from "../base/testing";
import { type Key, otherTabs, type Row as Kept, readable } from "./tabCopies";
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
			const next = this.timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
			if (!next) break;
			this.timers = this.timers.filter((timer) => timer !== next);
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
const conflict = (author: string) =>
	new ApiError(412, "REVISION_CONFLICT", "changed meanwhile", {
		updated_by: { id: author, name: author, type: "user" },
	});

/** Server has one post, and the working copies of it. */
class Server {
	post: Post = { ...blank };
	revision = 1;
	author = "nobody";
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
	change(part: Partial<Post>, author = "Ada") {
		this.post = this.writes({ ...this.post, ...part });
		this.author = author;
		this.revision++;
	}
	/** Requests wait until they are released. */
	holdRequests() {
		this.gate = new Promise((resolve) => {
			this.openGate = resolve;
		});
	}
	async deleteDraft() {
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
		if (revision && revision !== `"${this.revision}"`) throw conflict(this.author);
		const fields = Object.entries(part).filter(([f, value]) => this.rules[f]?.(value));
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
			.map(([key, value]) => [key, structured(value)]),
	) as T;
}

/** Browser is what all tabs of a browser share. */
class Browser {
	rows = new Map<string, Kept & { value: object }>();
	closedTabs = new Set<string>();
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
			saveDraft: put,
			deleteDraft: (kind, id) => void this.rows.delete(keyOf(kind, id).join()),
			loadDraft: async <T extends object>(kind: string, id: string, merge: (a: T, b: T) => T) => {
				await turns(10);
				const all = [...this.rows.values()];
				const closedTabs = new Set(otherTabs(all, name).filter((t) => this.closedTabs.has(t)));
				const own = readable(all, name, closedTabs) as (Kept & { value: T })[];
				if (own.length === 0) return null;
				for (const row of own) this.rows.delete(row.key.join());
				const value = own.map((row) => row.value).reduce(merge);
				put(kind, id, value);
				return structured(value);
			},
		};
	}
	get text() {
		return JSON.stringify([...this.rows.values()].map((row) => row.value));
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
	refusals: (error) => {
		const found = error.fields.map((field) => ({ path: field.path, message: field.message }));
		return found.length > 0 ? found : [{ path: "", message: error.message }];
	},
});

let stores = 0;

type Options = Partial<Environment> & {
	codec?: Partial<Codec<Post, Post>>;
	server?: Versioned<Post>;
	/** What is typed at once. */
	initial?: Partial<Post>;
};

/** noStorage is the device of a browser that keeps nothing. */
const noStorage: Device = { saveDraft: () => undefined, deleteDraft: () => undefined, loadDraft: async () => null };

/** World is a server, a clock, and one browser with its first tab. */
class World {
	server = new Server();
	time = new Time();
	browser = new Browser();
	device = this.browser.tab("a");
	/** Opens the post in a tab; a draft saves itself after 800 ms unless it is said otherwise. */
	async open(options: Options = {}) {
		const { codec, server, initial, ...environment } = options;
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
		if (initial) draft.change(initial);
		await settled();
		return draft;
	}
	/** The page is gone in one moment: nothing more of it runs. */
	reload() {
		this.time = new Time();
		this.device = this.browser.tab("a");
	}
}

const stateOf = (draft: DraftStore<Post, Post>) => draft.state.status.kind;
const explicitSave = { autosaveAfter: null, codec: { refusals: undefined } };

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
		const result = merge3(bases, mine, { ...blank, title: "Theirs", zone: "CET", body: "Both" });
		equals(result.merged, { ...mine, zone: "CET" });
		equals(result.theirFields, ["zone"]);
		equals(result.conflicts, [{ group: "title", mine: { title: "Mine" }, theirs: { title: "Theirs" } }]);
	},
	"a group clashes as a whole, and stays as it was chosen"() {
		const dateGroup = (field: string) => (field === "date" || field === "zone" ? "when" : field);
		const merge = (side: "mine" | "theirs") =>
			merge3(
				{ mine: blank, theirs: blank },
				{ ...blank, date: "2 May", title: "Mine" },
				{ ...blank, zone: "CET", title: "Theirs" },
				dateGroup,
				(group) => (group === "when" ? side : "mine"),
			);
		equals(merge("mine").merged, { ...blank, date: "2 May", title: "Mine" });
		equals(merge("theirs").merged, { ...blank, zone: "CET", title: "Mine" });
		equals(
			merge("mine").conflicts.map((conflict) => conflict.group),
			["title", "when"],
		);
	},
	"whatever two sides change, nothing that only one of them changed is lost"() {
		const random = new Random(3);
		const names = Object.keys(blank) as (keyof Post)[];
		for (let round = 0; round < 300; round++) {
			const [mine, theirs]: Post[] = [{ ...blank }, { ...blank }] as [Post, Post];
			for (const name of names) {
				if (random.below(2) === 0) Object.assign(mine, { [name]: `m${random.below(2)}` });
				if (random.below(2) === 0) Object.assign(theirs, { [name]: `${random.of(["m", "t"])}${random.below(2)}` });
			}
			const result = merge3({ mine: blank, theirs: blank }, mine, theirs);
			for (const name of names) {
				const [changedByMe, changedByThem] = [mine[name] !== blank[name], theirs[name] !== blank[name]];
				equals(
					result.merged[name],
					changedByMe || !changedByThem ? mine[name] : theirs[name],
					`${name} of ${JSON.stringify([mine, theirs])}`,
				);
				const isConflict = changedByMe && changedByThem && mine[name] !== theirs[name];
				equals(
					result.conflicts.some((conflict) => conflict.group === name),
					isConflict,
					`a clash of ${name}`,
				);
			}
		}
	},
};

const saving: Tests = {
	async "a draft saves itself after a pause, only what was changed"() {
		const world = new World();
		const draft = await world.open();
		equals(stateOf(draft), "saved");
		draft.change({ title: "N" });
		await world.time.pass(500);
		draft.change({ title: "New" });
		equals(stateOf(draft), "unsaved");
		await world.time.pass(799);
		equals(world.server.requests, [], "before the pause is over");
		await world.time.pass(1);
		equals(world.server.requests, [{ title: "New" }]);
		equals([stateOf(draft), world.server.post.title, world.browser.rows.size], ["saved", "New", 0]);
		await world.time.pass(60_000);
		equals([world.server.requests.length, world.time.waiting], [1, 0]);
	},
	async "what is typed while a save is under way is saved after it, on the new revision"() {
		const world = new World();
		const draft = await world.open();
		world.server.holdRequests();
		draft.change({ title: "One" });
		await world.time.pass(800);
		equals(stateOf(draft), "saving");
		draft.change({ title: "Two", body: "Too" });
		await world.server.deleteDraft();
		equals(world.server.requests, [{ title: "One" }, { title: "Two", body: "Too" }]);
		equals([world.server.post.title, world.server.post.body, stateOf(draft)], ["Two", "Too", "saved"]);
	},
	async "an answer that was overtaken is not taken"() {
		const world = new World();
		const draft = await world.open();
		const old = world.server.read();
		draft.change({ title: "New" });
		await world.time.pass(800);
		draft.receive(old);
		equals([draft.state.values.title, draft.state.revision], ["New", '"2"']);
		await world.time.pass(5000);
		equals(world.server.requests.length, 1);
	},
	async "what is read while a save is under way is taken after it"() {
		const world = new World();
		const draft = await world.open();
		world.server.holdRequests();
		draft.change({ title: "New" });
		await world.time.pass(800);
		const before = world.server.read();
		draft.receive(before);
		await world.server.deleteDraft();
		equals([draft.state.values.title, draft.state.revision], ["New", '"2"']);
		world.server.change({ body: "Theirs" });
		draft.receive(world.server.read());
		equals([draft.state.values.body, draft.state.mergedChanges], ["Theirs", null], "without own work nothing is told");
	},
	async "what others save before the answer has come is taken after it"() {
		const world = new World();
		const draft = await world.open();
		let answer: () => void = () => undefined;
		world.server.answers = new Promise((resolve) => {
			answer = resolve;
		});
		draft.change({ title: "Mine" });
		await world.time.pass(800);
		world.server.change({ title: "Theirs, later" });
		draft.receive(world.server.read());
		equals([stateOf(draft), draft.state.values.title], ["saving", "Mine"]);
		answer();
		await settled();
		equals([stateOf(draft), draft.state.values.title, draft.state.revision], ["saved", "Theirs, later", '"3"']);
	},
	async "a space at the end stays while somebody goes on, though the server cuts it off"() {
		const world = new World();
		world.server.writes = (post) => ({ ...post, title: post.title.trim() });
		const draft = await world.open();
		draft.change({ title: "Good " });
		await world.time.pass(800);
		equals([world.server.post.title, draft.state.values.title, stateOf(draft)], ["Good", "Good ", "saved"]);
		world.server.change({ body: "Theirs" });
		draft.receive(world.server.read());
		equals([draft.state.values.title, draft.state.values.body, stateOf(draft)], ["Good ", "Theirs", "saved"]);
		draft.change({ title: "Good news" });
		await world.time.pass(800);
		equals(world.server.post.title, "Good news");
		equals(world.server.requests.length, 2);
	},
	async "ids that the server gives are taken, where a record says so"() {
		const world = new World();
		world.server.writes = (post) => ({ ...post, meta: [{ id: 7, name: "A" }] });
		const draft = await world.open({ codec: { takesAnswer: true } });
		draft.change({ meta: [{ name: "A" }] });
		await world.time.pass(800);
		holds(equal(draft.state.values.meta, [{ id: 7, name: "A" }]), JSON.stringify(draft.state.values.meta));
		await world.time.pass(10_000);
		equals([world.server.requests.length, stateOf(draft)], [1, "saved"]);
	},
	async "a refusal may name its group where its path does not"() {
		const world = new World();
		let refuses = true;
		world.server.fails = () => (refuses ? new ApiError(400, "INVALID_DATE", "no such day", {}) : null);
		const refusals = () => {
			refuses = false;
			return [{ path: "parameters.day", message: "no such day", group: "when" }];
		};
		const draft = await world.open({ codec: { refusals } });
		draft.change({ date: "32 May", title: "New" });
		await world.time.pass(800);
		equals([stateOf(draft), world.server.post.title, world.server.post.date], ["refused", "New", "1 May"]);
	},
	async "the order in which the server stores members is no change"() {
		const world = new World();
		const draft = await world.open();
		draft.change({ meta: { b: { d: 3, c: 2 }, a: 1 } });
		await world.time.pass(10_000);
		equals([world.server.requests.length, stateOf(draft), world.browser.rows.size], [0, "saved", 0]);
		draft.change({ meta: { a: 1, b: { c: 2, d: 4 } } });
		await world.time.pass(800);
		draft.receive(world.server.read());
		await world.time.pass(10_000);
		equals([world.server.requests.length, stateOf(draft)], [1, "saved"]);
	},
	async "what is changed back before it is saved is not sent, and is not kept"() {
		const world = new World();
		const draft = await world.open();
		draft.change({ title: "New" });
		equals(world.browser.rows.size, 1);
		draft.change({ title: "News" });
		equals(world.browser.rows.size, 0);
		await world.time.pass(10_000);
		equals([world.server.requests.length, world.server.copy], [0, null]);
	},
	async "what is refused stays and the rest is saved; it is sent again once it was changed"() {
		const world = new World();
		world.server.rules.title = (value) => value === "";
		const draft = await world.open();
		draft.change({ title: "", body: "Good" });
		await world.time.pass(800);
		equals(world.server.requests, [{ title: "", body: "Good" }, { body: "Good" }]);
		equals(draft.state.status, { kind: "refused", problems: [{ path: "title", message: "bad title" }] });
		equals([world.server.post.body, draft.state.values.title], ["Good", ""]);
		await world.time.pass(2000);
		equals([world.server.copy?.data.mine, world.browser.rows.size], [{ title: "" }, 0], "the working copy");
		draft.change({ body: "Better" });
		await world.time.pass(800);
		equals(world.server.requests.at(-1), { body: "Better" }, "the refused part is not sent again");
		draft.change({ title: "Right" });
		await world.time.pass(800);
		equals([stateOf(draft), world.server.post.title, world.server.copy], ["saved", "Right", null]);
	},
	async "a refusal of what was corrected meanwhile is about nothing"() {
		const world = new World();
		world.server.rules.title = (value) => value === "";
		const draft = await world.open();
		world.server.holdRequests();
		draft.change({ title: "" });
		await world.time.pass(800);
		draft.change({ title: "Right" });
		await world.server.deleteDraft();
		equals([stateOf(draft), world.server.post.title], ["saved", "Right"]);
		world.server.holdRequests();
		draft.change({ title: "" });
		await world.time.pass(800);
		draft.change({ title: "Right" });
		await world.server.deleteDraft();
		equals([stateOf(draft), world.browser.rows.size], ["saved", 0], "changed back meanwhile");
	},
	async "a refusal of no field is one of all that was sent"() {
		const world = new World();
		world.server.fails = () => new ApiError(409, "NOT_DRAFT", "it is being sent", {});
		const draft = await world.open();
		draft.change({ title: "New", date: "2 May" });
		await world.time.pass(800);
		const problems = ["when", "title"].map((path) => ({ path, message: "it is being sent" }));
		equals(draft.state.status, { kind: "refused", problems });
		equals(world.server.requests.length, 1);
	},
	async "without a network it is tried again and again, and nothing is lost meanwhile"() {
		const world = new World();
		const draft = await world.open();
		world.server.fails = offline;
		draft.change({ title: "New" });
		await world.time.pass(800);
		equals(stateOf(draft), "offline");
		for (const [ms, requests] of [
			[999, 1],
			[1, 2],
			[3000, 3],
			[9000, 4],
			[30_000, 5],
			[30_000, 6],
		] as const) {
			await world.time.pass(ms);
			equals(world.server.requests.length, requests, `requests after ${ms}`);
		}
		draft.change({ body: "Also" });
		holds(world.browser.text.includes("Also") && world.browser.text.includes("New"), "the device has it");
		world.server.fails = null;
		await draft.flush();
		equals([stateOf(draft), world.server.post.title, world.server.post.body], ["saved", "New", "Also"]);
		equals([world.browser.rows.size, world.server.copy], [0, null]);
	},
	async "a save whose session has ended is sent again once there is another one"() {
		const world = new World();
		const draft = await world.open();
		world.server.fails = () => new ApiError(401, "UNAUTHORIZED", "sign in", {});
		draft.change({ title: "New" });
		await world.time.pass(800);
		equals([stateOf(draft), draft.state.values.title, world.browser.rows.size], ["offline", "New", 1]);
		world.server.fails = null;
		await world.time.pass(1000);
		equals([stateOf(draft), world.server.post.title], ["saved", "New"]);
	},
	async "what a viewer types is neither kept nor saved, until the viewer may"() {
		const world = new World();
		const draft = await world.open({ readOnly: true });
		draft.change({ title: "New" });
		world.server.change({ body: "Theirs" });
		draft.receive(world.server.read());
		await draft.flush();
		await world.time.pass(60_000);
		const { title, body } = draft.state.values;
		equals([title, body, draft.state.isRestored], ["New", "Theirs", true]);
		equals([world.server.requests.length, world.server.copy, world.browser.rows.size], [0, null, 0]);
		draft.configure({ readOnly: false, autosaveAfter: 800 });
		await settled();
		equals(world.browser.rows.size, 1);
		await world.time.pass(800);
		equals(world.server.post.title, "New");
	},
};

const conflicts: Tests = {
	async "changes by others are joined, and saved on their revision"() {
		const world = new World();
		const draft = await world.open();
		world.server.change({ body: "Theirs" });
		draft.change({ title: "Mine" });
		await world.time.pass(800);
		equals([world.server.post.title, world.server.post.body, stateOf(draft)], ["Mine", "Theirs", "saved"]);
		equals([draft.state.mergedChanges?.fields, draft.state.mergedChanges?.author?.name], [["body"], "Ada"]);
		draft.dismissMergedChanges();
		equals(draft.state.mergedChanges, null);
	},
	async "what both made the same is no conflict, and needs no save"() {
		const world = new World();
		const draft = await world.open();
		world.server.change({ title: "Same" });
		draft.change({ title: "Same" });
		await world.time.pass(800);
		equals([world.server.requests.length, stateOf(draft), world.browser.rows.size], [1, "saved", 0]);
		equals([world.server.revision, draft.state.revision], [2, '"2"']);
	},
	async "what both changed waits for a choice: mine"() {
		const world = new World();
		const draft = await world.open();
		world.server.change({ title: "Theirs", body: "Also theirs" });
		draft.change({ title: "Mine" });
		await world.time.pass(800);
		equals([stateOf(draft), world.server.post.title], ["conflict", "Theirs"]);
		equals(draft.state.conflict?.conflicts, [{ group: "title", mine: { title: "Mine" }, theirs: { title: "Theirs" } }]);
		draft.change({ zone: "CET" });
		await world.time.pass(60_000);
		equals([world.server.requests.length, world.time.waiting], [1, 0], "requests and timers before the choice");
		holds(equal(world.server.copy?.data.mine, { title: "Mine", zone: "CET" }), "the working copy has both");
		draft.resolveConflict(new Set());
		await settled();
		const { title, body, zone } = world.server.post;
		equals([title, body, zone, stateOf(draft)], ["Mine", "Also theirs", "CET", "saved"]);
		await settled();
		equals([world.server.copy, world.browser.rows.size], [null, 0]);
	},
	async "what both changed waits for a choice: theirs"() {
		const world = new World();
		const draft = await world.open();
		world.server.change({ title: "Theirs" });
		draft.change({ title: "Mine" });
		await world.time.pass(800);
		draft.resolveConflict(new Set(["title"]));
		await settled();
		equals([stateOf(draft), draft.state.values.title, world.server.requests.length], ["saved", "Theirs", 1]);
		equals(world.browser.rows.size, 0);
	},
	async "a choice is made for each group"() {
		const world = new World();
		const draft = await world.open();
		world.server.change({ title: "Theirs", zone: "CET" });
		draft.change({ title: "Mine", date: "2 May" });
		await world.time.pass(800);
		equals(draft.state.conflict?.conflicts.map((conflict) => conflict.group).sort(), ["title", "when"]);
		draft.resolveConflict(new Set(["when"]));
		await settled();
		const { title, date, zone } = world.server.post;
		equals([title, date, zone], ["Mine", "1 May", "CET"]);
	},
	async "fields whose names have a dot clash each on its own"() {
		const world = new World();
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
			{
				device: world.device,
				copies: world.server.copies,
				clock: world.time,
				autosaveAfter: null,
				readOnly: false,
				mark: "m",
			},
			stored,
		);
		draft.change(at("Mine 2", "Bonn"));
		stored = { data: at("Theirs 3", "Kiel"), revision: '"2"' };
		draft.receive(stored);
		equals(
			draft.state.conflict?.conflicts.map((conflict) => conflict.group),
			["address.line"],
		);
		draft.resolveConflict(new Set(["address.line"]));
		await draft.save();
		equals(stored.data, at("Theirs 3", "Bonn"));
	},
	async "a conflict follows what is saved during it, and ends when nothing clashes any more"() {
		const world = new World();
		const draft = await world.open();
		const first = world.server.read();
		world.server.change({ title: "Theirs" });
		draft.change({ title: "Mine" });
		await world.time.pass(800);
		world.server.change({ title: "Theirs again" });
		draft.receive(world.server.read());
		equals(draft.state.conflict?.conflicts[0]?.theirs, { title: "Theirs again" });
		draft.receive(first);
		equals(draft.state.conflict?.conflicts[0]?.theirs, { title: "Theirs again" }, "after an overtaken answer");
		world.server.change({ title: "Mine", body: "Theirs" });
		draft.receive(world.server.read());
		equals([stateOf(draft), draft.state.values.body, world.server.requests.length], ["saved", "Theirs", 1]);
	},
	async "somebody who saves all the time stops nobody"() {
		const world = new World();
		const draft = await world.open();
		world.server.fails = () => {
			world.server.change({ body: `Busy ${world.server.revision}` });
			return null;
		};
		draft.change({ title: "Mine" });
		await world.time.pass(800);
		equals(world.server.requests.length, 6, "tries");
		world.server.fails = null;
		draft.change({ title: "Mine too" });
		await world.time.pass(800);
		equals([world.server.post.title, stateOf(draft)], ["Mine too", "saved"]);
	},
	async "a conflict that cannot be read about is tried again later"() {
		const world = new World();
		const draft = await world.open();
		world.server.change({ body: "Theirs" });
		let requests = 0;
		world.server.fails = () => (++requests > 1 ? offline() : null);
		draft.change({ title: "Mine" });
		await world.time.pass(800);
		equals(stateOf(draft), "offline");
		world.server.fails = null;
		await world.time.pass(1000);
		equals([world.server.post.title, world.server.post.body, stateOf(draft)], ["Mine", "Theirs", "saved"]);
	},
};

const restoring: Tests = {
	async "what was typed at once before a reload comes back, and is saved"() {
		const world = new World();
		(await world.open()).change({ title: "At once" });
		world.reload();
		const draft = await world.open();
		equals([draft.state.values.title, draft.state.restored, draft.state.isRestored], ["At once", "device", true]);
		await world.time.pass(800);
		equals([world.server.post.title, world.browser.rows.size], ["At once", 0]);
		equals(draft.state.restored, "device", "where it came from is told after the save");
	},
	async "what is typed before the device has answered is joined with what it has"() {
		const world = new World();
		(await world.open()).change({ title: "Before", body: "Before" });
		world.reload();
		world.server.holdRequests();
		const draft = await world.open();
		draft.change({ body: "After" });
		holds(world.browser.text.includes("After") && world.browser.text.includes("Before"), "the device has both");
		await world.server.deleteDraft();
		equals([draft.state.values.title, draft.state.values.body], ["Before", "After"]);
	},
	async "others saved the same part while it was closed: it asks"() {
		const world = new World();
		(await world.open()).change({ title: "Mine" });
		world.reload();
		world.server.change({ title: "Theirs", body: "Theirs" });
		const draft = await world.open();
		equals([stateOf(draft), draft.state.values.title], ["conflict", "Mine"]);
		await world.time.pass(60_000);
		equals(world.server.post.title, "Theirs");
		draft.resolveConflict(new Set());
		await settled();
		equals([world.server.post.title, world.server.post.body], ["Mine", "Theirs"]);
	},
	async "others saved another part while it was closed: it is joined"() {
		const world = new World();
		(await world.open()).change({ title: "Mine" });
		world.reload();
		world.server.change({ body: "Theirs" });
		const draft = await world.open();
		await world.time.pass(800);
		equals([world.server.post.title, world.server.post.body, stateOf(draft)], ["Mine", "Theirs", "saved"]);
	},
	async "what was saved does not come back if the page was left before its copy on the server was deleted"() {
		const world = new World();
		const never = new Promise<void>(() => {});
		const draft = await world.open({ ...explicitSave, copies: { ...world.server.copies, remove: () => never } });
		draft.change({ title: "First" });
		await world.time.pass(5000);
		equals(world.server.copy?.data.mine?.title, "First");
		draft.change({ title: "Second" });
		await draft.save();
		await settled();
		world.reload();
		const again = await world.open(explicitSave);
		equals(stateOf(again), "saved");
		equals(again.state.values.title, "Second");
		equals(again.state.restored, null);
		await settled();
		equals(world.server.copy, null);
		equals(world.browser.text, "[]");
	},
	async "what is typed while a copy on the server is deleted is kept, and deleted once it is saved"() {
		const world = new World();
		let release = () => {};
		const gate = new Promise<void>((resolve) => {
			release = resolve;
		});
		const { copies } = world.server;
		const draft = await world.open({
			...explicitSave,
			copies: { ...copies, remove: (...of) => gate.then(() => copies.remove(...of)) },
		});
		draft.change({ title: "First" });
		await world.time.pass(5000);
		await draft.save();
		draft.change({ body: "More" });
		await world.time.pass(5000);
		holds(world.browser.text.includes("More"), "it is kept on the device");
		release();
		await world.time.pass(5000);
		equals(world.server.copy?.data.mine?.body, "More");
		await draft.save();
		await world.time.pass(5000);
		equals(world.server.copy, null);
		equals(world.browser.text, "[]");
		draft.change({ body: "Last" });
		world.reload();
		const again = await world.open(explicitSave);
		equals(again.state.values.body, "Last");
	},
	async "a crash after the server had it, before it answered, asks nothing"() {
		const world = new World();
		const first = await world.open();
		world.server.losesAnswers = true;
		first.change({ title: "Sent" });
		await world.time.pass(800);
		first.change({ title: "Sent, and more" });
		world.reload();
		world.server.losesAnswers = false;
		const draft = await world.open();
		equals([stateOf(draft), draft.state.values.title], ["unsaved", "Sent, and more"]);
		await world.time.pass(800);
		equals(world.server.post.title, "Sent, and more");
	},
	async "an answer that was lost is no conflict with oneself"() {
		const world = new World();
		const draft = await world.open();
		world.server.losesAnswers = true;
		draft.change({ title: "Sent" });
		await world.time.pass(800);
		equals(stateOf(draft), "offline");
		world.server.losesAnswers = false;
		await world.time.pass(1000);
		equals([stateOf(draft), world.server.post.title, draft.state.mergedChanges], ["saved", "Sent", null]);
	},
	async "what arrived without an answer is no conflict with what was typed after it"() {
		const world = new World();
		const draft = await world.open();
		world.server.losesAnswers = true;
		draft.change({ title: "One" });
		await world.time.pass(800);
		world.server.fails = offline; // the second one does not arrive
		draft.change({ title: "Two" });
		await world.time.pass(800);
		draft.change({ title: "Three" });
		[world.server.losesAnswers, world.server.fails] = [false, null];
		await world.time.pass(800);
		equals([stateOf(draft), world.server.post.title], ["saved", "Three"]);
		world.server.change({ title: "One" });
		draft.change({ title: "Four" });
		await world.time.pass(800);
		equals(stateOf(draft), "conflict", "when somebody else writes it later");
	},
	async "what is typed while the device is read is kept, too"() {
		const world = new World();
		world.server.holdRequests();
		await world.open({ initial: { title: "At once" } });
		holds(world.browser.text.includes("At once"), `the device has ${world.browser.text}`);
	},
	async "a page that is left while it opens leaves no timer"() {
		const world = new World();
		world.server.holdRequests();
		const draft = await world.open({ ...explicitSave, initial: { title: "At once" } });
		void draft.close();
		await world.server.deleteDraft();
		equals([world.server.copy?.title, world.time.waiting], ["At once", 0]);
	},
	async "copies of this device and of another browser are joined"() {
		const world = new World();
		(await world.open({ ...explicitSave })).change({ title: "Here", body: "Here" });
		world.reload();
		world.server.copy = { title: "", base_revision: 1, data: { mark: "elsewhere", mine: { body: "There" } } };
		const draft = await world.open({ ...explicitSave });
		equals([draft.state.values.title, draft.state.values.body], ["Here", "There"]);
		draft.discard();
		await settled();
		equals([world.server.copy, world.browser.rows.size], [null, 0]);
	},
	async "without storage, a page that is opened again finds what the former one stored on the server"() {
		const world = new World();
		const first = await world.open({ ...explicitSave, device: noStorage });
		first.change({ title: "Mine" });
		void first.close();
		const draft = await world.open({ ...explicitSave, device: noStorage });
		equals([draft.state.values.title, draft.state.restored], ["Mine", "server"]);
	},
	async "two tabs keep their own: what one saves leaves the words of the other"() {
		const world = new World();
		const draft = await world.open();
		const store = await world.open({ device: world.browser.tab("b") });
		world.server.fails = offline;
		draft.change({ title: "In a" });
		await world.time.pass(800);
		world.server.fails = null;
		store.change({ body: "In b" });
		await store.flush();
		await store.close();
		holds(
			world.browser.text.includes("In a") && !world.browser.text.includes("In b"),
			`the device has ${world.browser.text}`,
		);
		world.reload(); // a goes away and comes back
		const again = await world.open();
		await world.time.pass(800);
		equals([world.server.post.title, world.server.post.body, stateOf(again)], ["In a", "In b", "saved"]);
	},
	async "what a tab left that is gone comes back in another one, what an open one has does not"() {
		const world = new World();
		(await world.open()).change({ title: "In a" });
		const draft = await world.open({ device: world.browser.tab("b") });
		equals([draft.state.restored, draft.state.values.title], [null, "News"]);
		world.browser.closedTabs.add("a");
		const store = await world.open({ device: world.browser.tab("c") });
		equals([store.state.restored, store.state.values.title], ["device", "In a"]);
	},
	async "a working copy of another browser comes back, and is deleted once it is saved"() {
		const world = new World();
		const other = await world.open({ ...explicitSave, device: new Browser().tab("x") });
		other.change({ title: "Elsewhere" });
		await world.time.pass(2000);
		equals(world.server.copy?.title, "Elsewhere");
		const draft = await world.open();
		equals([draft.state.values.title, draft.state.restored], ["Elsewhere", "server"]);
		await world.time.pass(800);
		await settled();
		equals([world.server.post.title, world.server.copy], ["Elsewhere", null]);
	},
	async "a copy that another browser stored since stays when this one saves"() {
		const world = new World();
		const draft = await world.open({ ...explicitSave });
		draft.change({ title: "Here" });
		await world.time.pass(2000);
		world.server.copy = { title: "", base_revision: 1, data: { mark: "elsewhere", mine: { body: "There" } } };
		await draft.save();
		await settled();
		equals([world.server.copy?.data.mark, world.browser.rows.size], ["elsewhere", 0]);
	},
	async "a copy without a mark, which a program stored, comes back"() {
		const world = new World();
		world.server.copy = { title: "", base_revision: null, data: { mine: { title: "Made" } } };
		const draft = await world.open();
		await world.time.pass(800);
		await settled();
		equals([world.server.post.title, world.server.copy, draft.state.restored], ["Made", null, "server"]);
	},
	async "of a copy, only fields of today with values of their kind come back"() {
		const world = new World();
		const mine = { title: 7, former: "x", body: "Good", zone: null } as unknown as Partial<Post>;
		world.server.copy = { title: "", base_revision: 1, data: { mine } };
		const draft = await world.open({ ...explicitSave });
		holds(equal(draft.state.values, { ...blank, body: "Good", zone: null }), JSON.stringify(draft.state.values));
	},
	async "the same record opened again waits for what the former page still saves"() {
		const world = new World();
		const first = await world.open();
		const old = world.server.read();
		first.change({ title: "Left behind" });
		world.server.holdRequests();
		void first.close();
		const draft = await world.open({ server: old });
		draft.change({ body: "Typed after" });
		await world.server.deleteDraft();
		await world.time.pass(800);
		equals([world.server.post.title, world.server.post.body], ["Left behind", "Typed after"]);
		equals([stateOf(draft), world.browser.rows.size], ["saved", 0]);
	},
};

const ending: Tests = {
	async "a record that is opened again does not wait for a network that hangs"() {
		const world = new World();
		const first = await world.open();
		let answer: () => void = () => undefined;
		world.server.answers = new Promise((resolve) => {
			answer = resolve;
		});
		first.change({ title: "Hangs" });
		void first.close();
		const draft = await world.open();
		equals(draft.state.isRestored, false);
		await world.time.pass(3000);
		equals([draft.state.isRestored, draft.state.values.title], [true, "Hangs"]);
		draft.change({ body: "Typed after" });
		answer();
		await settled();
		holds(world.browser.text.includes("Typed after"), "what the former page saves leaves what was typed since");
		await world.time.pass(800);
		equals([world.server.post.title, world.server.post.body, world.browser.rows.size], ["Hangs", "Typed after", 0]);
	},
	async "leaving saves at once, and a page that is gone takes the answer"() {
		const world = new World();
		const draft = await world.open();
		world.server.holdRequests();
		draft.change({ title: "Last" });
		void draft.close();
		await settled();
		equals([world.server.requests.length, world.browser.rows.size], [1, 1]);
		await world.server.deleteDraft();
		equals([world.server.post.title, world.browser.rows.size, world.time.waiting], ["Last", 0, 0]);
	},
	async "what is typed during a save is saved after it, though the page is gone"() {
		const world = new World();
		const draft = await world.open();
		world.server.holdRequests();
		draft.change({ title: "One" });
		await world.time.pass(800);
		draft.change({ title: "Two" });
		void draft.close();
		await world.server.deleteDraft();
		equals([world.server.post.title, world.browser.rows.size], ["Two", 0]);
	},
	async "what a page that goes cannot save is on the device, and nothing is tried again"() {
		const world = new World();
		const draft = await world.open();
		world.server.fails = offline;
		draft.change({ title: "Last" });
		void draft.close();
		await world.time.pass(120_000);
		equals([world.server.requests.length, world.browser.rows.size, world.time.waiting], [1, 1, 0]);
		world.server.fails = null;
		const again = await world.open();
		await world.time.pass(800);
		equals([world.server.post.title, again.state.restored], ["Last", "device"]);
	},
	async "a refused part goes into the working copy when the page is left"() {
		const world = new World();
		world.server.rules.title = () => true;
		const draft = await world.open();
		draft.change({ title: "" });
		await world.time.pass(800);
		await draft.close();
		equals([world.server.copy?.data.mine, world.browser.rows.size], [{ title: "" }, 0]);
	},
	async "discard drops what was typed, here and on the server"() {
		const world = new World();
		const draft = await world.open({ ...explicitSave });
		draft.change({ title: "Mine" });
		await world.time.pass(2000);
		holds(world.server.copy !== null, "the server has a copy");
		draft.discard();
		await settled();
		equals([draft.state.values.title, stateOf(draft)], ["News", "saved"]);
		equals([world.server.copy, world.browser.rows.size, world.time.waiting], [null, 0, 0]);
	},
	async "discard ends a conflict with what the server has"() {
		const world = new World();
		const draft = await world.open({ ...explicitSave });
		draft.change({ title: "Mine" });
		world.server.change({ title: "Theirs" });
		draft.receive(world.server.read());
		equals(stateOf(draft), "conflict");
		draft.discard();
		equals([stateOf(draft), draft.state.values.title, draft.state.revision], ["saved", "Theirs", '"2"']);
	},
	async "a listener hears of each change until it stops"() {
		const world = new World();
		const draft = await world.open();
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
		const world = new World();
		const draft = await world.open({ ...explicitSave });
		draft.change({ title: "Mine" });
		await world.time.pass(1999);
		equals([world.server.copy, world.browser.rows.size], [null, 1]);
		await world.time.pass(1);
		holds(equal(world.server.copy?.data.mine, { title: "Mine" }), "the copy has what was changed");
		equals([world.server.copy?.base_revision, world.browser.rows.size], [1, 0]);
		equals([world.server.requests.length, stateOf(draft)], [0, "unsaved"]);
		holds(await draft.save(), "all is saved");
		await settled();
		equals([world.server.post.title, world.server.copy, stateOf(draft)], ["Mine", null, "saved"]);
	},
	async "a working copy that cannot be stored is tried again"() {
		const world = new World();
		const draft = await world.open({ ...explicitSave });
		world.server.fails = offline;
		draft.change({ title: "Mine" });
		await world.time.pass(2500);
		equals([world.server.copy, world.browser.rows.size], [null, 1]);
		world.server.fails = null;
		await world.time.pass(1000);
		equals([world.server.copy?.title, world.browser.rows.size], ["Mine", 0]);
	},
	async "what is typed while the working copy is stored stays on the device"() {
		const world = new World();
		const draft = await world.open({ ...explicitSave });
		draft.change({ title: "One" });
		world.server.holdRequests();
		await world.time.pass(2000);
		draft.change({ title: "Two" });
		await world.server.deleteDraft();
		holds(
			world.browser.text.includes("Two") && world.server.copy?.title === "One",
			`the device has ${world.browser.text}`,
		);
		await world.time.pass(2000);
		equals([world.server.copy?.title, world.browser.rows.size], ["Two", 0]);
	},
	async "leaving stores the working copy at once"() {
		const world = new World();
		const draft = await world.open({ ...explicitSave });
		draft.change({ title: "Mine" });
		await draft.close();
		equals([world.server.copy?.title, world.server.requests.length], ["Mine", 0]);
		const again = await world.open({ ...explicitSave });
		equals([again.state.values.title, again.state.restored, stateOf(again)], ["Mine", "server", "unsaved"]);
		await again.save();
		equals(again.state.restored, null);
	},
	async "a save that is refused rejects, and what was typed stays"() {
		const world = new World();
		world.server.rules.title = () => true;
		const draft = await world.open({ ...explicitSave });
		draft.change({ title: "Bad" });
		const error = await draft.save().catch((error: unknown) => error);
		equals([(error as ApiError).status, stateOf(draft), draft.state.values.title], [400, "unsaved", "Bad"]);
		equals(world.browser.rows.size, 1);
	},
	async "a page that closes while it saves leaves no copy behind"() {
		const world = new World();
		const draft = await world.open({ ...explicitSave });
		world.server.holdRequests();
		draft.change({ title: "Mine" });
		const saved = draft.save();
		await settled();
		void draft.close();
		await world.server.deleteDraft();
		holds(await saved, "it is saved");
		await settled();
		equals([world.server.copy, world.browser.rows.size, world.server.post.title], [null, 0, "Mine"]);
	},
	async "a save that fails after its page was closed leaves a copy"() {
		const world = new World();
		world.server.rules.title = () => true;
		const draft = await world.open({ ...explicitSave });
		world.server.holdRequests();
		draft.change({ title: "Mine" });
		const saved = draft.save().catch(() => "refused");
		await settled();
		const closed = draft.close();
		await world.server.deleteDraft();
		equals(await saved, "refused");
		await closed;
		equals(world.server.copy?.title, "Mine");
	},
	async "what was typed while it was saved stays unsaved, and the rest is as the server stores it"() {
		const world = new World();
		world.server.writes = (post) => ({ ...post, title: post.title.trim() });
		const draft = await world.open({ ...explicitSave });
		world.server.holdRequests();
		draft.change({ title: " Mine ", body: "One" });
		const saved = draft.save();
		await settled();
		draft.change({ body: "Two" });
		await world.server.deleteDraft();
		equals([await saved, draft.state.changed, draft.state.values.title], [false, ["body"], "Mine"]);
		equals(draft.state.saved.body, "One");
	},
	async "what was reviewed is joined with changes of others, and not saved unseen"() {
		const world = new World();
		const draft = await world.open({ autosaveAfter: null, codec: { refusals: undefined, reviewed: true } });
		world.server.change({ body: "Theirs" });
		draft.change({ title: "Mine" });
		const error = await draft.save().catch((error: unknown) => error);
		equals([(error as ApiError).code, world.server.post.title], ["REVISION_CONFLICT", "News"]);
		equals([draft.state.values.body, draft.state.mergedChanges?.fields], ["Theirs", ["body"]]);
		holds(await draft.save(), "seen, it is saved");
		equals([world.server.post.title, draft.state.mergedChanges], ["Mine", null]);
	},
	async "a record without a revision is read before it is saved"() {
		const world = new World();
		const server = { data: world.server.read().data, revision: null };
		const draft = await world.open({ autosaveAfter: null, codec: { refusals: undefined, loadsFirst: true }, server });
		world.server.change({ body: "Theirs" });
		draft.change({ title: "Mine" });
		const saveAllFields = async (_: Partial<Post>, values: Post) => {
			await world.server.put(values, undefined);
			return undefined;
		};
		holds(await draft.save(saveAllFields), "all is saved");
		equals([world.server.post.title, world.server.post.body], ["Mine", "Theirs"]);
		world.server.change({ title: "Theirs" });
		draft.change({ title: "Mine again" });
		equals([await draft.save(), stateOf(draft), world.server.post.title], [false, "conflict", "Theirs"]);
		draft.resolveConflict(new Set());
		holds(await draft.save(), "after the choice");
		equals(world.server.post.title, "Mine again");
	},
	async "a save without an answer has saved the values as they are"() {
		const world = new World();
		const draft = await world.open({ ...explicitSave });
		draft.change({ title: "Mine" });
		holds(await draft.save(async () => undefined), "all is saved");
		equals([stateOf(draft), draft.state.saved.title, world.browser.rows.size], ["saved", "Mine", 0]);
		draft.receive({ data: { ...blank, title: "As stored" }, revision: null });
		equals(draft.state.values.title, "As stored");
	},
	async "secrets are saved and never kept"() {
		const world = new World();
		const draft = await world.open({ autosaveAfter: null, codec: { refusals: undefined, secret: ["zone"] } });
		draft.change({ zone: "s3cret" });
		equals(world.browser.rows.size, 0);
		draft.change({ title: "Mine" });
		await world.time.pass(2000);
		holds(!JSON.stringify([world.server.copy, world.browser.text]).includes("s3cret"), "no copy has it");
		await draft.save();
		equals(world.server.post.zone, "s3cret");
	},
	async "what was refused by itself is sent again on demand"() {
		const world = new World();
		world.server.rules.title = () => true;
		const draft = await world.open();
		draft.change({ title: "Now right" });
		await world.time.pass(800);
		equals([stateOf(draft), await draft.save()], ["refused", false]);
		world.server.rules = {};
		holds(await draft.save(), "another rule holds now");
		equals(world.server.post.title, "Now right");
		await draft.save();
		equals(world.server.requests.length, 3, "without changes nothing is sent");
	},
	async "a record that begins to save itself saves what waits"() {
		const world = new World();
		const draft = await world.open({ autosaveAfter: null });
		draft.change({ title: "Mine" });
		await world.time.pass(5000);
		draft.configure({ autosaveAfter: 800, readOnly: false });
		await world.time.pass(800);
		equals(world.server.post.title, "Mine");
	},
};

const tests: Tests = { ...merging, ...saving, ...conflicts, ...restoring, ...ending, ...onDemand };

export default tests;
