import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, newKey } from "../../api/client";
import type { IdentityRow } from "../../api/schema";
import { useSession, useDisabledReason } from "../../base/session";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Callout } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import css from "./Senders.module.css";
import { within } from "../../base/queries";

const words = catalogue("sending.confirmLanes", {
	confirmed: "Confirmed",
	confirm: "Confirm with a test email",
	confirmText: "An email is sent to you through this sending server. If the server accepts it, broadcasts can use it.",
	accepted: "The server accepted it.",
	refused: "The server refused it.",
});

/** ConfirmLanes shows by which MTA configs a sender may send, and confirms them with a mail. */
export function ConfirmLanes({ sender, lanes }: { sender: IdentityRow; lanes: { id: string; name: string }[] }) {
	const client = useQueryClient();
	const { user } = useSession();
	const disabledReason = useDisabledReason("POST /sending-identities/{id}/verify-lane");
	const verify = useMutation({
		mutationFn: (lane: string) =>
			api("POST /sending-identities/{id}/verify-lane", {
				path: { id: sender.id },
				body: { mta_config_id: lane, to: user.email },
				idempotencyKey: newKey(),
			}),
		onSuccess: () =>
			void client
				.invalidateQueries(within("sending_identities"))
				.then(() => client.invalidateQueries(within("sending_identity", sender.id))),
	});
	return (
		<>
			<p className={css.muted}>{words.confirmText}</p>
			<ul className={css.lanes}>
				{lanes.map((lane) => (
					<li key={lane.id}>
						<span>{lane.name}</span>
						{sender.verified_mta_config_ids.includes(lane.id) ? (
							<Badge tone="success">{words.confirmed}</Badge>
						) : (
							<Button
								small
								disabledReason={disabledReason}
								busy={verify.isPending && verify.variables === lane.id}
								onClick={() => verify.mutate(lane.id)}
							>
								{words.confirm}
							</Button>
						)}
					</li>
				))}
			</ul>
			{verify.data && (
				<Callout
					tone={verify.data.accepted ? "success" : "danger"}
					title={verify.data.accepted ? words.accepted : words.refused}
				>
					<code>{verify.data.smtp_response}</code>
				</Callout>
			)}
			{verify.error && <Callout tone="danger">{explain(verify.error)}</Callout>}
		</>
	);
}
