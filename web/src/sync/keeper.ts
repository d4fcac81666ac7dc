import { ApiError } from "../api/client";
import type { Copy, Device, Environment, Place } from "./draft";
import { equal } from "./merge";

// Unsaved work is kept twice: on this device in the task in which it is typed, and as a working copy on the server after
// a pause. Once the server has all of it, the device needs it no more.

/** Held is a copy on this device, with the marks of the copies of the server that it goes on from. */
type Held<D> = { value: Copy<D>; follows: string[] };

/** Line is the order in which the stores that a tab opens of one record use its copies. */
type Line = {
	/** The newest, which alone keeps copies on the device. */
	owner: object;
	/** Ends when a store that was closed has saved what it can: the next one reads after it. */
	closing: Promise<unknown> | null;
	writes: Promise<unknown> | null;
};

const lines = new WeakMap<Device, Map<string, Line>>();

/** How long after each failure of the server or the network something is sent again, in milliseconds. */
const pauses = [1000, 3000, 9000, 30_000];
export const pauseAfter = (failures: number) => pauses[Math.min(failures, pauses.length - 1)] as number;

/** isLater reports whether a request may succeed if it is sent again: the server was not reached, was busy, or wants a new session. */
export const isLater = (error: unknown): error is ApiError =>
	error instanceof ApiError && (error.status === 0 || error.status >= 500 || [401, 408, 429].includes(error.status));

/** How many milliseconds the store of a record waits for the one before it. */
const longestWait = 3000;

/** After how many milliseconds without a change a working copy is stored. */
const copyAfter = 2000;

const joinCopies = <D>(a: Partial<Copy<D>>, b: Partial<Copy<D>>): Copy<D> => ({
	mine: { ...a.mine, ...b.mine } as Partial<D>,
	from: { ...b.from, ...a.from } as Partial<D>, // the work began with what the earlier one had
	sent: { ...a.sent, ...b.sent } as Partial<D>,
});

const joinHeld = <D>(a: Held<D>, b: Held<D>): Held<D> => ({
	value: joinCopies(a.value, b.value),
	follows: [...new Set([...a.follows, ...b.follows])],
});

/** Draft is what is kept, as it is now. */
type Draft<D> = { copy: () => Copy<D>; title: () => string; revision: () => number | null };

/** Keeper keeps the unsaved work on one record. */
export class Keeper<D> {
	private readonly line: Line;
	private older: Held<D> | null | undefined; // what this device has, until it is brought back; undefined before it is read
	private holds = false;
	private stored = false; // the server may have a copy
	private due = false; // the server lacks what was changed last
	private closed = false;
	private failures = 0;
	private cancel: (() => void) | null = null;
	private follows: string[];

	constructor(
		private readonly kind: string,
		private readonly id: string,
		private readonly environment: Environment,
		private readonly draft: Draft<D>,
	) {
		this.follows = [environment.mark, ""]; // a copy that a program stored has no mark
		const all = lines.get(environment.device) ?? new Map<string, Line>();
		lines.set(environment.device, all);
		this.line = all.get(`${kind}/${id}`) ?? { owner: this, closing: null, writes: null };
		this.line.owner = this;
		all.set(`${kind}/${id}`, this.line);
	}

	/** Finds what was kept when the record was open last. */
	async open(): Promise<{ copy: Partial<Copy<D>>; place: Place } | null> {
		const { kind, id, line } = this;
		const { device, copies, mark } = this.environment;
		const read = () => copies.read(kind, id).catch(() => null);
		// Without a wait it is read with what else the page asks for.
		const reading = line.closing || line.writes ? this.settled().then(read) : read();
		this.older = await device.held<Held<D>>(kind, id, joinHeld);
		this.keep(); // what was typed meanwhile
		const stored = await reading;
		const own = this.older;
		this.older = null;
		this.holds ||= own !== null;
		this.stored ||= stored !== null || own !== null;
		const data = (stored?.data ?? {}) as Partial<Copy<D>> & { mark?: string };
		// A copy that this device did not know was stored by another browser: it is the later one.
		const others = stored !== null && !own?.follows.includes(data.mark ?? "");
		const marks = stored ? [data.mark ?? ""] : [];
		this.follows = [...new Set([mark, "", ...(own?.follows ?? []), ...marks])];
		if (own) return { copy: others ? joinCopies(own.value, data) : own.value, place: "device" };
		return stored && { copy: data, place: "server" };
	}

	/** Keeps what is not saved, or drops it if all is saved. */
	keep(): void {
		if (this.older === undefined) return;
		this.cancel?.();
		this.cancel = null;
		const value = this.draft.copy();
		this.due = Object.keys(value.mine).length > 0;
		const own = this.line.owner === this;
		const { device, clock } = this.environment;
		if (!this.due && !this.older) {
			this.drop();
			return;
		}
		const held: Held<D> = { value, follows: this.follows };
		if (own) device.hold(this.kind, this.id, this.older ? joinHeld(this.older, held) : held);
		this.holds = true;
		if (this.due && !this.closed) this.cancel = clock.after(copyAfter, () => void this.store());
	}

	/** Stores the working copy now, if it waits; resolves when that has ended, well or not. */
	store(): Promise<unknown> | undefined {
		const { environment, kind, id, draft } = this;
		if (!this.due) return undefined;
		this.cancel?.();
		this.cancel = null;
		this.due = false;
		this.stored = true;
		const sent = draft.copy();
		const [title, base_revision] = [draft.title().slice(0, 200), draft.revision()];
		return this.write(async () => {
			try {
				await environment.copies.write(kind, id, { title, base_revision, data: { ...sent, mark: environment.mark } });
				this.failures = 0;
				if (this.line.owner === this && !this.older && equal(draft.copy(), sent)) environment.device.release(kind, id);
			} catch (error) {
				if (!isLater(error) || !this.stored) return;
				this.due = true;
				if (!this.closed) this.cancel ??= environment.clock.after(pauseAfter(this.failures++), () => void this.store());
			}
		});
	}

	/** Ends the keeping; `last` ends when all that could be saved is saved. */
	close(last: Promise<unknown>): void {
		this.closed = true;
		this.cancel?.();
		this.cancel = null;
		const { line } = this;
		const closing = Promise.allSettled([line.closing, last]).then(() => {
			if (line.closing === closing) line.closing = null;
		});
		line.closing = closing;
	}

	private drop() {
		if (this.holds && this.line.owner === this) this.environment.device.release(this.kind, this.id);
		this.holds = false;
		if (!this.stored) return;
		this.stored = false;
		void this.write(() => this.environment.copies.remove(this.kind, this.id, this.follows));
	}

	/** Writes go one after the other. */
	private write(act: () => Promise<void>): Promise<unknown> {
		const { line } = this;
		const writes = Promise.resolve(line.writes)
			.then(act)
			.catch(() => undefined)
			.finally(() => {
				if (line.writes === writes) line.writes = null;
			});
		line.writes = writes;
		return writes;
	}

	/** Waits until a store of the same record that was closed has saved what it can; not for a network that hangs. */
	private settled(): Promise<void> {
		return new Promise((resolve) => {
			const cancel = this.environment.clock.after(longestWait, resolve);
			void Promise.resolve(this.line.closing)
				.then(() => this.line.writes)
				.then(cancel)
				.then(resolve);
		});
	}
}
