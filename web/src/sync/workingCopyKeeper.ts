import { ApiError } from "../api/client";
import type { Copy, Device, Environment, Place } from "./draft";
import { equal } from "./merge";

// Unsaved work is kept twice: on this device in the task in which it is typed, and as a working copy on the server after
// a pause. Once the server has all of it, the copy on the device is deleted.

/** Held is a copy on this device, with the marks of the copies of the server that it goes on from. */
type DeviceCopy<D> = { value: Copy<D>; follows: string[] };

/** RecordState is the order in which the stores that a tab opens of one record use its copies. */
type RecordState = {
	/** The newest, which alone keeps copies on the device. */
	owner: object;
	/** Ends when a store that was closed has saved what it can: the next one reads after it. */
	closing: Promise<unknown> | null;
	writes: Promise<unknown> | null;
};

const recordStates = new WeakMap<Device, Map<string, RecordState>>();

/** How long after each failure of the server or the network something is sent again, in milliseconds. */
const retryDelays = [1000, 3000, 9000, 30_000];
export const retryDelay = (failures: number) => retryDelays[Math.min(failures, retryDelays.length - 1)] as number;

/** isRetryable reports whether a request may succeed if it is sent again: the server was not reached, was busy, or wants a new session. */
export const isRetryable = (error: unknown): error is ApiError =>
	error instanceof ApiError && (error.status === 0 || error.status >= 500 || [401, 408, 429].includes(error.status));

/** How many milliseconds the store of a record waits for the one before it. */
const maxWait = 3000;

/** After how many milliseconds without a change a working copy is stored. */
const copyDelay = 2000;

const mergeCopies = <D>(a: Partial<Copy<D>>, b: Partial<Copy<D>>): Copy<D> => ({
	mine: { ...a.mine, ...b.mine } as Partial<D>,
	from: { ...b.from, ...a.from } as Partial<D>, // the work began with what the earlier one had
	sent: { ...a.sent, ...b.sent } as Partial<D>,
});

const mergeDeviceCopies = <D>(a: DeviceCopy<D>, b: DeviceCopy<D>): DeviceCopy<D> => ({
	value: mergeCopies(a.value, b.value),
	follows: [...new Set([...a.follows, ...b.follows])],
});

/** Draft is what is kept, as it is now. */
type Draft<D> = { copy: () => Copy<D>; title: () => string; revision: () => number | null };

/** Keeper keeps the unsaved work on one record. */
export class Keeper<D> {
	private readonly record: RecordState;
	private deviceCopy: DeviceCopy<D> | null | undefined; // what this device has, until it is restored; undefined before it is read
	private onDevice = false;
	private onServer = false; // the server may have a copy
	private removing = false; // the server is asked to delete it
	private dirty = false; // the server lacks what was changed last
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
		const all = recordStates.get(environment.device) ?? new Map<string, RecordState>();
		recordStates.set(environment.device, all);
		this.record = all.get(`${kind}/${id}`) ?? { owner: this, closing: null, writes: null };
		this.record.owner = this;
		all.set(`${kind}/${id}`, this.record);
	}

	/** Finds what was kept when the record was open last. */
	async open(): Promise<{ copy: Partial<Copy<D>>; place: Place } | null> {
		const { kind, id, record } = this;
		const { device, copies, mark } = this.environment;
		const read = () => copies.read(kind, id).catch(() => null);
		// Without a wait it is read with what else the page asks for.
		const reading = record.closing || record.writes ? this.waitForClosing().then(read) : read();
		this.deviceCopy = await device.loadDraft<DeviceCopy<D>>(kind, id, mergeDeviceCopies);
		this.update(); // what was typed meanwhile
		const stored = await reading;
		const deviceCopy = this.deviceCopy;
		this.deviceCopy = null;
		this.onDevice ||= deviceCopy !== null;
		this.onServer ||= stored !== null || deviceCopy !== null;
		const data = (stored?.data ?? {}) as Partial<Copy<D>> & { mark?: string };
		// A copy that this device did not know was stored by another browser: it is the later one.
		const fromAnotherBrowser = stored !== null && !deviceCopy?.follows.includes(data.mark ?? "");
		const marks = stored ? [data.mark ?? ""] : [];
		this.follows = [...new Set([mark, "", ...(deviceCopy?.follows ?? []), ...marks])];
		if (deviceCopy)
			return { copy: fromAnotherBrowser ? mergeCopies(deviceCopy.value, data) : deviceCopy.value, place: "device" };
		return stored && { copy: data, place: "server" };
	}

	/** Keeps what is not saved, or drops it if all is saved. */
	update(): void {
		if (this.deviceCopy === undefined) return;
		this.cancel?.();
		this.cancel = null;
		const value = this.draft.copy();
		this.dirty = Object.keys(value.mine).length > 0;
		const isOwner = this.record.owner === this;
		const { device, clock } = this.environment;
		if (!this.dirty && !this.deviceCopy) {
			this.remove();
			return;
		}
		const copy: DeviceCopy<D> = { value, follows: this.follows };
		if (isOwner)
			device.saveDraft(this.kind, this.id, this.deviceCopy ? mergeDeviceCopies(this.deviceCopy, copy) : copy);
		this.onDevice = true;
		if (this.dirty && !this.closed) this.cancel = clock.after(copyDelay, () => void this.store());
	}

	/** Stores the working copy now, if it waits; resolves when that has ended, well or not. */
	store(): Promise<unknown> | undefined {
		const { environment, kind, id, draft } = this;
		if (!this.dirty) return undefined;
		this.cancel?.();
		this.cancel = null;
		this.dirty = false;
		this.onServer = true;
		const sent = draft.copy();
		const [title, base_revision] = [draft.title().slice(0, 200), draft.revision()];
		return this.write(async () => {
			try {
				await environment.copies.write(kind, id, { title, base_revision, data: { ...sent, mark: environment.mark } });
				this.failures = 0;
				if (this.record.owner === this && !this.deviceCopy && equal(draft.copy(), sent))
					environment.device.deleteDraft(kind, id);
			} catch (error) {
				if (!isRetryable(error) || !this.onServer) return;
				this.dirty = true;
				if (!this.closed) this.cancel ??= environment.clock.after(retryDelay(this.failures++), () => void this.store());
			}
		});
	}

	/** Ends the keeping; `last` ends when all that could be saved is saved. */
	close(last: Promise<unknown>): void {
		this.closed = true;
		this.cancel?.();
		this.cancel = null;
		const { record } = this;
		const closing = Promise.allSettled([record.closing, last]).then(() => {
			if (record.closing === closing) record.closing = null;
		});
		record.closing = closing;
	}

	private remove() {
		if (this.removing) return;
		if (!this.onServer) {
			this.removeFromDevice();
			return;
		}
		this.onServer = false;
		this.removing = true;
		// If the page is left before the server has deleted its copy, this one says to the next visit that all of it is saved.
		const { kind, id, environment, follows } = this;
		if (this.record.owner === this) environment.device.saveDraft(kind, id, { value: this.draft.copy(), follows });
		this.onDevice = true;
		void this.write(async () => {
			try {
				await environment.copies.remove(kind, id, follows);
			} catch {
				this.onServer = true; // it is asked again after the next change
				return;
			} finally {
				this.removing = false;
			}
			if (Object.keys(this.draft.copy().mine).length === 0) this.update();
		});
	}

	private removeFromDevice() {
		if (this.onDevice && this.record.owner === this) this.environment.device.deleteDraft(this.kind, this.id);
		this.onDevice = false;
	}

	/** Writes go one after the other. */
	private write(operation: () => Promise<void>): Promise<unknown> {
		const { record } = this;
		const writes = Promise.resolve(record.writes)
			.then(operation)
			.catch(() => undefined)
			.finally(() => {
				if (record.writes === writes) record.writes = null;
			});
		record.writes = writes;
		return writes;
	}

	/** Waits until a store of the same record that was closed has saved what it can; not for a network that hangs. */
	private waitForClosing(): Promise<void> {
		return new Promise((resolve) => {
			const cancel = this.environment.clock.after(maxWait, resolve);
			void Promise.resolve(this.record.closing)
				.then(() => this.record.writes)
				.then(cancel)
				.then(resolve);
		});
	}
}
