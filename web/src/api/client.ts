import type { Error as ErrorBody, Routes } from "./schema";

// Requests to the API: typed by the description of it, with the answers that every page handles alike.

export type Route = keyof Routes;
export type Answer<R extends Route> = Routes[R]["answer"];
export type Body<R extends Route> = Routes[R]["body"];

type Part<Name extends string, T> = [T] extends [never] ? { [K in Name]?: undefined } : { [K in Name]: T };
type Optional<Name extends string, T> = [T] extends [never] ? { [K in Name]?: undefined } : { [K in Name]?: T };

export type Options<R extends Route> = Part<"path", Routes[R]["path"]> &
	Optional<"query", Routes[R]["query"]> &
	Part<"body", Routes[R]["body"]> & {
		signal?: AbortSignal;
		/** The revision that a write was made on: sent as If-Match. */
		revision?: string;
		/** A key that makes a repeated POST do one thing. */
		idempotencyKey?: string;
		/** The workspace, if not the current one. */
		workspace?: string;
		/** Do not ask for the password when the session has ended, and do not wait for a rate limit. */
		silent?: boolean;
	};

/** FieldProblem is a problem of one field of a request. */
export type FieldProblem = { path: string; code?: string; message: string };

/** ApiError is an answer that is not a success, or status 0 when there was no answer. */
export class ApiError extends Error {
	readonly status: number;
	readonly code: string;
	readonly details: { [key: string]: unknown };
	readonly requestId: string | null;
	readonly retryAfter: number | null;

	constructor(status: number, code: string, message: string, details: { [key: string]: unknown }, headers?: Headers) {
		super(message);
		this.name = "ApiError";
		this.status = status;
		this.code = code;
		this.details = details;
		this.requestId = headers?.get("X-Request-Id") ?? null;
		const reset = headers?.get("Retry-After");
		this.retryAfter = reset ? Number(reset) : null;
	}

	/** The problems of fields, from whichever part of the details names them. */
	get fields(): FieldProblem[] {
		const list = (this.details.fields ?? this.details.issues) as Partial<FieldProblem>[] | undefined;
		if (Array.isArray(list)) {
			return list.map((problem) => ({
				path: problem.path ?? "",
				code: problem.code,
				message: problem.message ?? this.message,
			}));
		}
		const path = this.details.path ?? this.details.field;
		return typeof path === "string" ? [{ path, code: this.code, message: this.message }] : [];
	}
}

/** isConflict reports whether a write was refused because somebody changed the record meanwhile. */
export const isConflict = (error: unknown) => error instanceof ApiError && error.code === "REVISION_CONFLICT";

/** tagOf returns the revision of a row as a write sends it. */
export const tagOf = (row: { revision: number }) => `"${row.revision}"`;

/** Versioned is an answer with the revision of the record, of which the next write is made. */
export type Versioned<T> = { data: T; revision: string | null };

let currentWorkspace = "";
let reauthenticate: (() => Promise<void>) | null = null;
let onRateLimitListener: ((seconds: number) => void) | null = null;
let answerListener: ((error: ApiError | null) => void) | null = null;
let loadForRefusals: (() => Promise<void>) | null = null;

/** setWorkspace names the workspace of the following requests. */
export function setWorkspace(slug: string) {
	currentWorkspace = slug;
}

/** workspaceSlug returns the workspace that requests go to. */
export function workspaceSlug(): string {
	return currentWorkspace;
}

/** onSessionEnd names what asks for the password when a session has ended; requests then run again. */
export function onSessionEnd(signInAgain: (() => Promise<void>) | null) {
	reauthenticate = signInAgain;
}

/** onRateLimit names what shows that requests wait. */
export function onRateLimit(show: ((seconds: number) => void) | null) {
	onRateLimitListener = show;
}

/** onAnswer names what sees how each request ended: with an error, or with null for a success. */
export function onAnswer(listener: ((error: ApiError | null) => void) | null) {
	answerListener = listener;
}

/** onRefusal names what is loaded before a request that the server refused fails, so that its error can be explained. */
export function onRefusal(load: (() => Promise<void>) | null) {
	loadForRefusals = load;
}

/** url returns the address of a request. */
export function url(route: string, path?: object, query?: object, workspace = currentWorkspace): string {
	let target = route.slice(route.indexOf(" ") + 1);
	for (const [name, value] of Object.entries(path ?? {})) {
		target = target.replace(`{${name}}`, encodeURIComponent(String(value)));
	}
	const search = new URLSearchParams();
	for (const [name, value] of Object.entries(query ?? {})) {
		if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
	}
	const prefix = target.startsWith("/api/") ? "" : `/t/${encodeURIComponent(workspace)}/api`;
	const text = search.toString();
	return prefix + target + (text ? `?${text}` : "");
}

async function parse(response: Response): Promise<unknown> {
	if (response.status === 204) return undefined;
	const type = response.headers.get("Content-Type") ?? "";
	return type.includes("json") ? response.json() : response.text();
}

async function failure(response: Response): Promise<ApiError> {
	let error: ErrorBody["error"] | undefined;
	try {
		error = ((await response.json()) as Partial<ErrorBody>).error;
	} catch {
		// Not our envelope, such as a proxy's page.
	}
	return new ApiError(
		response.status,
		error?.code ?? `HTTP_${response.status}`,
		error?.message ?? response.statusText,
		(error?.details ?? {}) as { [key: string]: unknown },
		response.headers,
	);
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** request sends a request and returns the answer with its revision. It throws an ApiError. */
export async function request<R extends Route>(route: R, options: Options<R>): Promise<Versioned<Answer<R>>> {
	const o = options as Options<Route> & { body?: unknown; path?: object; query?: object };
	const method = route.slice(0, route.indexOf(" "));
	const headers: { [name: string]: string } = { Accept: "application/json" };
	let body: BodyInit | undefined;
	if (o.body instanceof FormData) {
		body = o.body;
	} else if (o.body !== undefined) {
		headers["Content-Type"] = "application/json";
		body = JSON.stringify(o.body);
	}
	if (o.revision) headers["If-Match"] = o.revision;
	if (o.idempotencyKey) headers["Idempotency-Key"] = o.idempotencyKey;
	for (let attempt = 0; ; attempt++) {
		let response: Response;
		try {
			response = await fetch(url(route, o.path, o.query, o.workspace), {
				method,
				headers,
				body,
				signal: o.signal,
				credentials: "same-origin",
			});
		} catch (cause) {
			if (o.signal?.aborted) throw cause;
			const offlineError = new ApiError(0, "OFFLINE", "The server could not be reached.", {});
			answerListener?.(offlineError);
			throw offlineError;
		}
		if (response.ok) {
			answerListener?.(null);
			return { data: (await parse(response)) as Answer<R>, revision: response.headers.get("ETag") };
		}
		const error = await failure(response);
		answerListener?.(error);
		if (error.status === 401 && reauthenticate && !o.silent) {
			await reauthenticate();
			continue;
		}
		if (error.status === 429 && error.code === "RATE_LIMITED" && !o.silent && attempt < 3) {
			const seconds = Math.min(error.retryAfter ?? 5, 60);
			onRateLimitListener?.(seconds);
			await sleep(seconds * 1000);
			continue;
		}
		if (error.status < 500) await loadForRefusals?.().catch(() => {}); // without it, the explanation is general
		throw error;
	}
}

/** api sends a request and returns the answer. It throws an ApiError. */
export async function api<R extends Route>(route: R, options: Options<R>): Promise<Answer<R>> {
	return (await request(route, options)).data;
}

/** newKey returns a fresh idempotency key. */
export const newKey = () => crypto.randomUUID();
