import { equals, holds, type Tests } from "../base/testing";
import {
	ApiError,
	api,
	isConflict,
	onAnswer,
	onRateLimit,
	onSessionEnd,
	request,
	setWorkspace,
	tagOf,
	url,
	workspaceSlug,
} from "./client";

type Sent = { url: string; method: string; headers: { [name: string]: string }; body?: unknown };

type Given = { status?: number; json?: unknown; text?: string; headers?: { [name: string]: string } };

/** answer is what a server gives, as fetch returns it. */
function answer({ status = 200, json, text = "", headers = {} }: Given) {
	const all: { [name: string]: string } =
		json === undefined ? headers : { "Content-Type": "application/json", ...headers };
	return {
		ok: status >= 200 && status < 300,
		status,
		statusText: `Status ${status}`,
		headers: { get: (name: string) => all[name] ?? null },
		json: async () => {
			if (json === undefined) throw new SyntaxError("not JSON");
			return json;
		},
		text: async () => text,
	};
}

const errorResponse = (status: number, code: string, headers?: Given["headers"], details: object = {}): Given => ({
	status,
	json: { error: { code, message: `${code} happened.`, details } },
	headers,
});

/** serve answers requests one after the other while something runs, without waiting, and returns what was sent and how long was waited. */
async function serve(answers: (Given | Error)[], run: () => Promise<unknown>) {
	const sent: Sent[] = [];
	const delays: number[] = [];
	const globals = globalThis as unknown as { fetch: unknown; setTimeout: unknown };
	globals.fetch = async (address: string, init: Sent) => {
		sent.push({ ...init, url: address });
		const next = answers.shift();
		if (!next || next instanceof Error) throw next ?? new Error("one request too many");
		return answer(next);
	};
	globals.setTimeout = (resolve: () => void, ms: number) => {
		delays.push(ms);
		resolve();
	};
	setWorkspace("acme");
	let result: unknown;
	let error: unknown;
	try {
		result = await run();
	} catch (e) {
		error = e;
	} finally {
		setWorkspace("");
		onSessionEnd(null);
		onRateLimit(null);
		onAnswer(null);
	}
	return { sent, waits: delays, result, error: error as ApiError | undefined, left: answers.length };
}

const getStages = () => api("GET /settings/stages", {} as never);
const post = (options: object) => api("POST /contacts", options as never);

const tests: Tests = {
	"an address has its path, its query and its workspace"() {
		const addresses: [route: string, path: object | undefined, query: object | undefined, want: string][] = [
			["GET /contacts", undefined, undefined, "/t/acme/api/contacts"],
			["GET /contacts/{id}", { id: "con_1" }, undefined, "/t/acme/api/contacts/con_1"],
			["GET /x/{a}/y/{b}", { a: "1/2", b: "ä?" }, undefined, "/t/acme/api/x/1%2F2/y/%C3%A4%3F"],
			["GET /x/{a}", { a: "$&" }, undefined, "/t/acme/api/x/%24%26"],
			["GET /contacts", undefined, { q: "a b", limit: 0, all: false }, "/t/acme/api/contacts?q=a+b&limit=0&all=false"],
			["GET /contacts", undefined, { q: "", next: null, page: undefined }, "/t/acme/api/contacts"],
			["GET /contacts", undefined, { kinds: ["a", "b"] }, "/t/acme/api/contacts?kinds=a%2Cb"],
			["GET /api/auth/options", undefined, undefined, "/api/auth/options"],
		];
		for (const [route, path, query, expected] of addresses) equals(url(route, path, query, "acme"), expected);
		equals(url("GET /contacts", undefined, undefined, "a/b"), "/t/a%2Fb/api/contacts");
	},
	"requests go to the current workspace, or to the one that they name"() {
		setWorkspace("one");
		equals([workspaceSlug(), url("GET /contacts")], ["one", "/t/one/api/contacts"]);
		equals(url("GET /contacts", undefined, undefined, "two"), "/t/two/api/contacts");
		setWorkspace("");
	},
	async "a request says what it is made of"() {
		const { sent, result } = await serve([{ json: { id: "con_1" } }], () =>
			post({ body: { email: "a@example.com" }, revision: '"3"', idempotencyKey: "key" }),
		);
		equals(result, { id: "con_1" });
		const [request] = sent;
		equals(
			[request?.method, request?.url, request?.body],
			["POST", "/t/acme/api/contacts", '{"email":"a@example.com"}'],
		);
		equals(request?.headers, {
			Accept: "application/json",
			"Content-Type": "application/json",
			"If-Match": '"3"',
			"Idempotency-Key": "key",
		});
	},
	async "a request without a body has no type, and a form brings its own"() {
		const form = new FormData();
		const { sent } = await serve([{ json: {} }, { json: {} }], async () => {
			await getStages();
			await post({ body: form });
		});
		for (const request of sent) equals(request.headers, { Accept: "application/json" });
		holds(sent[1]?.body === form, "the form was not sent");
	},
	async "an answer is its JSON with its revision, its text, or nothing"() {
		const answers: [given: Given, data: unknown][] = [
			[{ json: { a: 1 }, headers: { ETag: '"7"' } }, { a: 1 }],
			[{ text: "a,b", headers: { "Content-Type": "text/csv" } }, "a,b"],
			[{ text: "raw" }, "raw"],
			[{ status: 204 }, undefined],
		];
		for (const [response, data] of answers) {
			const { result } = await serve([response], () => request("GET /settings/stages", {} as never));
			equals(result, { data, revision: response.headers?.ETag ?? null });
		}
	},
	async "a refusal is an error with what the server says"() {
		const headers = { "X-Request-Id": "req_1", "Retry-After": "3" };
		const { error } = await serve([errorResponse(409, "REVISION_CONFLICT", headers, { revision: 4 })], getStages);
		holds(error instanceof ApiError, "it is no ApiError");
		equals(
			[error?.status, error?.code, error?.message, error?.details, error?.requestId, error?.retryAfter],
			[409, "REVISION_CONFLICT", "REVISION_CONFLICT happened.", { revision: 4 }, "req_1", 3],
		);
		equals([isConflict(error), isConflict(new Error("x")), isConflict(null)], [true, false, false]);
	},
	async "an answer of a proxy is an error, too"() {
		for (const response of [
			{ status: 502, text: "<html>" },
			{ status: 502, json: { oops: true } },
		]) {
			const { error } = await serve([response], getStages);
			equals([error?.status, error?.code, error?.message, error?.details], [502, "HTTP_502", "Status 502", {}]);
			equals([error?.requestId, error?.retryAfter], [null, null]);
		}
	},
	async "a server that cannot be reached is an error without a status"() {
		const { error } = await serve([new TypeError("Failed to fetch")], getStages);
		equals([error?.status, error?.code], [0, "OFFLINE"]);
	},
	async "a request that was given up is no failure of the server"() {
		const observed: unknown[] = [];
		const abort = new Error("aborted");
		const { error } = await serve([abort], () => {
			onAnswer((error) => observed.push(error));
			return api("GET /settings/stages", { signal: { aborted: true } } as never);
		});
		holds((error as unknown) === abort, "the reason was replaced");
		equals(observed, []);
	},
	async "who watches sees how each request ended"() {
		const observed: (string | null)[] = [];
		await serve([{ json: {} }, errorResponse(404, "NOT_FOUND"), new TypeError("offline")], async () => {
			onAnswer((error) => observed.push(error?.code ?? null));
			await getStages();
			await getStages().catch(() => undefined);
			await getStages();
		});
		equals(observed, [null, "NOT_FOUND", "OFFLINE"]);
	},
	async "a request whose session has ended runs again after the password, with its key"() {
		let requests = 0;
		const { sent, result } = await serve(
			[errorResponse(401, "UNAUTHORIZED"), errorResponse(401, "UNAUTHORIZED"), { json: "done" }],
			() => {
				onSessionEnd(async () => {
					requests++;
				});
				return post({ body: { a: 1 }, idempotencyKey: "key" });
			},
		);
		equals([requests, result, sent.length], [2, "done", 3]);
		equals(new Set(sent.map((request) => JSON.stringify(request))).size, 1, "the number of different requests");
	},
	async "a silent request asks for no password, nor does one that nobody hears"() {
		let requests = 0;
		const unobserved = await serve([errorResponse(401, "UNAUTHORIZED")], () => {
			onSessionEnd(async () => {
				requests++;
			});
			return api("GET /settings/stages", { silent: true } as never);
		});
		const unheard = await serve([errorResponse(401, "UNAUTHORIZED")], getStages);
		equals([requests, unobserved.error?.code, unheard.error?.code], [0, "UNAUTHORIZED", "UNAUTHORIZED"]);
	},
	async "a request beyond the rate limit waits as long as it is told, and at most a minute"() {
		const announcedDelays: number[] = [];
		const limited = (after?: string) => errorResponse(429, "RATE_LIMITED", after ? { "Retry-After": after } : {});
		const {
			waits: delays,
			result,
			sent,
		} = await serve([limited("2"), limited("600"), limited(), { json: "done" }], () => {
			onRateLimit((seconds) => announcedDelays.push(seconds));
			return post({ body: {}, idempotencyKey: "key" });
		});
		equals([delays, announcedDelays, result], [[2000, 60_000, 5000], [2, 60, 5], "done"]);
		equals(new Set(sent.map((request) => request.headers["Idempotency-Key"])), new Set(["key"]));
	},
	async "after three waits a request gives up"() {
		const four = Array.from({ length: 4 }, () => errorResponse(429, "RATE_LIMITED", { "Retry-After": "1" }));
		const { error, waits: delays, left } = await serve(four, getStages);
		equals([error?.code, delays.length, left], ["RATE_LIMITED", 3, 0]);
	},
	async "other refusals of too much, and silent requests, do not wait"() {
		const other = await serve([errorResponse(429, "LIMIT_EXCEEDED", { "Retry-After": "1" })], getStages);
		const unobserved = await serve([errorResponse(429, "RATE_LIMITED")], () =>
			api("GET /settings/stages", { silent: true } as never),
		);
		equals([other.error?.code, other.waits], ["LIMIT_EXCEEDED", []]);
		equals([unobserved.error?.code, unobserved.waits], ["RATE_LIMITED", []]);
	},
	"problems of fields are found wherever the server names them"() {
		const details: [details: { [key: string]: unknown }, want: [path: string, message: string][]][] = [
			[{}, []],
			[
				{ fields: [{ path: "a", message: "A" }, { message: "B" }, { path: "c" }] },
				[
					["a", "A"],
					["", "B"],
					["c", "Wrong."],
				],
			],
			[{ issues: [{ path: "x", code: "y", message: "Z" }] }, [["x", "Z"]]],
			[{ path: "name" }, [["name", "Wrong."]]],
			[{ field: "name" }, [["name", "Wrong."]]],
			[{ path: 3 }, []],
			[{ fields: "none" }, []],
			[{ fields: [] }, []],
		];
		for (const [d, expected] of details)
			equals(
				new ApiError(422, "VALIDATION_FAILED", "Wrong.", d).fields.map((field) => [field.path, field.message]),
				expected,
				JSON.stringify(d),
			);
	},
	"a revision is sent in quotes"() {
		equals(tagOf({ revision: 12 }), '"12"');
	},
};

export default tests;
