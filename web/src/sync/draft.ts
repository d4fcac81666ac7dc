import type { ApiError, Versioned } from "../api/client";
import type { Actor } from "../api/schema";
import type { Bases, Choice, FieldConflict, Merged } from "./merge";

// The types of drafts: what a kind of record defines, what a store needs of its environment, and the state that pages show.

/** Problem is what the server says about a value; path is its place in the request, which also determines the group if none is named. */
export type Problem = { path: string; message: string; group?: string };

/** Codec says how a record is read, written and compared. Row is the record as the server has it, D the fields that are written. */
export type Codec<Row, D extends object> = {
	kind: string;
	id: string;
	/** The name under which unfinished work is listed. */
	title: (values: D, row: Row) => string;
	load: () => Promise<Versioned<Row>>;
	/** Sends the fields that were changed, on the revision that the change was made on. Without an answer all values are saved as they are. */
	save: (changed: Partial<D>, values: D, revision: string | undefined) => Promise<Versioned<Row> | undefined>;
	fieldsOf: (row: Row) => D;
	/** Names the fields that make sense only together, by a field or a path in it; by default each field is on its own. */
	groupOf?: (path: string) => string;
	/** The problems in an error response. With it, what is refused stays here and the rest is saved; without it save rejects. */
	refusals?: (error: ApiError) => Problem[];
	/** Compares two values of a field, if not as JSON. */
	equal?: (a: unknown, b: unknown) => boolean;
	merge?: (bases: Bases<D>, mine: D, theirs: D, choose?: Choice) => Merged<D>;
	/** Whether a draft that saves itself goes on with what the answer has, such as ids; else what was sent stays as it was typed, also if the server cuts off spaces that somebody may be about to go on after. */
	takesAnswer?: boolean;
	/** Fields that never leave the page before they are saved. */
	secret?: readonly (keyof D)[];
	/** Whether the record is read before each save on demand, since the page may show it as it was. */
	loadsFirst?: boolean;
	/** Whether somebody looks at what is saved: what was joined with changes of others waits until they have seen it. */
	reviewed?: boolean;
};

/** Place is where unsaved work was kept. */
export type Place = "server" | "device";

/** Copy is unsaved work: the fields that were changed, what the server had of them, and what of them was sent without an answer yet. */
export type Copy<D> = { mine: Partial<D>; from: Partial<D>; sent: Partial<D>; problems?: number };

/** Device keeps what is typed in this browser; each tab has its own copies. */
export type Device = {
	saveDraft: (kind: string, id: string, value: object) => void;
	loadDraft: <T extends object>(kind: string, id: string, merge: (earlier: T, later: T) => T) => Promise<T | null>;
	deleteDraft: (kind: string, id: string) => void;
};

/** Copies are the working copies on the server; a mark says who has stored one. */
export type Copies = {
	read: (kind: string, id: string) => Promise<{ data: object } | null>;
	write: (
		kind: string,
		id: string,
		copy: { title: string; base_revision: number | null; data: { mark: string } },
	) => Promise<void>;
	/** Deletes the copy if it has one of some marks. */
	remove: (kind: string, id: string, marks: string[]) => Promise<void>;
};

export type Clock = {
	now: () => Date;
	/** Calls a function after milliseconds, unless it is cancelled. */
	after: (ms: number, run: () => void) => () => void;
};

export type Environment = {
	device: Device;
	copies: Copies;
	clock: Clock;
	/** After how many milliseconds without a change the draft saves itself; null: it is saved on demand. */
	autosaveAfter: number | null;
	/** Whether the person may only look at the record: what is typed is neither kept nor saved. */
	readOnly: boolean;
	/** A name that no other store has. */
	mark: string;
};

/** Status is how far the draft has come. */
export type Status =
	| { kind: "saved"; at: Date | null }
	| { kind: "unsaved" }
	| { kind: "saving" }
	| { kind: "refused"; problems: Problem[] }
	| { kind: "offline"; error: unknown }
	| { kind: "conflict" };

export type Conflict<Row> = { theirs: Versioned<Row>; conflicts: FieldConflict[]; author: Actor | null };

/** Joined are the fields that were taken over from somebody else. */
export type MergedChanges<Row> = { fields: string[]; author: Actor | null; row: Row };

/** State is what pages show of a draft. It is another object after each change. */
export type State<Row, D> = {
	row: Row;
	revision: string | null;
	saved: D;
	values: D;
	changed: (keyof D & string)[];
	status: Status;
	conflict: Conflict<Row> | null;
	mergedChanges: MergedChanges<Row> | null;
	/** Where unsaved work was restored from. */
	restored: Place | null;
	/** Whether unsaved work has come back, if there was any. */
	isRestored: boolean;
};

/** revisionNumber reads a revision; null if there is none. */
export const revisionNumber = (revision: string | null) => Number((revision ?? "").replace(/\D/g, "")) || null;
