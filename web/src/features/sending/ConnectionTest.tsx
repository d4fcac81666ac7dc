import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type Answer, api, newKey } from "../../api/client";
import type { MtaConfigRow } from "../../api/schema";
import { useDisabledReason } from "../../base/session";
import { within } from "../../base/queries";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { attemptError } from "../../base/words/replies";
import { Button } from "../../ui/Button";
import { Callout } from "../../ui/Page";
import { Time } from "../../ui/Time";

const words = catalogue("sending.connectionTest", {
	test: "Test connection",
	connected: "The server accepted the connection and the login.",
	mail: "Accepted in {ms, number} ms",
	refused: "Refused",
	tested: "The server last accepted a test or an email",
	untested: "No test of these settings was accepted yet.",
});

/** testLabel is the name of the action that tests a connection. */
export const testLabel = () => words.test;

type Result = Answer<"POST /mta-configs/test">;

/** TestResult shows the server's words about a test, of a connection or of a mail. */
export function TestResult({ result, error, mail }: { result?: Result; error?: unknown; mail?: boolean }) {
	return (
		<div role="status">
			{result && (
				<Callout
					tone={result.accepted ? "success" : "danger"}
					title={!result.accepted ? words.refused : mail ? words.mail({ ms: result.latency_ms }) : words.connected}
				>
					{result.smtp_response && (
						<code>
							{[result.smtp_code, result.smtp_code ? result.smtp_response : attemptError(result.smtp_response)]
								.filter(Boolean)
								.join(" ")}
						</code>
					)}
				</Callout>
			)}
			{error !== null && error !== undefined && <Callout tone="danger">{explain(error)}</Callout>}
		</div>
	);
}

/** useStoredTest connects as an MTA config would that is stored, whose health follows from the result. */
export function useStoredTest() {
	const client = useQueryClient();
	return useMutation({
		mutationFn: (id: string) =>
			api("POST /mta-configs/{id}/test", { path: { id }, body: {}, idempotencyKey: newKey() }),
		onSettled: (_, __, id) =>
			Promise.all(
				[within("mta_config", id), within("mta_configs"), within("overview")].map((filter) =>
					client.invalidateQueries(filter),
				),
			),
	});
}

/** ConnectionTest connects as a stored MTA config that relays to a server. */
export function ConnectionTest({ lane }: { lane: MtaConfigRow }) {
	const disabledReason = useDisabledReason("POST /mta-configs/{id}/test");
	const test = useStoredTest();
	if (lane.type !== "smtp" && lane.type !== "ses") return null;
	return (
		<>
			<p>
				{lane.tested_at ? (
					<>
						{words.tested} <Time at={lane.tested_at} />
					</>
				) : (
					words.untested
				)}
			</p>
			<div>
				<Button disabledReason={disabledReason} busy={test.isPending} onClick={() => test.mutate(lane.id)}>
					{words.test}
				</Button>
			</div>
			<TestResult result={test.data} error={test.error} />
		</>
	);
}
