import { ApiError, isConflict, type Versioned } from "../api/client";
import type { Actor } from "../api/schema";
import {
	type Codec,
	type Conflict,
	type Copy,
	type Environment,
	type MergedChanges,
	type Place,
	type Problem,
	revisionNumber,
	type State,
	type Status,
} from "./draft";
import { isRetryable, Keeper, retryDelay } from "./workingCopyKeeper";
import { type Choice, equal, fieldsByGroup, merge3, pick } from "./merge";

/** Base is what the server has: the fields as they were sent, and as it stores them. */
type Base<Row, D> = { row: Row; revision: string | null; fields: D; stored: D };

/** How often a save is tried again when others change the record meanwhile. */
const maxConflicts = 5;

/** How many saves without an answer are remembered. */
const maxUnanswered = 20;

/**
 * DraftStore holds what somebody writes of a record until the server has it. It is kept as it is typed, saved by itself
 * or on demand, and joined with what others save meanwhile; where both sides changed the same, nothing is saved before
 * a choice.
 */
export class DraftStore<Row, D extends object> {
	state: State<Row, D>;
	private readonly listeners = new Set<() => void>();
	private base: Base<Row, D>;
	private mine: D;
	private sent: Partial<D> = {}; // what was sent last, until it is answered
	private unanswered: Partial<D>[] = []; // what was sent without an answer: the server may have it
	private readonly refused = new Map<string, { values: Partial<D>; problems: Problem[] }>(); // by group
	private conflict: Conflict<Row> | null = null;
	private mergedChanges: MergedChanges<Row> | null = null;
	private restored: Place | null = null;
	private isRestored = false;
	private savedAt: Date | null = null;
	private failure: unknown = null;
	private failures = 0;
	private saving = false;
	private closed = false;
	private running: Promise<unknown> = Promise.resolve(); // saves go one after the other
	private pendingAnswer: { server: Versioned<Row>; author: Actor | null } | null = null; // came while something was sent
	private cancelSave: (() => void) | null = null;
	private keeper: Keeper<D> | null = null;

	constructor(
		readonly codec: Codec<Row, D>,
		private readonly environment: Environment,
		server: Versioned<Row>,
	) {
		const fields = codec.fieldsOf(server.data);
		this.base = { row: server.data, revision: server.revision, fields, stored: fields };
		this.mine = fields;
		this.state = this.snapshot();
	}

	subscribe = (listener: () => void) => {
		this.listeners.add(listener);
		return () => void this.listeners.delete(listener);
	};

	/** Brings back what was not saved when the record was open last. */
	async open(): Promise<void> {
		if (!this.environment.readOnly && !this.keeper) {
			this.keeper = new Keeper<D>(this.codec.kind, this.codec.id, this.environment, {
				copy: () => this.copy(),
				title: () => this.codec.title(this.mine, this.base.row),
				revision: () => revisionNumber(this.base.revision),
			});
			const restored = await this.keeper.open();
			if (restored) this.restore(restored.copy, restored.place);
		}
		this.isRestored = true;
		this.afterChange();
	}

	/** Takes what the server has. */
	receive(server: Versioned<Row>, author: Actor | null = null): void {
		if (this.saving) {
			this.pendingAnswer = { server, author };
			return;
		}
		const [serverRevision, baseRevision] = [server.revision, this.base.revision].map(revisionNumber);
		const newestRevision = this.conflict ? revisionNumber(this.conflict.theirs.revision) : baseRevision;
		if (serverRevision && newestRevision && serverRevision < newestRevision) return; // an answer that was overtaken
		if (serverRevision && serverRevision === baseRevision) this.base = { ...this.base, row: server.data };
		else this.mergeServer(server, author);
		this.afterChange();
	}

	/** Changes fields. */
	change(part: Partial<D>): void {
		this.mine = { ...this.mine, ...part };
		this.afterChange();
	}

	/** Sends now what waits: to be saved, or, if that is not possible or on demand, as a working copy. It resolves when that has ended, well or not. */
	flush(): Promise<unknown> {
		this.stopTimer();
		return this.run(async () => {
			const { autosaveAfter, readOnly } = this.environment;
			if (autosaveAfter !== null && !readOnly && this.unsavedFields().length > 0) await this.send(false);
			await this.keeper?.store();
		});
	}

	/** Saves what was changed, also what was refused before. It reports whether all is saved; it rejects with the error of the server unless the codec knows refusals. */
	save(write: Codec<Row, D>["save"] = this.codec.save): Promise<boolean> {
		this.stopTimer();
		return this.run(() => {
			this.refused.clear();
			return this.send(true, write);
		});
	}

	/** Ends a conflict: in the groups that are named their version stays, in the others the own one. */
	resolveConflict(theirs: ReadonlySet<string>): void {
		if (!this.conflict) return;
		const { theirs: server, author } = this.conflict;
		this.mergeServer(server, author, (group) => (theirs.has(group) ? "theirs" : "mine"));
		this.afterChange();
		if (this.environment.autosaveAfter !== null) void this.flush();
	}

	/** Drops what is not saved. */
	discard(): void {
		if (this.conflict) this.setBase(this.conflict.theirs);
		this.conflict = this.mergedChanges = this.restored = null;
		this.mine = this.base.fields;
		this.afterChange();
	}

	/** Takes away the note of what was joined. */
	dismissMergedChanges(): void {
		this.mergedChanges = null;
		this.emit();
	}

	/** Follows a record that begins or ends to save itself, or that may not be changed any more. */
	configure(part: Pick<Environment, "autosaveAfter" | "readOnly">): void {
		const { autosaveAfter, readOnly } = this.environment;
		if (autosaveAfter === part.autosaveAfter && readOnly === part.readOnly) return;
		Object.assign(this.environment, part);
		if (readOnly && this.isRestored) void this.open();
		this.afterChange();
	}

	/** Ends the store: what waits is sent, and nothing is tried again. */
	close(): Promise<unknown> {
		this.closed = true;
		const last = this.flush();
		this.keeper?.close(last);
		return last;
	}

	private same(a: unknown, b: unknown) {
		return (this.codec.equal ?? equal)(a, b);
	}

	private sameFields(part: Partial<D>, values: D) {
		return (Object.keys(part) as (keyof D)[]).every((field) => this.same(part[field], values[field]));
	}

	private groupOf = (path: string) =>
		this.codec.groupOf?.(path) ?? (path in this.mine ? path : path.replace(/[.[].*$/, ""));

	private changed() {
		return (Object.keys(this.mine) as (keyof D & string)[]).filter(
			(field) => !this.same(this.mine[field], this.base.fields[field]),
		);
	}

	/** The fields that are to be sent: not what was refused, until it is changed. */
	private unsavedFields() {
		const isRefused = (group: string) => {
			const refused = this.refused.get(group);
			return refused !== undefined && this.sameFields(refused.values, this.mine);
		};
		return this.changed().filter((field) => !isRefused(this.groupOf(field)));
	}

	private copy(): Copy<D> {
		const fields = this.changed().filter((field) => !this.codec.secret?.includes(field));
		const copy = { mine: pick(this.mine, fields), from: pick(this.base.stored, fields), sent: pick(this.sent, fields) };
		return this.refused.size > 0 ? { ...copy, problems: this.refused.size } : copy;
	}

	private snapshot(): State<Row, D> {
		const { row, revision, fields: saved } = this.base;
		const { mine: values, conflict, mergedChanges, restored, isRestored } = this;
		const changed = this.changed();
		const status = this.status(changed);
		return { row, revision, saved, values, changed, status, conflict, mergedChanges, restored, isRestored };
	}

	private status(changed: string[]): Status {
		if (this.conflict) return { kind: "conflict" };
		if (this.saving) return { kind: "saving" };
		if (this.failure !== null) return { kind: "offline", error: this.failure };
		if (this.refused.size > 0)
			return { kind: "refused", problems: [...this.refused.values()].flatMap((refusal) => refusal.problems) };
		return changed.length > 0 ? { kind: "unsaved" } : { kind: "saved", at: this.savedAt };
	}

	private emit() {
		this.state = this.snapshot();
		for (const listener of this.listeners) listener();
	}

	/** Keeps what was changed, and sees to it that it is saved. */
	private afterChange() {
		for (const [group, { values }] of this.refused)
			if (this.sameFields(pick(this.mine, Object.keys(values) as (keyof D)[]), this.base.fields))
				this.refused.delete(group);
		if (this.changed().length === 0) this.failure = null;
		this.keeper?.update();
		const { autosaveAfter, clock, readOnly } = this.environment;
		if (!this.saving) this.stopTimer();
		if (!readOnly && !this.closed && !this.saving && autosaveAfter !== null && this.unsavedFields().length > 0)
			this.cancelSave = clock.after(autosaveAfter, () => void this.flush());
		this.emit();
	}

	private stopTimer() {
		this.cancelSave?.();
		this.cancelSave = null;
	}

	private run<T>(operation: () => Promise<T>): Promise<T> {
		const result = this.running.then(operation);
		this.running = result.catch(() => undefined);
		return result;
	}

	/** Goes on with the own values joined with those of the server. It reports whether they clash. */
	private mergeServer(server: Versioned<Row>, author: Actor | null, choose?: Choice): boolean {
		const theirs = this.codec.fieldsOf(server.data);
		// What arrived without an answer is no change of somebody else.
		const savedBefore = (Object.keys(theirs) as (keyof D)[]).filter((field) =>
			this.unanswered.some((sent) => field in sent && this.same(sent[field], theirs[field])),
		);
		const own = pick(theirs, savedBefore);
		const bases = { mine: { ...this.base.fields, ...own }, theirs: { ...this.base.stored, ...own } };
		const { merged, conflicts, theirFields } = this.codec.merge
			? this.codec.merge(bases, this.mine, theirs, choose)
			: merge3(bases, this.mine, theirs, this.groupOf, choose);
		const needsChoice = conflicts.length > 0 && !choose;
		this.conflict = needsChoice ? { theirs: server, conflicts, author } : null;
		if (needsChoice) return true;
		if (theirFields.length > 0 && this.changed().length > 0)
			this.mergedChanges = { fields: theirFields, author, row: server.data };
		this.setBase(server);
		this.mine = merged;
		return false;
	}

	/** Takes what the server has as the base. What it did not change stays as it was typed. */
	private setBase(server: Versioned<Row>) {
		const stored = this.codec.fieldsOf(server.data);
		const unchanged = (Object.keys(stored) as (keyof D)[]).filter((field) =>
			this.same(stored[field], this.base.stored[field]),
		);
		const fields = { ...stored, ...pick(this.base.fields, unchanged) };
		this.base = { row: server.data, revision: server.revision, fields, stored };
	}

	private restore(copy: Partial<Copy<D>>, place: Place) {
		const edited = this.changed();
		const { stored } = this.base;
		const known = (Object.keys(copy.mine ?? {}) as (keyof D & string)[]).filter(
			(field) => field in stored && !edited.includes(field) && hasSameShape(copy.mine?.[field], stored[field]),
		);
		const from = pick(copy.from ?? {}, known);
		const mine = pick(copy.mine ?? {}, known);
		if (this.sameFields(mine, this.base.fields)) return;
		this.restored = place;
		this.unanswered = [copy.sent ?? {}];
		this.mine = { ...this.mine, ...mine };
		// It is joined as if the record had been open since the work began.
		const server = { data: this.base.row, revision: this.base.revision };
		this.base = { ...this.base, fields: { ...this.base.fields, ...from }, stored: { ...stored, ...from } };
		this.mergeServer(server, null);
	}

	/** Sends what was changed until all is saved or refused. It reports whether all is saved. */
	private async send(explicit: boolean, write: Codec<Row, D>["save"] = this.codec.save): Promise<boolean> {
		let conflicts = 0;
		// What is saved on demand as a whole is sent also if nothing was changed.
		let complete = explicit && !this.codec.refusals;
		this.saving = true;
		this.failure = null;
		try {
			if (explicit && this.codec.loadsFirst) this.mergeLoaded(await this.codec.load(), null);
			while (!this.conflict && (complete || this.unsavedFields().length > 0)) {
				const values = this.mine;
				const unsavedFields = this.unsavedFields();
				this.sent = pick(values, unsavedFields);
				this.afterChange();
				try {
					const response = await write(this.sent, values, this.base.revision ?? undefined);
					this.handleResponse(values, unsavedFields, response);
					complete = false;
					if (this.environment.autosaveAfter === null) break; // what was typed meanwhile is not to be saved yet
				} catch (e) {
					const error = isConflict(e) && conflicts++ < maxConflicts ? await this.reload(e as ApiError) : e;
					if (error === null && explicit && this.codec.reviewed) throw e;
					if (error !== null && !this.handleError(error)) return false;
				}
			}
			return this.changed().length === 0;
		} finally {
			this.saving = false;
			const { pendingAnswer } = this;
			this.pendingAnswer = null;
			if (pendingAnswer) this.receive(pendingAnswer.server, pendingAnswer.author);
			this.keeper?.update();
			this.emit();
		}
	}

	/** Reads the record after a conflict, and joins it. It returns an error, or null. */
	private async reload(conflict: ApiError): Promise<unknown> {
		try {
			const theirs = await this.codec.load();
			this.sent = {};
			this.mergeLoaded(theirs, (conflict.details.updated_by as Actor | undefined) ?? null);
			return null;
		} catch (error) {
			return error;
		}
	}

	/** Joins what was read of the record in order to save it. */
	private mergeLoaded(server: Versioned<Row>, author: Actor | null) {
		if (!server.revision || server.revision !== this.base.revision) this.mergeServer(server, author);
	}

	private handleResponse(values: D, unsavedFields: (keyof D & string)[], response: Versioned<Row> | undefined) {
		const onDemand = this.environment.autosaveAfter === null;
		this.failures = 0;
		this.sent = {};
		this.unanswered = [];
		for (const field of unsavedFields) this.refused.delete(this.groupOf(field));
		this.savedAt = this.environment.clock.now();
		if (onDemand) this.mergedChanges = this.restored = null;
		const before = this.base;
		const unedited = (Object.keys(values) as (keyof D & string)[]).filter(
			(field) =>
				this.same(this.mine[field], values[field]) &&
				(unsavedFields.includes(field) || this.same(values[field], before.fields[field])),
		);
		if (!response) this.base = { ...before, revision: null, fields: values, stored: values };
		else {
			this.setBase(response);
			if (!onDemand && !this.codec.takesAnswer)
				this.base.fields = { ...this.base.fields, ...pick(values, unsavedFields) };
		}
		this.mine = { ...this.mine, ...pick(this.base.fields, unedited) };
	}

	/** Handles the error of a save. It reports whether the save goes on with the rest. */
	private handleError(error: unknown): boolean {
		const { refusals } = this.codec;
		if (!isRetryable(error)) {
			const { sent } = this;
			this.sent = {};
			if (!refusals || !(error instanceof ApiError)) throw error;
			this.refuse(sent, refusals(error));
			return true;
		}
		this.unanswered = [...this.unanswered, this.sent].slice(-maxUnanswered);
		if (!refusals) throw error;
		this.failure = error;
		const { autosaveAfter, clock } = this.environment;
		if (!this.closed && autosaveAfter !== null)
			this.cancelSave ??= clock.after(retryDelay(this.failures++), () => void this.flush());
		return false;
	}

	/** Sets apart what the server refuses; a refusal of nothing that was sent is one of all of it. */
	private refuse(sent: Partial<D>, problems: Problem[]) {
		const groups = fieldsByGroup<D>(Object.keys(sent) as (keyof D & string)[], this.groupOf);
		const groupOf = (problem: Problem) => problem.group ?? this.groupOf(problem.path);
		const known = problems.filter((problem) => groups.has(groupOf(problem)));
		for (const [group, fields] of groups) {
			const own = known.filter((problem) => groupOf(problem) === group);
			const values = pick(sent, fields);
			// What was changed while it was sent is sent again: the refusal is about former values.
			if ((known.length > 0 && own.length === 0) || !this.sameFields(values, this.mine)) continue;
			const general = [{ path: group, message: problems[0]?.message ?? "" }];
			this.refused.set(group, { values, problems: own.length > 0 ? own : general });
		}
	}
}

/** hasSameShape reports whether a value that was kept fits to a field: a later version of the page may have another one. */
const hasSameShape = (value: unknown, stored: unknown) =>
	(value ?? null) === null ||
	(stored ?? null) === null ||
	(typeof value === typeof stored && Array.isArray(value) === Array.isArray(stored));
